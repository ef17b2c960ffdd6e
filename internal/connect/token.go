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

// tokens is the answer of RFC 6749, 5.1.
type tokens struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int64  `json:"expires_in"`
	Refresh   string `json:"refresh_token,omitempty"`
	Scope     string `json:"scope"`
}

// token gives out tokens (RFC 6749, 3.2).
func (d *door) token(ctx context.Context, w http.ResponseWriter, r *http.Request, _ string) error {
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
		return refuse(invalidRequest, "grant_type is missing.")
	default:
		return refuse(unsupportedGrantType, "grant_type must be authorization_code, refresh_token or "+board.GrantDevice+".")
	}
	if err := d.known(ctx, form.Get("client_id")); err != nil {
		return err
	}
	out, err := grant(ctx, form)
	if err == nil {
		answer(w, http.StatusOK, out)
	}
	return err
}

// formOf reads a form in which nothing stands twice (RFC 6749, 3.2). A client
// that would prove who it is is told that no client here can.
func formOf(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, &refusal{status: http.StatusUnauthorized, code: invalidClient, text: "Clients here have no secret: leave the header Authorization out and send client_id in the body."}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: invalidRequest, text: "Content-Type must be application/x-www-form-urlencoded."}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, refuse(invalidRequest, "The body is not a well-formed form of at most 32 KiB.")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "resource" {
			return nil, refuse(invalidRequest, "A parameter is given more than once.")
		}
	}
	if r.PostForm.Get("client_secret") != "" {
		return nil, refuse(invalidClient, "Clients here have no secret: leave client_secret out.")
	}
	return r.PostForm, nil
}

// known refuses a client that does not exist, so that one which was forgotten
// learns to register again. That of a document is not fetched anew: what it may
// was fixed when the person was asked.
func (d *door) known(ctx context.Context, id string) error {
	if isDocument(id) && len(id) <= maxClientID {
		return nil
	}
	_, err := d.client(ctx, d.db, id, "")
	return err
}

// redeemCode gives tokens for an authorization code (OAuth 2.1, 4.1.3), once.
func (d *door) redeemCode(ctx context.Context, form url.Values) (out tokens, err error) {
	text, verifier := form.Get("code"), form.Get("code_verifier")
	switch {
	case text == "":
		return out, refuse(invalidRequest, "code is missing.")
	case verifier == "":
		return out, refuse(invalidRequest, "code_verifier is missing.")
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
			return refuse(invalidGrant, "The code is not one of this server's, or is forgotten.")
		case err != nil:
			return err
		case code.TokenID != "": // RFC 6749, 4.1.2: what the first was given ends
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

// checkCode refuses a code to whom it was not given. It stays good for whom it
// was: somebody else's attempt takes nothing from them.
func checkCode(code board.AuthorizationCode, form url.Values, verifier, resource string) error {
	switch {
	case code.Expired:
		return refuse(invalidGrant, "The code has expired.")
	case code.ClientID != form.Get("client_id"):
		return refuse(invalidGrant, "The code was given to another client.")
	case form.Has("redirect_uri") && form.Get("redirect_uri") != code.RedirectURI: // OAuth 2.1, 10.2 lets it be left out
		return refuse(invalidGrant, "redirect_uri is not the one of the authorization request.")
	case !isVerifier(verifier) || subtle.ConstantTimeCompare([]byte(challengeOf(verifier)), []byte(code.Challenge)) != 1:
		return refuse(invalidGrant, "code_verifier does not belong to the code_challenge of the authorization request.")
	case resource != "" && code.Resource != "" && resource != code.Resource:
		return refuse(invalidTarget, "resource is not the one of the authorization request.")
	}
	return nil
}

// endReplayed ends what was given for something that has come again.
func (d *door) endReplayed(ctx context.Context, tx *store.Tx, userID, tokenID string) error {
	tx.ActAs(userID)
	if err := tx.EndGrant(ctx, tokenID); err != nil {
		return err
	}
	return tx.Audit(ctx, "end_replayed_connection", tokenID)
}

// replay is the refusal of what came a second time, once its effect is written.
func (d *door) replay(err error, what, tokenID string) error {
	if err != nil || tokenID == "" {
		return err
	}
	d.opts.Log.Warn("connect: what was used came again, so the connection was ended", "what", what, "token", tokenID)
	return refuse(invalidGrant, "It was used before, so the connection was ended; ask the person again.")
}

// issue makes the token of a consent, and what renews it, as the person whose
// it is: the transaction must be nobody's until then, for the system's own passes
// every role.
func (d *door) issue(ctx context.Context, tx *store.Tx, c board.Consent) (out tokens, tokenID string, err error) {
	tx.ActAs(c.UserID)
	until := tx.Now() + board.Instant(board.AccessLifetime.Milliseconds())
	t, text, err := app.AddToken(ctx, tx, app.NewToken{Name: c.ClientName, Scopes: c.Scopes, WorkspaceID: c.WorkspaceID, ExpiresAt: &until})
	if board.IsCode(err, board.CodeNotFound) {
		err = refuse(invalidGrant, "The person has left the workspace that the connection was limited to.")
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
	if err := tx.InsertLetter(ctx, board.LetterAppConnected, t.ID, 0); err != nil {
		return out, "", err
	}
	return answerOf(text, refresh, c.Scopes), t.ID, tx.Audit(ctx, "connect_app", t.ID)
}

func answerOf(access, refresh string, scopes []board.Scope) tokens {
	return tokens{
		Access: access, Type: "Bearer", ExpiresIn: int64(board.AccessLifetime / time.Second), Refresh: refresh, Scope: board.ScopeText(scopes),
	}
}

// refresh gives another access token and another refresh token (OAuth 2.1,
// 4.3.1). Those before stop working, but for a minute the refresh token before
// gets the same response again.
func (d *door) refresh(ctx context.Context, form url.Values) (out tokens, err error) {
	text := form.Get("refresh_token")
	if text == "" {
		return out, refuse(invalidRequest, "refresh_token is missing.")
	}
	family, ok := board.FamilyOf(text)
	if !ok {
		return out, unknownRefresh()
	}
	narrower, err := askedScopes(form.Get("scope"))
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
		repeats := err == nil && g.Repeats(board.SecretHash(next), tx.Now())
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return unknownRefresh()
		case err != nil:
			return err
		case !g.Current && !repeats: // RFC 9700, 4.14.2: whoever of the two was first may be the thief
			replayed = g.TokenID
			return d.endReplayed(ctx, tx, g.UserID, g.TokenID)
		case g.ClientID != form.Get("client_id"):
			return refuse(invalidGrant, "The refresh token was given to another client.")
		case g.Ended:
			return unknownRefresh()
		case resource != "" && g.Resource != "" && resource != g.Resource:
			return refuse(invalidTarget, "resource is not the one of the authorization request.")
		}
		if repeats {
			out = answerOf(access, next, g.TokenScopes)
			out.ExpiresIn = max(0, int64(g.TokenUntil-tx.Now())/1000)
			return nil
		}
		scopes := g.Scopes
		if narrower != nil {
			scopes = narrower
		}
		for _, s := range scopes {
			if !slices.Contains(g.Scopes, s) {
				return refuse(invalidScope, "scope is more than the person allowed.")
			}
		}
		out = answerOf(access, next, scopes)
		return renew(ctx, tx, g, out, scopes)
	})
	return out, d.replay(err, "refresh token", replayed)
}

func renew(ctx context.Context, tx *store.Tx, g board.Grant, given tokens, scopes []board.Scope) error {
	hash, _ := board.TokenHash(given.Access)
	until := tx.Now() + board.Instant(board.AccessLifetime.Milliseconds())
	t := board.Token{ID: g.TokenID, Scopes: scopes, ExpiresAt: &until, LastFour: given.Access[len(given.Access)-4:]}
	renewed, err := tx.RenewGrant(ctx, t, hash, board.SecretHash(given.Refresh))
	if err == nil && !renewed {
		err = unknownRefresh()
	}
	return err
}

func unknownRefresh() *refusal {
	return refuse(invalidGrant, "The refresh token does not work: it was revoked, has expired, or is not one of this server's.")
}

// isVerifier tells whether a text can be a code_verifier (RFC 7636, 4.1).
func isVerifier(s string) bool {
	return len(s) >= 43 && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
	})
}

// challengeOf is S256 (RFC 7636, 4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func isChallenge(s string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}
