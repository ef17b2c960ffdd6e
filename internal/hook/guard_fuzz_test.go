package hook_test

import (
	"net/netip"
	"strings"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/hook"
)

// FuzzGuard parses addresses with and without exceptions of the operator. The result is an error that
// names the field, or a URL that Parse returns unchanged. Such a URL either uses https on port 443 of
// a public host, matches an exception, or has a name that may resolve to an allowed address.
func FuzzGuard(f *testing.F) {
	for _, address := range []string{
		"https://hooks.example.com/a?b=c", "https://hooks.example.com:443", "HTTPS://BÜCHER.example.com/ü",
		"https://xn--bcher-kva.example.com",
		"http://in.example.com", "http://db.internal:8080/", "https://named.internal:1/", "http://10.1.2.3:80",
		"http://[fd12::1]:8080/",
		"https://8.8.8.8", "https://[2606:4700::1111]", "https://0x7f.1", "https://127.1", "https://２130706433",
		"https://[::ffff:7f00:1]",
		"https://a@b", "https://a#b", `https://a\b`, "https://a..b", "https://a.b.", "https://[fe80::1%25eth0]",
		"https://8。8。8。8", "https:a", "//a",
		"https://hooks.example.com/%zz", "https://hooks.example.com/a%2fb//../c;d", "https://hooks.example.com?",
		"https://8.8.8.८",
	} {
		f.Add(address)
	}
	strict := newGuard(f, nil)
	inside := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd12::/16")}
	open := newGuard(f, nil, "named.internal", inside[0].String(), inside[1].String())
	f.Fuzz(func(t *testing.T, address string) {
		for _, g := range []*hook.Guard{strict, open} {
			u, err := g.Parse(address)
			if err != nil {
				fault, ok := board.AsFault(err)
				if !ok || u != nil || !strings.HasPrefix(fault.Message, "url: ") {
					t.Fatalf("%q: got error %v, want none or one that names url", address, err)
				}
				continue
			}
			again, err := g.Parse(u.String())
			if err != nil || again.String() != u.String() || again.Host != u.Host {
				t.Fatalf("%q: got %q, which Parse then returns as %v with error %v; want it unchanged", address, u, again, err)
			}
			name := u.Hostname()
			addr, notIP := netip.ParseAddr(name)
			if u.Scheme != "https" || u.Port() != "" {
				isNamed := name == "named.internal"
				covered := notIP == nil && (inside[0].Contains(addr) || inside[1].Contains(addr))
				mayResolve := notIP != nil && name != "localhost" && !strings.HasSuffix(name, ".localhost")
				if g == strict || u.Scheme != "https" && u.Scheme != "http" || !isNamed && !covered && !mayResolve {
					t.Fatalf("%q: got %q, which is neither https on port 443 nor an exception", address, u)
				}
			}
			if notIP == nil && g == strict && (addr.IsPrivate() || !addr.IsGlobalUnicast() || addr.Is4In6()) {
				t.Fatalf("%q: got %q, which is not public", address, u)
			}
			if notIP != nil && strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "0123456789") == "" {
				t.Fatalf("%q: got %q, whose host other programs parse as a number", address, u)
			}
			if u.User != nil || u.Fragment != "" || strings.ContainsFunc(name, func(r rune) bool {
				return r <= ' ' || r > '~' || r == '\\' || r == '%'
			}) {
				t.Fatalf("%q: got %q, which has a user, a fragment or invalid characters in the host", address, u)
			}
		}
	})
}
