package session

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"cardwall/internal/board"
)

// cookie describes the session cookie: its name and whether it has the Secure attribute.
type cookie struct {
	name   string
	secure bool
}

// cookieFor returns the cookie for a base URL. The prefix __Host- makes browsers
// reject a cookie that another host of the domain sets, or that is not Secure (RFC
// 6265bis, 4.1.3.2). Over plain HTTP, the prefix works only on the loopback interface.
func cookieFor(baseURL string) cookie {
	if Trustworthy(baseURL) {
		return cookie{"__Host-cardwall", true}
	}
	return cookie{"cardwall", false}
}

// Trustworthy reports whether browsers treat a URL as a secure context: https, or
// the loopback interface (W3C Secure Contexts, 3.1).
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

// read returns the hash of the secret in the cookie of a request. It returns false
// unless there is exactly one such cookie with a well-formed secret.
func (c cookie) read(r *http.Request) (hash []byte, ok bool) {
	found := r.CookiesNamed(c.name)
	if len(found) != 1 {
		return nil, false
	}
	return board.SessionHash(found[0].Value)
}

// SetCookie sets the session cookie, or deletes it if the secret is empty. The
// cookie lasts for the longest lifetime of a session; the server decides when the
// session ends.
func (g *Gate) SetCookie(w http.ResponseWriter, secret string) {
	c := &http.Cookie{
		Name: g.cookie.name, Value: secret, Path: "/", MaxAge: int(board.SessionLifetime / time.Second),
		Secure: g.cookie.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// deviceLifetime is the longest lifetime of a cookie that browsers allow.
const deviceLifetime = 400 * 24 * time.Hour

// deviceName returns the name of the device cookie, which identifies the browser.
func (c cookie) deviceName() string { return c.name + "-device" }

// device returns the hash of the device cookie's secret, or nil.
func (g *Gate) device(r *http.Request) []byte {
	hash, _ := cookie{name: g.cookie.deviceName()}.read(r)
	return hash
}

// replaced returns the hash of the session cookie's secret, or nil if there is none.
// A sign-in with this browser replaces the session of that cookie.
func (g *Gate) replaced(r *http.Request) []byte {
	hash, _ := g.cookie.read(r)
	return hash
}

// SetDevice sets the device cookie. If the secret is empty, it extends the lifetime
// of the browser's existing cookie.
func (g *Gate) SetDevice(w http.ResponseWriter, r *http.Request, secret string) {
	name := g.cookie.deviceName()
	if found := r.CookiesNamed(name); secret == "" && len(found) == 1 {
		secret = found[0].Value
	}
	if secret == "" {
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: secret, Path: "/", MaxAge: int(deviceLifetime / time.Second),
		Secure: g.cookie.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// ownOrigin returns a check that rejects changes that pages of other sites request. It
// always trusts the origin of the base URL, because a proxy may change the Host header.
func ownOrigin(baseURL string) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if u, err := url.Parse(baseURL); err == nil {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // an invalid origin is not trusted
	}
	return p
}

// sameSite returns a forbidden error for a change that a page of another site made the
// browser request.
func (g *Gate) sameSite(r *http.Request) error {
	if g.origin.Check(r) != nil {
		return board.Forbidden("A page of another site sent this request. " +
			"Only pages of this server can make changes with a session cookie.")
	}
	return nil
}
