package connect

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const (
	maxRedirects = 10
	maxRedirect  = 2_000 // bytes of a redirect address
)

// dangerous are the schemes of addresses that run, read or dial something where
// a browser is sent to them, and of what no program of a person's answers at.
var dangerous = []string{
	"javascript", "vbscript", "livescript", "data", "blob", "file", "filesystem", "about", "view-source", "chrome", "chrome-extension",
	"moz-extension", "resource", "jar", "ftp", "ws", "wss", "mailto", "tel", "sms", "facetime", "intent", "content", "ldap", "smb", "ssh", "telnet",
	"urn", "ms-msdt", "search-ms", "market", "itms-services",
}

// checkRedirect says what keeps an address from being one that a browser is sent
// back to; "" for nothing. It is https, or http of one's own machine (RFC 8252,
// 7.3), or a scheme that a program on the machine answers (RFC 8252, 7.1).
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
	case slices.Contains(dangerous, u.Scheme):
		return "has a scheme that no program answers"
	}
	return ""
}

// isLoopback tells whether an address is one of the machine that it is used on.
func isLoopback(u *url.URL) bool {
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback() && ip.Zone() == ""
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
