package apptest

import (
	"context"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Cookie is what the cookie of a session is called at BaseURL.
const Cookie = "__Host-cardwall"

// userAgent is what every browser calls itself.
const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Browser is a browser in which nobody is signed in. It keeps the cookies that
// answers set, and sends from pages of the service itself.
func (s *Service) Browser() *Person {
	return &Person{Service: s, Cookies: map[string]string{}}
}

// Secret is the secret of the session that a browser holds; empty for none.
func (p *Person) Secret() string { return p.Cookies[Cookie] }

// signIn gives a request of a program's the cookie of a new session.
func (p *Person) signIn(r *http.Request) {
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	caller := board.Person(p.ID)
	caller.Address, caller.UserAgent = "192.0.2.1", userAgent // as of every request here
	p.Write(caller, func(ctx context.Context, tx *store.Tx) error { return tx.InsertSession(ctx, tx.NewID("ses_"), hash) })
	r.AddCookie(&http.Cookie{Name: Cookie, Value: secret})
	r.Header.Set("User-Agent", userAgent)
}

// browse makes a request one of the browser's.
func (p *Person) browse(r *http.Request) {
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

// keep is what a browser does with the cookies of an answer.
func (p *Person) keep(w *http.Response) {
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
