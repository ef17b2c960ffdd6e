package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// OIDC configures the identity provider (OpenID Connect Core 1.0).
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Name                           string // shown to people
	TrustEmail                     bool   // addresses count as verified if the provider does not say otherwise
}

// verified reports whether the provider has verified the address in the claims. Some
// providers, such as Microsoft Entra ID, never say so.
func (o OIDC) verified(c claims) bool {
	return c.Verified == true || c.Verified == "true" || c.Verified == nil && o.TrustEmail
}

func (o OIDC) check() error {
	if o == (OIDC{}) {
		return nil
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || o.ClientID == "" || u.Scheme != "https" && !session.Trustworthy(o.Issuer) {
		return errors.New("an identity provider needs an https issuer and a client id " +
			"(CARDWALL_OIDC_ISSUER, CARDWALL_OIDC_CLIENT_ID)")
	}
	return nil
}

const (
	oidcTimeout  = 10 * time.Second // limit for one request to the provider
	oidcLifetime = 10 * time.Minute // from the redirect to the callback
	oidcCookie   = "cardwall-oidc"
)

// Provider signs people in with an identity provider. It stores the state of a
// sign-in in a cookie, because the GET request that begins the sign-in must not
// change anything on the server.
type Provider struct {
	accounts *Accounts
	db       *store.DB
	gate     *session.Gate
	client   *http.Client
	callback string

	mu     sync.Mutex
	config *oauth2.Config // nil until discover succeeds
	verify *oidc.IDTokenVerifier
}

// NewProvider returns a Provider for the configured identity provider. The callback is
// below apiPath.
func (a *Accounts) NewProvider(db *store.DB, gate *session.Gate, apiPath string) *Provider {
	return &Provider{
		accounts: a, db: db, gate: gate, client: &http.Client{Timeout: oidcTimeout},
		callback: strings.TrimSuffix(a.opts.BaseURL, "/") + apiPath + "/sign-in/oidc/callback",
	}
}

// Handlers returns the provider's two handlers by method and path, or nil if no
// provider is configured.
func (a *Accounts) Handlers(db *store.DB, gate *session.Gate, apiPath string) map[string]http.Handler {
	if a.opts.OIDC.Issuer == "" {
		return nil
	}
	p := a.NewProvider(db, gate, apiPath)
	return map[string]http.Handler{
		"GET " + apiPath + "/sign-in/oidc":          p.handler(p.begin),
		"GET " + apiPath + "/sign-in/oidc/callback": p.handler(p.finish),
	}
}

type redirect func(w http.ResponseWriter, r *http.Request, caller board.Caller) (target string, err error)

// handler returns a handler that redirects the browser to the target, or to the sign-in page
// with an error code.
func (p *Provider) handler(target redirect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		caller, _, err := p.gate.AdmitAnonymous(r, board.ResourceGeneral)
		to := ""
		if err == nil {
			caller.UserAgent, caller.RequestID = r.UserAgent(), w.Header().Get("X-Request-Id")
			to, err = target(w, r, caller)
		}
		if err != nil {
			reason := "oidc"
			if f, ok := board.AsFault(err); ok {
				reason += "_" + string(f.Code)
			} else {
				p.accounts.opts.Log.Warn("sign-in with the identity provider failed",
					"request", w.Header().Get("X-Request-Id"), "error", err)
			}
			to = "/sign-in?error=" + reason
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
}

// discover fetches the provider's configuration, and caches it after the first
// success.
func (p *Provider) discover(ctx context.Context) (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.config != nil {
		return p.config, p.verify, nil
	}
	o := p.accounts.opts.OIDC
	// The verifier uses this context later to fetch keys, so it must not be canceled.
	provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), o.Issuer)
	if err != nil {
		return nil, nil, fmt.Errorf("discover the identity provider: %w", err)
	}
	p.config = &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: p.callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
	p.verify = provider.Verifier(&oidc.Config{ClientID: o.ClientID, Now: p.db.Now})
	return p.config, p.verify, nil
}

// signInState is the state of a sign-in, stored in a cookie.
type signInState struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // RFC 7636
	Next     string `json:"next"`     // path of the page to open after the sign-in
}

// maxNext limits the length of Next in bytes, because cookies are limited in size.
const maxNext = 2_000

// pageAfter returns the path of the page to open after the sign-in. It returns "/" if
// next is not a path on this site or is longer than maxNext.
func pageAfter(next string) string {
	if len(next) > maxNext || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\t\r\n") {
		return "/"
	}
	return next
}

func (p *Provider) begin(w http.ResponseWriter, r *http.Request, _ board.Caller) (string, error) {
	config, _, err := p.discover(r.Context())
	if err != nil {
		return "", err
	}
	j := signInState{board.NewSecret(), board.NewSecret(), oauth2.GenerateVerifier(), pageAfter(r.URL.Query().Get("next"))}
	text, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("encode the cookie: %w", err)
	}
	p.setStateCookie(w, base64.RawURLEncoding.EncodeToString(text), oidcLifetime)
	return config.AuthCodeURL(j.State, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)), nil
}

// setStateCookie sets the cookie with the state of a sign-in, or deletes it if lifetime is 0.
func (p *Provider) setStateCookie(w http.ResponseWriter, value string, lifetime time.Duration) {
	c := &http.Cookie{
		Name: p.cookie(), Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: session.Trustworthy(p.callback),
	}
	if lifetime == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

func (p *Provider) cookie() string {
	if session.Trustworthy(p.callback) {
		return "__Host-" + oidcCookie
	}
	return oidcCookie
}

// errProvider returns the error for an invalid callback.
func errProvider() error {
	return board.Refuse(board.CodeUnauthenticated, "The identity provider's response was not accepted. Try again.")
}

// claims are the claims of an ID token.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers send a string
	Name     string `json:"name"`
	Zone     string `json:"zoneinfo"`
}

func (p *Provider) finish(w http.ResponseWriter, r *http.Request, caller board.Caller) (string, error) {
	p.setStateCookie(w, "", 0)
	var j signInState
	cookies := r.CookiesNamed(p.cookie())
	if len(cookies) != 1 {
		return "", errProvider()
	}
	text, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	query := r.URL.Query()
	if err != nil || json.Unmarshal(text, &j) != nil || j.State == "" ||
		subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(j.State)) != 1 || query.Get("code") == "" {
		return "", errProvider()
	}
	config, verifier, err := p.discover(r.Context())
	if err != nil {
		return "", err
	}
	ctx := oidc.ClientContext(r.Context(), p.client)
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(j.Verifier))
	if err != nil {
		return "", fmt.Errorf("exchange the code: %w", redacted(err))
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return "", fmt.Errorf("verify the ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(j.Nonce)) != 1 {
		return "", errProvider()
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return "", fmt.Errorf("decode the claims: %w", err)
	}
	var out SignedIn
	if err := p.db.Write(ctx, caller, func(tx *store.Tx) (err error) {
		out, err = p.accounts.enter(ctx, tx, id.Issuer, id.Subject, c)
		return err
	}); err != nil {
		return "", err
	}
	p.gate.SetCookie(w, out.cookie.Secret)
	p.gate.SetDevice(w, r, out.cookie.Device)
	return pageAfter(j.Next), nil
}

// redacted returns an error of the token endpoint without the response body, which
// may contain secrets.
func redacted(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("the provider returned status %d %s", refused.Response.StatusCode, refused.ErrorCode)
	}
	return err
}

// enter signs in the person that an ID token identifies. A new identity is linked to the
// account with the same email address, or to a new account. The provider must have
// verified the address: otherwise anyone could take over any account.
func (a *Accounts) enter(ctx context.Context, tx *store.Tx, issuer, subject string, c claims) (SignedIn, error) {
	userID, err := tx.UserOfIdentity(ctx, issuer, subject)
	if err != nil {
		return SignedIn{}, err
	}
	how := byCredential
	if userID == "" {
		made := false
		if userID, made, err = a.link(ctx, tx, c); err != nil {
			return SignedIn{}, err
		}
		if made {
			how = proven
		}
		tx.ActAs(userID)
		if err := tx.InsertIdentity(ctx, issuer, subject); err != nil {
			return SignedIn{}, err
		}
	}
	out, err := begin(ctx, tx, userID, how)
	if err != nil {
		return out, err
	}
	return out, tx.Audit(ctx, "sign_in_with_oidc", userID)
}

// link returns the id of the account with the verified email address. If there is none,
// link creates the account, if the policy allows that, and returns made as true.
func (a *Accounts) link(ctx context.Context, tx *store.Tx, c claims) (userID string, made bool, err error) {
	email, err := board.NormalEmail(c.Email)
	if err != nil || !a.opts.OIDC.verified(c) {
		a.opts.Log.WarnContext(ctx, "sign-in refused, because the ID token has no verified email address; if all accounts at the "+
			"provider have addresses of your organization, set CARDWALL_OIDC_TRUST_EMAIL=true",
			"request", tx.Caller().RequestID, "issuer", a.opts.OIDC.Issuer, "email", err == nil, "email_verified", c.Verified)
		return "", false, board.Forbidden("The identity provider has not verified your email address.")
	}
	if userID, _, err = tx.PasswordOf(ctx, email); err != nil || userID != "" {
		return userID, false, err
	}
	admitted, err := a.opts.SignUp.admits(ctx, tx.View, email)
	if err == nil && !admitted {
		err = a.opts.SignUp.errClosed()
	}
	if err != nil {
		return "", false, err
	}
	in := app.NewUser{Email: email, Name: c.Name, TimeZone: c.Zone}
	if _, err := app.Title("name", in.Name); err != nil {
		in.Name, _, _ = strings.Cut(email, "@")
	}
	if _, err := board.LoadZone("timeZone", in.TimeZone); err != nil {
		in.TimeZone = "UTC"
	}
	userID, err = addVerified(ctx, tx, in)
	return userID, true, err
}
