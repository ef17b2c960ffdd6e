package connect

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const maxForm = 32 << 10 // bytes

// tokens is a token response (RFC 6749, 5.1).
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int64  `json:"expires_in"`
	Refresh   string `json:"refresh_token,omitempty"`
	Scope     string `json:"scope"`
}

// token is the token endpoint (RFC 6749, 3.2).
func (d *endpoints) token(ctx context.Context, w http.ResponseWriter, r *http.Request, _ string) error {
	form, err := formOf(w, r)
	if err != nil {
		return err
	}
	var grant func(context.Context, url.Values) (tokens, error)
	switch form.Get("grant_type") {
	case board.GrantCode:
		grant = d.redeemCode
	case board.GrantRefresh:
		grant = d.refresh
	case board.GrantDevice:
		grant = d.redeemDevice
	case "":
		return newError(invalidRequest, "grant_type is missing.")
	default:
		return newError(unsupportedGrantType, "grant_type must be authorization_code, refresh_token or "+board.GrantDevice+".")
	}
	if err := d.checkClient(ctx, form.Get("client_id")); err != nil {
		return err
	}
	out, err := grant(ctx, form)
	if err == nil {
		writeJSON(w, http.StatusOK, out)
	}
	return err
}

// formOf parses a form. It rejects repeated parameters (RFC 6749, 3.2) except resource
// (RFC 8707, 2). It also rejects client authentication, because there are no client
// secrets.
func formOf(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, &oauthError{
			status: http.StatusUnauthorized, code: invalidClient,
			text: "Clients have no secret. Omit the Authorization header and send client_id in the body.",
		}
	}
	const form = "application/x-www-form-urlencoded"
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != form {
		return nil, &oauthError{
			status: http.StatusUnsupportedMediaType, code: invalidRequest, text: "Content-Type must be " + form + ".",
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, newError(invalidRequest, "The body is malformed or larger than 32 KiB.")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "resource" {
			return nil, newError(invalidRequest, "A parameter is repeated.")
		}
	}
	if r.PostForm.Get("client_secret") != "" {
		return nil, newError(invalidClient, "Clients have no secret. Omit client_secret.")
	}
	return r.PostForm, nil
}

// checkClient returns an error for a client that does not exist, so that a deleted client
// registers again. It does not fetch the metadata documents of clients again, because a
// client's permissions were fixed when the person gave consent.
func (d *endpoints) checkClient(ctx context.Context, id string) error {
	if isDocument(id) && len(id) <= maxClientID {
		return nil
	}
	_, err := d.client(ctx, d.db, id, "")
	return err
}

// redeemCode exchanges an authorization code for tokens (OAuth 2.1, 4.1.3). A code
// can be used only once.
func (d *endpoints) redeemCode(ctx context.Context, form url.Values) (out tokens, err error) {
	text, verifier := form.Get("code"), form.Get("code_verifier")
	switch {
	case text == "":
		return out, newError(invalidRequest, "code is missing.")
	case verifier == "":
		return out, newError(invalidRequest, "code_verifier is missing.")
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return out, err
	}
	hash := board.SecretHash(text)
	var replayed string
	err = d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		replayed = ""
		code, err := tx.Code(ctx, hash)
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return newError(invalidGrant, "The code is unknown or was deleted after it expired.")
		case err != nil:
			return err
		case code.TokenID != "": // revoke the tokens of the first use (RFC 6749, 4.1.2)
			replayed = code.TokenID
			return d.endReplayed(ctx, tx, code.UserID, code.TokenID)
		}
		if err := checkCode(code, form, verifier, resource); err != nil {
			return err
		}
		var tokenID string
		out, tokenID, err = d.issue(ctx, tx, code.Consent)
		if err != nil {
			return err
		}
		return tx.UseCode(ctx, hash, tokenID)
	})
	return out, d.replay(err, "code", replayed)
}

// checkCode returns an error if the code does not match the request. A failed
// attempt does not use up the code, so a third party cannot invalidate it.
func checkCode(code board.AuthorizationCode, form url.Values, verifier, resource string) error {
	switch {
	case code.Expired:
		return newError(invalidGrant, "The code has expired.")
	case code.ClientID != form.Get("client_id"):
		return newError(invalidGrant, "The code was issued to another client.")
	case form.Has("redirect_uri") && form.Get("redirect_uri") != code.RedirectURI: // optional (OAuth 2.1, 10.2)
		return newError(invalidGrant, "redirect_uri differs from the authorization request.")
	case !isVerifier(verifier) || subtle.ConstantTimeCompare([]byte(challengeOf(verifier)), []byte(code.Challenge)) != 1:
		return newError(invalidGrant, "code_verifier does not match the code_challenge of the authorization request.")
	case resource != "" && code.Resource != "" && resource != code.Resource:
		return newError(invalidTarget, "resource differs from the authorization request.")
	}
	return nil
}

// endReplayed revokes the grant of a code or token that was used twice.
func (d *endpoints) endReplayed(ctx context.Context, tx *store.Tx, userID, tokenID string) error {
	tx.ActAs(userID)
	if err := tx.EndGrant(ctx, tokenID); err != nil {
		return err
	}
	return tx.Audit(ctx, "end_replayed_connection", tokenID)
}

// replay returns the error for a code or token that was used twice. It is called after
// the transaction that revoked the grant. It returns err unchanged if err is not nil or
// if tokenID is empty, which means that nothing was replayed.
func (d *endpoints) replay(err error, what, tokenID string) error {
	if err != nil || tokenID == "" {
		return err
	}
	d.opts.Log.Warn("OAuth connection revoked after a replay", "what", what, "token", tokenID)
	return newError(invalidGrant, "The "+what+" was already used, so the connection was revoked. Ask the person to connect again.")
}

// issue creates the access token of a consent, and a refresh token if the client uses
// refresh tokens. It acts as the person who gave consent. The transaction must begin without a
// caller, because the system caller would pass every permission check.
func (d *endpoints) issue(ctx context.Context, tx *store.Tx, c board.Consent) (out tokens, tokenID string, err error) {
	tx.ActAs(c.UserID)
	until := tx.Now() + board.Instant(board.AccessLifetime.Milliseconds())
	t, text, err := app.AddToken(ctx, tx, app.NewToken{
		Name: c.ClientName, Scopes: c.Scopes, WorkspaceID: c.WorkspaceID, ExpiresAt: &until,
	})
	if board.IsCode(err, board.CodeNotFound) {
		err = newError(invalidGrant, "The connection is limited to a workspace that the person has left.")
	}
	if err != nil {
		return out, "", err
	}
	var family, refresh string
	if c.Refreshes {
		family = board.NewFamily()
		refresh = family + board.NewSecret()
		err = tx.InsertGrant(ctx, t, c, board.SecretHash(family), board.SecretHash(refresh))
	} else {
		err = tx.InsertGrant(ctx, t, c, nil, nil)
	}
	if err != nil {
		return out, "", err
	}
	if err := tx.InsertEmail(ctx, board.EmailAppConnected, t.ID, 0); err != nil {
		return out, "", err
	}
	return tokensOf(text, refresh, c.Scopes), t.ID, tx.Audit(ctx, "connect_app", t.ID)
}

func tokensOf(access, refresh string, scopes []board.Scope) tokens {
	return tokens{
		Access: access, Type: "Bearer", ExpiresIn: int64(board.AccessLifetime / time.Second),
		Refresh: refresh, Scope: board.ScopeText(scopes),
	}
}

// refresh returns a new access token and a new refresh token (OAuth 2.1, 4.3.1).
// The old tokens stop working. For a minute, however, a request with the old refresh
// token still gets the same response.
func (d *endpoints) refresh(ctx context.Context, form url.Values) (out tokens, err error) {
	text := form.Get("refresh_token")
	if text == "" {
		return out, newError(invalidRequest, "refresh_token is missing.")
	}
	family, ok := board.FamilyOf(text)
	if !ok {
		return out, unknownRefresh()
	}
	narrower, err := parseScope(form.Get("scope"))
	if err != nil {
		return out, err
	}
	resource, err := d.resourceOf(form["resource"])
	if err != nil {
		return out, err
	}
	var replayed string
	access, next := board.Renewal(d.db.CursorKey(), text)
	err = d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		replayed = ""
		g, err := tx.GrantOfRefresh(ctx, board.SecretHash(family), board.SecretHash(text))
		repeated := err == nil && g.Repeats(board.SecretHash(next), tx.Now())
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return unknownRefresh()
		case err != nil:
			return err
		case !g.Current && !repeated: // either user of the token may be an attacker (RFC 9700, 4.14.2)
			replayed = g.TokenID
			return d.endReplayed(ctx, tx, g.UserID, g.TokenID)
		case g.ClientID != form.Get("client_id"):
			return newError(invalidGrant, "The refresh token was issued to another client.")
		case g.Ended:
			return unknownRefresh()
		case resource != "" && g.Resource != "" && resource != g.Resource:
			return newError(invalidTarget, "resource differs from the authorization request.")
		}
		if repeated {
			out = tokensOf(access, next, g.TokenScopes)
			out.ExpiresIn = max(0, int64(g.TokenUntil-tx.Now())/1000)
			return nil
		}
		scopes := g.Scopes
		if narrower != nil {
			scopes = narrower
		}
		for _, s := range scopes {
			if !slices.Contains(g.Scopes, s) {
				return newError(invalidScope, "scope exceeds what the person granted.")
			}
		}
		out = tokensOf(access, next, scopes)
		return renew(ctx, tx, g, out, scopes)
	})
	return out, d.replay(err, "refresh token", replayed)
}

// renew replaces the tokens of a grant with the issued ones.
func renew(ctx context.Context, tx *store.Tx, g board.Grant, issued tokens, scopes []board.Scope) error {
	hash, _ := board.TokenHash(issued.Access)
	until := tx.Now() + board.Instant(board.AccessLifetime.Milliseconds())
	t := board.Token{ID: g.TokenID, Scopes: scopes, ExpiresAt: &until, LastFour: issued.Access[len(issued.Access)-4:]}
	renewed, err := tx.RenewGrant(ctx, t, hash, board.SecretHash(issued.Refresh))
	if err == nil && !renewed {
		err = unknownRefresh()
	}
	return err
}

func unknownRefresh() *oauthError {
	return newError(invalidGrant, "The refresh token is unknown, expired or revoked.")
}

// isVerifier reports whether s is a valid code_verifier (RFC 7636, 4.1).
func isVerifier(s string) bool {
	return len(s) >= 43 && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
	})
}

// challengeOf returns the S256 challenge of a verifier (RFC 7636, 4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func isChallenge(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}
