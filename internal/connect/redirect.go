package connect

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	maxRedirects = 10
	maxRedirect  = 2_000 // bytes of a redirect URI
)

// privateScheme matches private-use schemes: a domain name in reverse order, such
// as com.example.app (RFC 8252, 7.1). Schemes of browsers and operating systems
// don't match, because they have no dot or don't begin with a top-level domain
// (x-apple.systempreferences).
var privateScheme = regexp.MustCompile(`^[a-z]{2,63}(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)

// unusedRedirect is a URI that the code editor Cursor registers in addition to the
// loopback and https URIs that it uses. It is ignored (RFC 7591, 3.2.1), because
// rejecting the registration would prevent Cursor from connecting.
const unusedRedirect = "cursor://anysphere.cursor-mcp/oauth/callback"

// withoutUnused removes unusedRedirect, unless it is the only address.
func withoutUnused(addresses []string) []string {
	if len(addresses) < 2 {
		return addresses
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return a == unusedRedirect })
}

// checkRedirect returns why an address cannot be a redirect URI, or "" if it can. It
// allows https, http on the loopback interface (RFC 8252, 7.3) and private-use schemes
// (RFC 8252, 7.1).
func checkRedirect(address string) (problem string) {
	if address == "" || len(address) > maxRedirect {
		return "is missing or longer than 2,000 characters"
	}
	if strings.ContainsFunc(address, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>^`{|}", r)
	}) {
		return "contains a character that is not allowed in a URI"
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return "is not an absolute URI"
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
			return "uses http for a host other than localhost, 127.0.0.1 or [::1]; use https"
		}
	case !privateScheme.MatchString(u.Scheme):
		return "has a scheme that is not allowed; use https, http on localhost, 127.0.0.1 or [::1], " +
			"or a scheme with a dot such as com.example.app:"
	}
	return ""
}

// isLoopback reports whether the host of a URI is localhost, 127.0.0.1 or ::1.
func isLoopback(u *url.URL) bool {
	name := u.Hostname()
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// sameRedirect reports whether a URI exactly matches a registered one (RFC 9700,
// 2.1). The port of a loopback URI may differ, because an app does not know it
// before it runs (RFC 8252, 7.3).
func sameRedirect(registered, given string) bool {
	if registered == given {
		return true
	}
	r, err := url.Parse(registered)
	g, err2 := url.Parse(given)
	if err != nil || err2 != nil || r.Scheme != "http" || !isLoopback(r) || checkRedirect(given) != "" {
		return false
	}
	// Compare the text without the port, so that nothing else can differ.
	return withoutPort(registered, r) == withoutPort(given, g) && r.Hostname() == g.Hostname() && g.Scheme == "http"
}

func withoutPort(address string, u *url.URL) string {
	before, rest, found := strings.Cut(address, u.Host)
	if !found {
		return address
	}
	return before + strings.TrimSuffix(u.Host, ":"+u.Port()) + rest
}

// The kinds of redirect destinations, for the consent page.
const (
	toWeb    = "web"    // a host on the network
	toDevice = "device" // an app on the person's machine
)

// destinationOf returns the host or scheme of a redirect URI and its kind.
func destinationOf(address string) (host, kind string) {
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
