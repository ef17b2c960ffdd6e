package login_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"cardwall/internal/apptest"
	"cardwall/internal/login"
)

// transport sends requests to a handler.
type transport struct{ http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

// to returns a context in which requests are sent to a service.
func to(t *testing.T, s *apptest.Service) context.Context {
	return context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: transport{s.Handler}})
}

// allow returns a prompt in which the person allows the access.
func allow(t *testing.T, p *apptest.Person, scopes ...string) login.Prompt {
	return func(address, code string) {
		if address != apptest.BaseURL+"/oauth/device?user_code="+code {
			t.Errorf("asked for the code %s at %s", code, address)
		}
		p.Must("allow_device", apptest.Fields{"userCode": code, "scopes": scopes})
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ctx, ada := to(t, s), s.Person("Ada")
	path := filepath.Join(t.TempDir(), "new", "logins.json")
	f := login.At(path)
	if _, err := f.Token(ctx, apptest.BaseURL); !errors.Is(err, login.ErrSignedOut) {
		t.Errorf("before the login: got %v, want ErrSignedOut", err)
	}
	if err := f.Login(ctx, apptest.BaseURL, []string{"read", "write"}, allow(t, ada, "read", "write")); err != nil {
		t.Fatal(err)
	}
	if current, err := f.Current(); current != apptest.BaseURL || err != nil {
		t.Errorf("the current server is %q, error %v", current, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has the mode %v, error %v; want 0600", info.Mode(), err)
	}
	first := token(t, ctx, f)
	if again := token(t, ctx, f); again != first {
		t.Error("the second token is another one, although the first has not expired")
	}
	if name := as(ada, first).Must("get_me", nil).Text("name"); name != "Ada" {
		t.Errorf("the token is that of %s, want Ada", name)
	}

	expire(t, path)
	second := token(t, ctx, f)
	if second == first || token(t, ctx, f) != second {
		t.Error("an expired token was not renewed once")
	}
	as(ada, second).Must("get_me", nil)

	if err := f.Logout(ctx, apptest.BaseURL); err != nil {
		t.Error(err)
	}
	s.Clock.Advance(2 * time.Second) // servers check a token again after a second
	as(ada, second).Refused("unauthenticated", "get_me", nil)
	if err := f.Logout(ctx, apptest.BaseURL); !errors.Is(err, login.ErrSignedOut) {
		t.Errorf("second logout: got %v, want ErrSignedOut", err)
	}
	if current, err := f.Current(); current != "" || err != nil {
		t.Errorf("after the logout, the current server is %q, error %v", current, err)
	}
}

// A login that the person has ended is over, although the file still has its tokens.
func TestLoginThatHasEnded(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ctx, ada := to(t, s), s.Person("Ada")
	path := filepath.Join(t.TempDir(), "logins.json")
	f := login.At(path)
	if err := f.Login(ctx, apptest.BaseURL, []string{"read"}, allow(t, ada, "read")); err != nil {
		t.Fatal(err)
	}
	ada.Must("disconnect_app", apptest.Fields{"appId": ada.Must("list_connected_apps", nil).Text("0.id")})
	expire(t, path)
	if _, err := f.Token(ctx, apptest.BaseURL); !errors.Is(err, login.ErrSignedOut) {
		t.Errorf("got %v, want ErrSignedOut", err)
	}
}

func TestLoginFails(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{NoRegistration: true})
	f := login.At(filepath.Join(t.TempDir(), "logins.json"))
	none := func(string, string) { t.Error("asked the person, although it cannot succeed") }
	for base, want := range map[string]string{
		apptest.BaseURL:           "the server lets no programs register",
		"https://a.example.com":   `has the address "` + apptest.BaseURL + `"; use that`,
		apptest.BaseURL + "/none": "status 404",
	} {
		if err := f.Login(to(t, s), base, nil, none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("login at %s: got %v, want an error that contains %q", base, err, want)
		}
	}
	s = apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	deny := func(_, code string) { s.Person("Ada").Must("deny_device", apptest.Fields{"userCode": code}) }
	if err := f.Login(to(t, s), apptest.BaseURL, []string{"read"}, deny); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("a login that the person denied: got %v", err)
	}
	if current, err := f.Current(); current != "" || err != nil {
		t.Errorf("the current server is %q, error %v; want none", current, err)
	}
}

// A file that was damaged or edited is an error or no login, and not a panic.
func TestFileThatWasEdited(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logins.json")
	for text, want := range map[string]string{
		`{"servers"`: "read the logins", `{"servers": {"` + apptest.BaseURL + `": null}}`: login.ErrSignedOut.Error(),
		`{"servers": {"` + apptest.BaseURL + `": {}}}`: login.ErrSignedOut.Error(), `{}`: login.ErrSignedOut.Error(),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := login.At(path).Token(t.Context(), apptest.BaseURL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that contains %q", text, err, want)
		}
	}
}

func token(t *testing.T, ctx context.Context, f *login.File) string {
	t.Helper()
	token, err := f.Token(ctx, apptest.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// as returns a person who uses a token.
func as(p *apptest.Person, token string) *apptest.Person {
	other := *p
	other.Token = token
	return &other
}

// expire changes the file so that the tokens have expired.
func expire(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`"expiry": ".*?"`).ReplaceAll(text, []byte(`"expiry": "2020-01-01T00:00:00Z"`))
	if !bytes.Contains(text, []byte("2020-01-01")) {
		t.Fatalf("the file has no expiry: %s", text)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
