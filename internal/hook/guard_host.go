package hook

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// host is the one spelling of a URL's host that the guard knows: a name in
// lower-case ASCII, or an IP address as netip writes it.
type host struct {
	name string
	addr netip.Addr // valid when the name is an IP address
}

// parseHost reads the host of a URL without its brackets and port. What is not
// exactly a DNS name of ASCII letters, digits and hyphens, an internationalised
// name that maps to one (UTS #46, as browsers look names up), a dotted-decimal
// IPv4 address or an IPv6 address without a zone is refused: the returned
// reason follows "url: its host ".
func parseHost(text string) (host, string) {
	if strings.Contains(text, ":") {
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return host{}, "is not an IPv6 address"
		case addr.Zone() != "":
			return host{}, "has a zone; write the address alone"
		case addr.Is4In6():
			return host{}, "is an IPv4 address written as IPv6; write it as four plain decimal numbers"
		}
		return host{addr.String(), addr}, ""
	}
	if text == "" {
		return host{}, "is missing"
	}
	name := lower(text)
	mapped := !ascii(name)
	// Lookup also refuses names of plain ASCII that are in use, such as
	// r3---sn.example, so it sees only what is its own.
	if mapped || strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		converted, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return host{}, "is not an internationalised domain name"
		}
		name = converted
	}
	if len(name) > 253 {
		return host{}, "is longer than 253 characters"
	}
	labels := strings.Split(name, ".")
	if labels[len(labels)-1] == "" && len(labels) > 1 {
		return host{}, "ends in a dot; leave that out"
	}
	for _, label := range labels {
		if reason := checkLabel(label); reason != "" {
			return host{}, reason
		}
	}
	// As the URL standard has it: a host that ends in a number is IPv4. Of its
	// many spellings, which programs read differently, one is left.
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

// numeric tells whether a label is all digits, in any script: idna leaves those
// that are not Arabic as they are.
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
		return "has a part that begins or ends with a hyphen"
	}
	for i := range len(label) {
		if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "has characters that a domain name does not have"
		}
	}
	return ""
}

// scope says who can reach a name, as far as the name alone tells.
type scope int

const (
	public  scope = iota
	private       // names of a network that is not the internet
	never         // means this machine, or nothing that DNS knows
)

// suffixes are the names that are not the internet's, with all below them:
// RFC 6761, RFC 6762 (and its appendix G), RFC 7686, RFC 8375, and ICANN's
// resolution of 2024 on internal.
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

// scopeOf tells how far a name reaches. A single word is a private name: the
// internet has no host of one label that a receiver could be.
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

// lower changes ASCII alone: the rest is for idna to map, whose rules differ
// from Unicode's.
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
