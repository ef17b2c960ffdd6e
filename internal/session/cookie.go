package session

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"cardwall/internal/board"
)

// cookie is how the cookie of a session is called, and whether it is kept to
// connections that are encrypted or never leave the machine.
type cookie struct {
	name   string
	secure bool
}

// cookieFor decides by where browsers find the server. The prefix __Host- makes
// them refuse such a cookie from any other host of the domain, and without Secure
// (RFC 6265bis, 4.1.3.2); it cannot be had over plain HTTP.
func cookieFor(baseURL string) cookie {
	if Trustworthy(baseURL) {
		return cookie{"__Host-cardwall", true}
	}
	return cookie{"cardwall", false}
}

// Trustworthy tells whether browsers take an address for a secure context:
// https, or this machine (W3C Secure Contexts, 3.1).
func Trustworthy(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

// read is the fingerprint of the session whose cookie a request carries. Of two
// cookies neither is believed.
func (c cookie) read(r *http.Request) (hash []byte, ok bool) {
	found := r.CookiesNamed(c.name)
	if len(found) != 1 {
		return nil, false
	}
	return board.SessionHash(found[0].Value)
}

// SetCookie has a browser keep the secret of a session, or with an empty one
// forget it. The cookie lives as long as any session can; when a session ends
// is the server's to decide.
func (g *Gate) SetCookie(w http.ResponseWriter, secret string) {
	c := &http.Cookie{
		Name: g.cookie.name, Value: secret, Path: "/", Secure: g.cookie.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(board.SessionLifetime / time.Second),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// deviceLifetime is as long as browsers keep a cookie.
const deviceLifetime = 400 * 24 * time.Hour

// deviceName is what the cookie of the browser itself is called.
func (c cookie) deviceName() string { return c.name + "-device" }

// device is the hash of the browser's device cookie; nil for none.
func (g *Gate) device(r *http.Request) []byte {
	hash, _ := cookie{name: g.cookie.deviceName()}.read(r)
	return hash
}

// replaced is the hash of the session whose cookie a browser holds that is about
// to sign in; nil for none.
func (g *Gate) replaced(r *http.Request) []byte {
	hash, _ := g.cookie.read(r)
	return hash
}

// SetDevice has a browser keep a new secret of its own. With an empty one it
// keeps the one that its request came with for longer.
func (g *Gate) SetDevice(w http.ResponseWriter, r *http.Request, secret string) {
	name := g.cookie.deviceName()
	if found := r.CookiesNamed(name); secret == "" && len(found) == 1 {
		secret = found[0].Value
	}
	if secret == "" {
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: secret, Path: "/", Secure: g.cookie.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(deviceLifetime / time.Second),
	})
}

// ownOrigin lets through what our own pages send. The base address is trusted by
// name as well: a proxy may have changed the host of a request.
func ownOrigin(baseURL string) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if u, err := url.Parse(baseURL); err == nil {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // one that is none is trusted by nobody
	}
	return p
}

// sameSite refuses a change that another site's page had a browser send.
func (g *Gate) sameSite(r *http.Request) error {
	if g.origin.Check(r) != nil {
		return board.Forbidden("The request was sent by a page of another site; only pages of this server may change anything with the cookie of a session.")
	}
	return nil
}

func (g *Gate) spendSession(c board.Caller, class Class, now time.Time) (Rate, error) {
	return g.spend(perMinute("session", c.UserID, sessionLimit), perMinute("session search", c.UserID, sessionSearchLimit), class, now)
}
