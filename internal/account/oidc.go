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

// OIDC says which identity provider signs people in (OpenID Connect Core 1.0).
type OIDC struct {
	Issuer, ClientID, ClientSecret string
	Name                           string // as people call it; the issuer's host when empty
}

func (o OIDC) check() error {
	if o == (OIDC{}) {
		return nil
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || o.ClientID == "" || u.Scheme != "https" && !session.Trustworthy(o.Issuer) {
		return errors.New("an identity provider needs the address of its issuer, with https, and a client id (CARDWALL_OIDC_ISSUER, CARDWALL_OIDC_CLIENT_ID)")
	}
	return nil
}

const (
	oidcTimeout  = 10 * time.Second // of one request to the provider
	oidcLifetime = 10 * time.Minute // from being sent there to coming back
	oidcCookie   = "cardwall-oidc"
)

// Provider sends browsers to an identity provider and takes them back. What it
// must remember meanwhile is in a cookie of the browser's: a GET that begins a
// sign-in changes nothing here.
type Provider struct {
	accounts *Accounts
	db       *store.DB
	gate     *session.Gate
	client   *http.Client
	callback string

	mu     sync.Mutex
	config *oauth2.Config // nil until the provider was asked for the first time
	verify *oidc.IDTokenVerifier
}

// NewProvider serves an identity provider.
func (a *Accounts) NewProvider(db *store.DB, gate *session.Gate, apiPath string) *Provider {
	return &Provider{
		accounts: a, db: db, gate: gate, client: &http.Client{Timeout: oidcTimeout},
		callback: strings.TrimSuffix(a.opts.BaseURL, "/") + apiPath + "/sign-in/oidc/callback",
	}
}

// Pages are the provider's two addresses, by method and path; none where no
// provider is configured.
func (a *Accounts) Pages(db *store.DB, gate *session.Gate, apiPath string) map[string]http.Handler {
	if a.opts.OIDC.Issuer == "" {
		return nil
	}
	p := a.NewProvider(db, gate, apiPath)
	return map[string]http.Handler{
		"GET " + apiPath + "/sign-in/oidc":          p.page(p.begin),
		"GET " + apiPath + "/sign-in/oidc/callback": p.page(p.finish),
	}
}

// page sends a browser on, or back to the page of the sign-in with the reason.
func (p *Provider) page(where func(w http.ResponseWriter, r *http.Request, caller board.Caller) (string, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		caller, _, err := p.gate.AdmitAnybody(r, session.Requests)
		to := ""
		if err == nil {
			caller.UserAgent, caller.RequestID = r.UserAgent(), w.Header().Get("X-Request-Id")
			to, err = where(w, r, caller)
		}
		if err != nil {
			reason := "oidc"
			if f, ok := board.AsFault(err); ok {
				reason += "_" + string(f.Code)
			} else {
				p.accounts.opts.Log.Warn("sign-in with the identity provider", "request", w.Header().Get("X-Request-Id"), "error", err)
			}
			to = "/sign-in?error=" + reason
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
}

// discover asks the provider about itself, once it was reached.
func (p *Provider) discover(ctx context.Context) (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.config != nil {
		return p.config, p.verify, nil
	}
	o := p.accounts.opts.OIDC
	// The provider fetches its keys with this context later, too.
	provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), o.Issuer)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the identity provider: %w", err)
	}
	p.config = &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: provider.Endpoint(), RedirectURL: p.callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
	p.verify = provider.Verifier(&oidc.Config{ClientID: o.ClientID, Now: p.db.Now})
	return p.config, p.verify, nil
}

// journey is what a browser carries to the provider and back.
type journey struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of RFC 7636
	Next     string `json:"next"`     // the page that the person wanted
}

// maxNext is how long the address of a page may be that a cookie carries.
const maxNext = 2_000

// pageAfter is the page that a person goes on to: one of our own, never another
// site's.
func pageAfter(next string) string {
	if len(next) > maxNext || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\t\r\n") {
		return "/"
	}
	return next
}

func (p *Provider) begin(w http.ResponseWriter, r *http.Request, _ board.Caller) (string, error) {
	config, _, err := p.discover(r.Context())
	if err != nil {
		return "", err
	}
	j := journey{board.NewSecret(), board.NewSecret(), oauth2.GenerateVerifier(), pageAfter(r.URL.Query().Get("next"))}
	text, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("write the cookie: %w", err)
	}
	p.carry(w, base64.RawURLEncoding.EncodeToString(text), oidcLifetime)
	return config.AuthCodeURL(j.State, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)), nil
}

// carry sets the cookie of a journey, or ends it.
func (p *Provider) carry(w http.ResponseWriter, value string, lifetime time.Duration) {
	c := &http.Cookie{Name: p.cookie(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(lifetime / time.Second), Secure: session.Trustworthy(p.callback)}
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

// errProvider is what a browser that came back is told of whatever is wrong with
// how it did.
func errProvider() error {
	return board.Refuse(board.CodeUnauthenticated, "The identity provider's answer was not accepted; begin again.")
}

// claims are what the provider says of a person.
type claims struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some send a text
	Name     string `json:"name"`
	Zone     string `json:"zoneinfo"`
}

func (p *Provider) finish(w http.ResponseWriter, r *http.Request, caller board.Caller) (string, error) {
	p.carry(w, "", 0)
	var j journey
	carried := r.CookiesNamed(p.cookie())
	if len(carried) != 1 {
		return "", errProvider()
	}
	text, err := base64.RawURLEncoding.DecodeString(carried[0].Value)
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
		return "", fmt.Errorf("verify the identity: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(j.Nonce)) != 1 {
		return "", errProvider()
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return "", fmt.Errorf("read the identity: %w", err)
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

// redacted is an error of the token endpoint without the answer, which may hold
// what it should not.
func redacted(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("the provider answered %d %s", refused.Response.StatusCode, refused.ErrorCode)
	}
	return err
}

// enter signs in whom the provider vouches for. A person it never sent before is
// known by the address, or gets an account; but only by one that the provider
// has verified, else anybody could claim to be anybody.
func (a *Accounts) enter(ctx context.Context, tx *store.Tx, issuer, subject string, c claims) (SignedIn, error) {
	userID, err := tx.UserOfIdentity(ctx, issuer, subject)
	if err != nil {
		return SignedIn{}, err
	}
	how := byKey
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

// link is the account of the address that a provider has verified, which it
// makes when there is none.
func (a *Accounts) link(ctx context.Context, tx *store.Tx, c claims) (userID string, made bool, err error) {
	email, err := board.NormalEmail(c.Email)
	if verified := c.Verified == true || c.Verified == "true"; err != nil || !verified {
		return "", false, board.Forbidden("The identity provider has not verified an email address of yours.")
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
