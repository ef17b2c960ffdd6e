// Package login signs a program in to servers with the device grant (RFC 8628), and keeps their
// tokens in a file of the person who runs it.
package login

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
)

// ErrSignedOut means that the person must sign in to the server first, or again.
var ErrSignedOut = errors.New("you are not signed in")

const (
	deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
	timeout     = 30 * time.Second // for a request
	maxResponse = 1 << 20
)

// metadata is what a server says about itself (RFC 8414, 2).
type metadata struct {
	Issuer   string `json:"issuer"`
	Register string `json:"registration_endpoint"`
	Device   string `json:"device_authorization_endpoint"`
	Token    string `json:"token_endpoint"`
	Revoke   string `json:"revocation_endpoint"`
}

// Prompt tells the person to open an address and to compare the code there.
type Prompt func(address, code string)

// Login signs a person in to the server with this base URL, for which it asks with prompt, and waits
// until the person has agreed. It replaces an earlier login.
func (f *File) Login(ctx context.Context, baseURL string, scopes []string, prompt Prompt) error {
	ctx = withTimeout(ctx)
	about, err := discover(ctx, baseURL)
	if err != nil {
		return err
	}
	client, err := register(ctx, about)
	if err != nil {
		return err
	}
	config := about.config(client)
	config.Scopes = scopes
	device, err := config.DeviceAuth(ctx)
	if err != nil {
		return fmt.Errorf("ask for a code: %w", explain(err))
	}
	address := device.VerificationURIComplete
	if address == "" {
		address = device.VerificationURI
	}
	prompt(address, device.UserCode)
	token, err := config.DeviceAccessToken(ctx, device)
	if err != nil {
		return explain(err)
	}
	return f.change(func(c *content) {
		if old := c.Servers[baseURL]; old != nil {
			_ = old.revoke(ctx) // it is no longer used, and ends by itself
		}
		c.Current = baseURL
		c.Servers[baseURL] = &server{ClientID: client, TokenURL: about.Token, RevokeURL: about.Revoke, Token: token}
	})
}

// Token returns an access token for the server with this base URL. It renews the token if it has
// expired. The error is ErrSignedOut if there is no login, or if it has ended.
func (f *File) Token(ctx context.Context, baseURL string) (string, error) {
	c, err := f.read()
	if err != nil {
		return "", err
	}
	s := c.Servers[baseURL]
	if s == nil {
		return "", ErrSignedOut
	}
	config := metadata{Token: s.TokenURL}.config(s.ClientID)
	token, err := config.TokenSource(withTimeout(ctx), s.Token).Token()
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && (refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_client"):
		return "", ErrSignedOut
	case err != nil:
		return "", fmt.Errorf("renew the token: %w", explain(err))
	case token.AccessToken == s.Token.AccessToken:
		return token.AccessToken, nil
	}
	return token.AccessToken, f.change(func(c *content) {
		if now := c.Servers[baseURL]; now != nil {
			now.Token = token
		}
	})
}

// Logout revokes the tokens of the server with this base URL, and removes them from the file. The
// error is ErrSignedOut if there are none.
func (f *File) Logout(ctx context.Context, baseURL string) error {
	c, err := f.read()
	if err != nil {
		return err
	}
	s := c.Servers[baseURL]
	if s == nil {
		return ErrSignedOut
	}
	revokeErr := s.revoke(withTimeout(ctx))
	err = f.change(func(c *content) {
		delete(c.Servers, baseURL)
		if c.Current == baseURL {
			c.Current = ""
		}
	})
	if revokeErr != nil {
		revokeErr = fmt.Errorf("the token was removed here, but not revoked on the server: %w", revokeErr)
	}
	return errors.Join(err, revokeErr)
}

// revoke revokes the tokens (RFC 7009).
func (s *server) revoke(ctx context.Context) error {
	form := url.Values{"client_id": {s.ClientID}, "token": {cmp.Or(s.Token.RefreshToken, s.Token.AccessToken)}}.Encode()
	_, err := send(ctx, http.MethodPost, s.RevokeURL, "application/x-www-form-urlencoded", strings.NewReader(form))
	return err
}

// config returns the settings of a client at a server.
func (m metadata) config(clientID string) *oauth2.Config {
	return &oauth2.Config{ClientID: clientID, Endpoint: oauth2.Endpoint{
		DeviceAuthURL: m.Device, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInParams,
	}}
}

// discover reads the metadata of a server.
func discover(ctx context.Context, baseURL string) (m metadata, err error) {
	body, err := send(ctx, http.MethodGet, baseURL+"/.well-known/oauth-authorization-server", "", nil)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	switch {
	case err != nil:
		return m, fmt.Errorf("read how to sign in to %s: %w", baseURL, err)
	case m.Issuer != baseURL: // a token must not go to a server that it is not for (RFC 8414, 3.3)
		return m, fmt.Errorf("the server at %s has the address %q; use that", baseURL, m.Issuer)
	case m.Register == "":
		return m, errors.New("the server lets no programs register; create an API token in the profile, and set CARDWALL_TOKEN to it")
	}
	return m, nil
}

// register registers this program as a client (RFC 7591), and returns its id.
func register(ctx context.Context, m metadata) (clientID string, err error) {
	request, err := json.Marshal(map[string]any{
		"client_name": "Cardwall command line", "grant_types": []string{deviceGrant, "refresh_token"},
		"token_endpoint_auth_method": "none",
	})
	if err != nil {
		return "", err
	}
	body, err := send(ctx, http.MethodPost, m.Register, "application/json", bytes.NewReader(request))
	var client struct {
		ID string `json:"client_id"`
	}
	if err == nil {
		err = json.Unmarshal(body, &client)
	}
	if err != nil {
		return "", fmt.Errorf("register at the server: %w", err)
	}
	return client.ID, nil
}

// send sends a request and returns the body of the response. Any status but 2xx is an error.
func send(ctx context.Context, method, address, kind string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	response, err := httpClient(ctx).Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err == nil && response.StatusCode/100 != 2 {
		var refused struct {
			Description string `json:"error_description"`
		}
		_ = json.Unmarshal(text, &refused) // another server may send no JSON
		err = fmt.Errorf("status %d %s", response.StatusCode, refused.Description)
	}
	return text, err
}

// explain returns an error with the description that the server gave.
func explain(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorDescription != "" {
		return errors.New(refused.ErrorDescription)
	}
	return err
}

// withTimeout returns a context with a client that limits the time of each request, unless it has a client.
func withTimeout(ctx context.Context) context.Context {
	if ctx.Value(oauth2.HTTPClient) != nil {
		return ctx
	}
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: timeout})
}

func httpClient(ctx context.Context) *http.Client {
	return ctx.Value(oauth2.HTTPClient).(*http.Client)
}
