package apptest

import (
	"context"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Cookie is the name of the session cookie at BaseURL.
const Cookie = "__Host-cardwall"

// userAgent is the User-Agent header of every browser.
const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Browser returns a browser in which nobody is signed in. It stores the cookies that responses
// set. Its requests have the headers of requests from the service's own pages.
func (s *Service) Browser() *Person {
	return &Person{Service: s, Cookies: map[string]string{}}
}

// Secret returns the secret of the browser's session, or "" without a session.
func (p *Person) Secret() string { return p.Cookies[Cookie] }

// signIn creates a session and adds its cookie to a request.
func (p *Person) signIn(r *http.Request) {
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	caller := board.Person(p.ID)
	caller.Address, caller.UserAgent = "192.0.2.1", userAgent // the default address of httptest requests
	p.Write(caller, func(ctx context.Context, tx *store.Tx) error { return tx.InsertSession(ctx, tx.NewID("ses_"), hash) })
	r.AddCookie(&http.Cookie{Name: Cookie, Value: secret})
	r.Header.Set("User-Agent", userAgent)
}

// addBrowserHeaders adds the headers and cookies of the browser to a request.
func (p *Person) addBrowserHeaders(r *http.Request) {
	if p.From != "" {
		r.RemoteAddr = p.From
	}
	if p.Cookies == nil {
		return
	}
	for name, value := range p.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", userAgent)
	}
	if _, given := r.Header["Sec-Fetch-Site"]; !given {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
}

// storeCookies stores the cookies of a response.
func (p *Person) storeCookies(w *http.Response) {
	if p.Cookies == nil {
		return
	}
	for _, c := range w.Cookies() {
		if c.MaxAge < 0 {
			delete(p.Cookies, c.Name)
		} else {
			p.Cookies[c.Name] = c.Value
		}
	}
}
