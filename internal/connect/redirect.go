package connect

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	maxRedirects = 10
	maxRedirect  = 2_000 // bytes of a redirect address
)

// privateScheme matches the schemes that an app of the person's machine may
// register: a domain name in reverse order (RFC 8252, 7.1), such as
// com.example.app. Schemes of browsers and operating systems don't match: they
// have no dot, or begin with no top-level domain (x-apple.systempreferences).
var privateScheme = regexp.MustCompile(`^[a-z]{2,63}(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)

// spareRedirect is registered by Cursor beside the loopback and https addresses
// that it really uses. It is left out (RFC 7591, 3.2.1), because refusing the
// whole registration would keep Cursor from connecting.
const spareRedirect = "cursor://anysphere.cursor-mcp/oauth/callback"

func withoutSpare(addresses []string) []string {
	if len(addresses) < 2 {
		return addresses
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return a == spareRedirect })
}

// checkRedirect says what keeps an address from being one that a browser is sent
// back to; "" for nothing. Allowed are https, http of the person's own machine
// (RFC 8252, 7.3) and private-use schemes (RFC 8252, 7.1).
func checkRedirect(address string) (problem string) {
	if address == "" || len(address) > maxRedirect {
		return "is missing or longer than 2,000 characters"
	}
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>^`{|}", r) }) {
		return "has a character that an address cannot have"
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return "is not an absolute address"
	case strings.Contains(address, "#"):
		return "has a fragment" // RFC 6749, 3.1.2
	case u.User != nil:
		return "has a user name"
	case u.Scheme == "https":
		if u.Hostname() == "" || u.Opaque != "" {
			return "has no host"
		}
	case u.Scheme == "http":
		if !isLoopback(u) {
			return "is http of another machine; use https"
		}
	case !privateScheme.MatchString(u.Scheme):
		return "has a scheme that is not allowed; use https, http of localhost, 127.0.0.1 or [::1], or a scheme with a dot such as com.example.app:"
	}
	return ""
}

// isLoopback tells whether an address is one of the machine that it is used on.
func isLoopback(u *url.URL) bool {
	name := u.Hostname()
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// sameRedirect tells whether an address is one that was registered: letter by
// letter (RFC 9700, 2.1), but for the port of http on one's own machine, which a
// program there cannot know before it runs (RFC 8252, 7.3).
func sameRedirect(registered, given string) bool {
	if registered == given {
		return true
	}
	r, err := url.Parse(registered)
	g, err2 := url.Parse(given)
	if err != nil || err2 != nil || r.Scheme != "http" || !isLoopback(r) || checkRedirect(given) != "" {
		return false
	}
	// Compared without the port as text, so that nothing else may differ.
	return withoutPort(registered, r) == withoutPort(given, g) && r.Hostname() == g.Hostname() && g.Scheme == "http"
}

func withoutPort(address string, u *url.URL) string {
	before, rest, found := strings.Cut(address, u.Host)
	if !found {
		return address
	}
	return before + strings.TrimSuffix(u.Host, ":"+u.Port()) + rest
}

// Kinds of places that a browser is sent back to, for the page that says so.
const (
	toWeb    = "web"    // a host on the network
	toDevice = "device" // a program on the person's own machine
)

// placeOf is what a person is told of where an address leads.
func placeOf(address string) (host, kind string) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", toDevice
	case u.Scheme == "https":
		return u.Host, toWeb
	case u.Scheme == "http":
		return u.Hostname(), toDevice
	}
	return u.Scheme + ":", toDevice
}
