package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

const (
	maxPasskeys  = 20              // per person
	ceremonyTime = 5 * time.Minute // from begin to finish
)

// Credential is the result of PublicKeyCredential.toJSON (Web Authentication
// Level 3, 5.1).
type Credential map[string]any

// CeremonyOptions is a JSON object for parseRequestOptionsFromJSON or
// parseCreationOptionsFromJSON of PublicKeyCredential.
type CeremonyOptions jsontext.Value

// MarshalJSON returns the object itself.
func (o CeremonyOptions) MarshalJSON() ([]byte, error) { return o, nil }

// Schema returns the schema of any object, because only the browser reads it.
func (CeremonyOptions) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Ceremony is a WebAuthn ceremony in progress.
type Ceremony struct {
	ChallengeID string          `json:"challengeId" doc:"Id of the challenge. Send it back with the passkey's response." example:"chl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Options     CeremonyOptions `json:"options" doc:"Options for the browser: the argument of parseRequestOptionsFromJSON or parseCreationOptionsFromJSON." example:"{\"challenge\":\"3q2-7w\"}"`
}

// relyingParty returns this server as a WebAuthn relying party. Its id is the host
// of the base URL. User verification (fingerprint, face or PIN) is required, so
// that a passkey is at least as strong as a password.
func relyingParty(u *url.URL) (*webauthn.WebAuthn, error) {
	w, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "Cardwall", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: new(true),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up passkeys: %w", err)
	}
	return w, nil
}

// isName reports whether a host is a name and not an IP address. Passkeys need a
// name.
func isName(host string) bool {
	_, err := netip.ParseAddr(host)
	return host != "" && err != nil
}

func (a *Accounts) noPasskeys() error {
	if a.keys != nil {
		return nil
	}
	return board.Forbidden("Passkeys need an https address with a host name. The operator can set CARDWALL_BASE_URL.")
}

// keyOwner implements webauthn.User.
type keyOwner struct {
	board.Profile
	keys []webauthn.Credential
}

// WebAuthnID returns the user handle, which the passkey stores.
func (o keyOwner) WebAuthnID() []byte { return []byte(o.ID) }

// WebAuthnName returns the name that identifies the account on a device.
func (o keyOwner) WebAuthnName() string { return o.Email }

// WebAuthnDisplayName returns the person's name.
func (o keyOwner) WebAuthnDisplayName() string { return o.Name }

// WebAuthnCredentials returns the person's passkeys.
func (o keyOwner) WebAuthnCredentials() []webauthn.Credential { return o.keys }

func ownerOf(ctx context.Context, v *store.View, userID string) (keyOwner, error) {
	p, err := v.ProfileOf(ctx, userID)
	if err != nil {
		return keyOwner{}, err
	}
	texts, err := v.Credentials(ctx, userID)
	o := keyOwner{Profile: p}
	for _, text := range texts {
		var c webauthn.Credential
		if err := jsonv1.Unmarshal([]byte(text), &c); err != nil {
			return o, fmt.Errorf("decode passkey: %w", err)
		}
		o.keys = append(o.keys, c)
	}
	return o, err
}

// ceremony stores the challenge of a ceremony and returns the ceremony for the browser.
func ceremony(ctx context.Context, tx *store.Tx, publicKey any, s *webauthn.SessionData) (Ceremony, error) {
	data, err := jsonv1.Marshal(s)
	if err != nil {
		return Ceremony{}, fmt.Errorf("encode ceremony: %w", err)
	}
	c := Ceremony{ChallengeID: tx.NewID("chl_")}
	if c.Options, err = jsonv1.Marshal(publicKey); err != nil { // the type has tags of encoding/json
		return c, fmt.Errorf("encode ceremony: %w", err)
	}
	return c, tx.InsertChallenge(ctx, c.ChallengeID, string(data), ceremonyTime)
}

// finish ends the ceremony to which a passkey responds. It returns the data of the
// ceremony, and the passkey's response as JSON. signedIn means that the caller must have
// started the ceremony. Otherwise, someone who was not signed in must have started it.
func finish(
	ctx context.Context, tx *store.Tx, challengeID string, c Credential, signedIn bool,
) (s webauthn.SessionData, text []byte, err error) {
	data, err := tx.TakeChallenge(ctx, challengeID, signedIn)
	if err != nil {
		return s, nil, err
	}
	if err := jsonv1.Unmarshal([]byte(data), &s); err != nil {
		return s, nil, fmt.Errorf("decode ceremony: %w", err)
	}
	s.Expires = time.Time{} // the store has checked the expiry with the server's clock
	if text, err = json.Marshal(c); err != nil {
		return s, nil, fmt.Errorf("encode credential: %w", err)
	}
	return s, text, nil
}

// BeginPasskeySignIn begins a sign-in with any passkey of this server.
func (a *Accounts) BeginPasskeySignIn(ctx context.Context, tx *store.Tx, _ Nothing) (Ceremony, error) {
	if err := a.noPasskeys(); err != nil {
		return Ceremony{}, err
	}
	ask, s, err := a.keys.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Ceremony{}, fmt.Errorf("begin sign-in: %w", err)
	}
	return ceremony(ctx, tx, ask.Response, s)
}

// PasskeyAnswerInput is the response of a passkey.
type PasskeyAnswerInput struct {
	ChallengeID string     `json:"challengeId" maxLength:"64" doc:"Id of the challenge that the passkey responds to." example:"chl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Credential  Credential `json:"credential" doc:"The passkey's response (PublicKeyCredential.toJSON)." example:"{\"id\":\"3q2-7w\",\"type\":\"public-key\"}"`
}

func errPasskey() error {
	return board.Refuse(board.CodeUnauthenticated, "The passkey was not accepted. Try again, or sign in another way.")
}

// passkeyOwner returns the id of the owner of the passkey that responded to
// begin_passkey_sign_in. It uses up the challenge and records the use of the passkey.
func (a *Accounts) passkeyOwner(ctx context.Context, tx *store.Tx, challengeID string, c Credential) (userID string, err error) {
	if err := a.noPasskeys(); err != nil {
		return "", err
	}
	s, text, err := finish(ctx, tx, challengeID, c, false)
	if board.IsCode(err, board.CodeNotFound) {
		return "", errPasskey()
	}
	if err != nil {
		return "", err
	}
	response, err := protocol.ParseCredentialRequestResponseBytes(text)
	if err != nil {
		return "", errPasskey()
	}
	var unexpected error
	find := func(_, handle []byte) (webauthn.User, error) {
		o, err := ownerOf(ctx, tx.View, string(handle))
		if err != nil && !board.IsCode(err, board.CodeNotFound) {
			unexpected = err
		}
		return o, err
	}
	user, key, err := a.keys.ValidatePasskeyLogin(find, s, response)
	if unexpected != nil {
		return "", unexpected
	}
	// A signature counter that did not increase indicates a copy of the key (Level 3, 6.1.1).
	if err != nil || key.Authenticator.CloneWarning {
		return "", errPasskey()
	}
	stored, err := jsonv1.Marshal(key)
	if err != nil {
		return "", fmt.Errorf("encode passkey: %w", err)
	}
	userID = string(user.WebAuthnID())
	return userID, tx.UsePasskey(ctx, userID, key.ID, string(stored))
}

// FinishPasskeySignIn signs in the owner of the passkey.
func (a *Accounts) FinishPasskeySignIn(ctx context.Context, tx *store.Tx, in PasskeyAnswerInput) (SignedIn, error) {
	userID, err := a.passkeyOwner(ctx, tx, in.ChallengeID, in.Credential)
	if err != nil {
		return SignedIn{}, err
	}
	return begin(ctx, tx, userID, byCredential)
}

// BeginPasskey begins the registration of a passkey for the caller.
func (a *Accounts) BeginPasskey(ctx context.Context, tx *store.Tx, _ Nothing) (Ceremony, error) {
	if err := a.noPasskeys(); err != nil {
		return Ceremony{}, err
	}
	o, err := ownerOf(ctx, tx.View, tx.Caller().UserID)
	if err == nil {
		err = board.CheckLimit("passkeys of one person", len(o.keys), 1, maxPasskeys)
	}
	if err != nil {
		return Ceremony{}, err
	}
	known := make([]protocol.CredentialDescriptor, len(o.keys))
	for i, k := range o.keys {
		known[i] = k.Descriptor()
	}
	ask, s, err := a.keys.BeginRegistration(o, webauthn.WithExclusions(known))
	if err != nil {
		return Ceremony{}, fmt.Errorf("begin registration: %w", err)
	}
	return ceremony(ctx, tx, ask.Response, s)
}

// FinishPasskeyInput is a new passkey.
type FinishPasskeyInput struct {
	PasskeyAnswerInput
	Name string `json:"name,omitempty" maxLength:"128" doc:"Name of the passkey. Defaults to Passkey." example:"Laptop"`
}

// FinishPasskey adds the passkey that a device created for the caller.
func (a *Accounts) FinishPasskey(ctx context.Context, tx *store.Tx, in FinishPasskeyInput) (board.Passkey, error) {
	if err := a.noPasskeys(); err != nil {
		return board.Passkey{}, err
	}
	p := board.Passkey{ID: tx.NewID("pky_"), Name: "Passkey"}
	s, text, err := finish(ctx, tx, in.ChallengeID, in.Credential, true)
	if err == nil && in.Name != "" {
		p.Name, err = app.Title("name", in.Name)
	}
	if err != nil {
		return p, err
	}
	o, err := ownerOf(ctx, tx.View, tx.Caller().UserID)
	if err != nil {
		return p, err
	}
	response, err := protocol.ParseCredentialCreationResponseBytes(text)
	var key *webauthn.Credential
	if err == nil {
		key, err = a.keys.CreateCredential(o, s, response)
	}
	if err != nil {
		var reason *protocol.Error
		if errors.As(err, &reason) {
			return p, board.Invalid("credential: the passkey was not accepted: %s.", reason.Details).
				In("credential", board.RuleValue)
		}
		return p, board.Invalid("credential: the passkey was not accepted.").In("credential", board.RuleValue)
	}
	stored, err := jsonv1.Marshal(key)
	if err != nil {
		return p, fmt.Errorf("encode passkey: %w", err)
	}
	if err := tx.InsertPasskey(ctx, &p, key.ID, string(stored)); err != nil {
		return p, err
	}
	return p, tx.InsertEmail(ctx, board.EmailPasskeyAdded, p.ID, 0)
}

// ListPasskeysInput selects a page of the caller's passkeys.
type ListPasskeysInput struct {
	op.Paging
}

// ListPasskeys lists the caller's passkeys, newest first.
func ListPasskeys(ctx context.Context, v *store.View, in ListPasskeysInput) (op.Page[board.Passkey], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.Passkey]{}, err
	}
	all, err := v.Passkeys(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(p board.Passkey) any { return p.ID }), err
}

// DeletePasskeyInput is the input of DeletePasskey.
type DeletePasskeyInput struct {
	PasskeyID string `json:"passkeyId" maxLength:"64" doc:"Id of one of the caller's passkeys." example:"pky_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// DeletePasskey deletes a passkey of the caller. It returns a not_found error for
// any other id.
func DeletePasskey(ctx context.Context, tx *store.Tx, in DeletePasskeyInput) (app.Deleted, error) {
	return app.Deleted{ID: in.PasskeyID}, tx.DeletePasskey(ctx, in.PasskeyID)
}
