package hook

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// host is the host of a URL in canonical form: a name in lower-case ASCII, or
// an IP address as formatted by netip.
type host struct {
	name string
	addr netip.Addr // valid if the name is an IP address
}

// parseHost parses the host of a URL without brackets and port. It accepts a
// DNS name of ASCII letters, digits and hyphens, an internationalized name that
// maps to one (UTS #46, as in browsers), a dotted-decimal IPv4 address, or an
// IPv6 address without a zone. For anything else it returns a reason that
// completes "url: its host ".
func parseHost(text string) (host, string) {
	if strings.Contains(text, ":") {
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return host{}, "is not an IPv6 address"
		case addr.Zone() != "":
			return host{}, "has a zone. Write the address without it"
		case addr.Is4In6():
			return host{}, "is an IPv4 address written as IPv6. Write it as four plain decimal numbers"
		}
		return host{addr.String(), addr}, ""
	}
	if text == "" {
		return host{}, "is missing"
	}
	name := lower(text)
	mapped := !ascii(name)
	// idna.Lookup also rejects plain ASCII names that are in use, such as
	// r3---sn.example, so it is called only for internationalized names.
	if mapped || strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		converted, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return host{}, "is not an internationalized domain name"
		}
		name = converted
	}
	if len(name) > 253 {
		return host{}, "is longer than 253 characters"
	}
	labels := strings.Split(name, ".")
	if labels[len(labels)-1] == "" && len(labels) > 1 {
		return host{}, "ends in a dot. Remove it"
	}
	for _, label := range labels {
		if reason := checkLabel(label); reason != "" {
			return host{}, reason
		}
	}
	// As in the URL standard, a host that ends in a number is an IPv4 address.
	// Programs interpret its many spellings differently, so only one is
	// accepted.
	last := labels[len(labels)-1]
	if strings.HasPrefix(last, "0x") || numeric(last) {
		addr, err := netip.ParseAddr(name)
		if err != nil || mapped {
			return host{}, "is not an IPv4 address of four plain decimal numbers"
		}
		return host{name, addr}, ""
	}
	return host{name: name}, ""
}

// numeric reports whether a label consists of digits of any script. Package
// idna does not convert the digits of other scripts to ASCII.
func numeric(label string) bool {
	text, err := idna.Punycode.ToUnicode(label)
	return err == nil && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsNumber(r) }) < 0
}

func checkLabel(label string) string {
	switch {
	case label == "":
		return "has an empty part between dots"
	case len(label) > 63:
		return "has a part of more than 63 characters"
	case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
		return "has a part that starts or ends with a hyphen"
	}
	for i := range len(label) {
		if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "contains characters that are not allowed in a domain name"
		}
	}
	return ""
}

// scope is the network in which a name can be reached, as far as the name shows.
type scope int

const (
	public  scope = iota
	private       // names of a network other than the internet
	never         // names of this machine, and names unknown to DNS
)

// suffixes lists names outside the public internet, including all names below
// them: RFC 6761, RFC 6762 (and its appendix G), RFC 7686, RFC 8375, ICANN's
// resolution of 2024 on internal, and localdomain by convention.
var suffixes = []struct {
	name  string
	scope scope
}{
	{"localhost", never},
	{"localdomain", never},
	{"onion", never},
	{"invalid", never},
	{"local", private},
	{"internal", private},
	{"home.arpa", private},
	{"intranet", private},
	{"private", private},
	{"corp", private},
	{"home", private},
	{"lan", private},
}

// scopeOf returns the scope of a name. A single label is private, because no
// receiver on the internet has a host name of one label.
func scopeOf(name string) scope {
	for _, s := range suffixes {
		if name == s.name || strings.HasSuffix(name, "."+s.name) {
			return s.scope
		}
	}
	if !strings.Contains(name, ".") {
		return private
	}
	return public
}

// lower converts ASCII letters to lower case. Package idna maps the others, by rules that
// differ from Unicode's.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0
}
