package hook_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/hook"
)

func newGuard(t testing.TB, z zone, allow ...string) *hook.Guard {
	t.Helper()
	if z == nil {
		z = func(string, int) []netip.Addr { return nil }
	}
	g, err := hook.NewGuard(hook.GuardOptions{Allow: allow, Resolver: z.resolver()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func addresses(texts ...string) []netip.Addr {
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs
}

// fixedZone returns a zone that never changes. It maps names to addresses separated by spaces.
func fixedZone(names map[string]string) zone {
	return func(name string, _ int) []netip.Addr { return addresses(strings.Fields(names[name])...) }
}

// wantRefused checks that Dial returns a Refused error whose reason contains want.
func wantRefused(t *testing.T, g *hook.Guard, hostPort, want string) {
	t.Helper()
	conn, err := g.Dial(t.Context(), "tcp", hostPort)
	if conn != nil {
		conn.Close()
		t.Errorf("Dial %q: got a connection to %s, want a Refused error", hostPort, conn.RemoteAddr())
		return
	}
	var refused *hook.Refused
	if !errors.As(err, &refused) {
		t.Errorf("Dial %q: got error %v, want a Refused error", hostPort, err)
		return
	}
	if !strings.Contains(refused.Reason, want) {
		t.Errorf("Dial %q: got reason %q, want it to contain %q", hostPort, refused.Reason, want)
	}
}

// wantFault checks for an invalid_request error that names url and contains want.
func wantFault(t *testing.T, what string, err error, want string) {
	t.Helper()
	fault, ok := board.AsFault(err)
	if !ok || fault.Code != board.CodeInvalidRequest || !strings.HasPrefix(fault.Message, "url: ") ||
		!strings.Contains(fault.Message, want) || !strings.HasSuffix(fault.Message, ".") {
		t.Errorf("%q: got error %v, want an invalid_request that begins with \"url: \", contains %q and ends with a period", what, err, want)
	}
}

func TestParseNormalizesURLs(t *testing.T) {
	g := newGuard(t, nil)
	for give, want := range map[string]string{
		"https://hooks.example.com":                       "https://hooks.example.com",
		"HTTPS://Hooks.EXAMPLE.com/A/b?C=d":               "https://hooks.example.com/A/b?C=d",
		"https://hooks.example.com:443/a":                 "https://hooks.example.com/a",
		"https://hooks.example.com/a%2Fb?q=%20&w=@:":      "https://hooks.example.com/a%2Fb?q=%20&w=@:",
		"https://hooks.example.com/@user:443":             "https://hooks.example.com/@user:443",
		"https://hooks.example.com?a=//b@c%2F:":           "https://hooks.example.com?a=//b@c%2F:",
		"https://hooks.example.com?a=%2F:":                "https://hooks.example.com?a=%2F:",
		"https://bücher.example.com/ü":                    "https://xn--bcher-kva.example.com/%C3%BC",
		"https://BÜCHER.example.com":                      "https://xn--bcher-kva.example.com",
		"https://xn--bcher-kva.example.com":               "https://xn--bcher-kva.example.com",
		"https://例え。example。com":                          "https://xn--r8jz45g.example.com",
		"https://r3---sn.example.com":                     "https://r3---sn.example.com",
		"https://0x7f.example.com":                        "https://0x7f.example.com",
		"https://127.0.0.1.example.com":                   "https://127.0.0.1.example.com",
		"https://notlocalhost.com":                        "https://notlocalhost.com",
		"https://8.8.8.8/":                                "https://8.8.8.8/",
		"https://[2606:4700:0::1111]/":                    "https://[2606:4700::1111]/",
		"https://[2606:4700::0:5efe:8.8.8.8]":             "https://[2606:4700::5efe:808:808]",
		"https://hooks.example.com/" + long('a', 2048-26): "https://hooks.example.com/" + long('a', 2048-26),
	} {
		u, err := g.Parse(give)
		if err != nil {
			t.Errorf("%q: got error %v, want %q", give, err, want)
		} else if u.String() != want {
			t.Errorf("%q: got %q, want %q", give, u, want)
		}
	}
}

func long(c rune, n int) string { return strings.Repeat(string(c), n) }

func TestInvalidURLsAreRefused(t *testing.T) {
	g := newGuard(t, func(string, int) []netip.Addr { return addresses("8.8.8.8") })
	for address, want := range map[string]string{
		"":                               "is missing",
		"https://hooks.example.com/\xff": "UTF-8",
		"https://hooks.example.com/" + long('a', 2048-25):     "more than 2048",
		"https://hooks.example.com:443/" + long('a', 2048-29): "more than 2048",
		"https://hooks.example.com/" + long('ü', 2048-26):     "more than 2048 characters after",
		"hooks.example.com":                                 "https://",
		"//hooks.example.com":                               "https://",
		"http://hooks.example.com":                          "https://",
		"http://hooks.example.com:443":                      "https://",
		"ftp://hooks.example.com":                           "https://",
		"javascript:alert(1)":                               "https://",
		"file:///etc/passwd":                                "https://",
		"https:hooks.example.com":                           "no host",
		"https:/hooks.example.com":                          "no host",
		"https://":                                          "no host",
		"https:///path":                                     "no host",
		"https://?query":                                    "no host",
		"https://:443/":                                     "no host",
		"https://hooks.example.com:80":                      "port other than 443",
		"https://hooks.example.com:8443":                    "port other than 443",
		"https://hooks.example.com:":                        "port is missing",
		"https://hooks.example.com:0":                       "port",
		"https://hooks.example.com:0443":                    "port",
		"https://hooks.example.com:65979":                   "port", // 443 + 65536
		"https://hooks.example.com:443:443":                 "",
		"https://hooks.example.com:+443":                    "",
		"https://hooks.example.com:https":                   "",
		"https://ada@hooks.example.com":                     "user name",
		"https://ada:secret@hooks.example.com":              "user name",
		"https://@hooks.example.com":                        "user name",
		"https://hooks.example.com@10.0.0.1":                "user name",
		"https://hooks.example.com#":                        "fragment",
		"https://hooks.example.com/#a":                      "fragment",
		"https://hooks.example.com/a b":                     "white space",
		" https://hooks.example.com":                        "white space",
		"https://hooks.example.com\n":                       "white space",
		"https://hooks.example.com/\r\nHost: a":             "white space",
		"https://hooks.example.com/\t":                      "white space",
		"https://hooks.example.com/\x00":                    "control",
		"https://hooks.example.com/\u0085":                  "white space",
		"https://hooks.example.com/\u00a0":                  "white space",
		"https://hooks.exam\u200bple.com":                   "invisible",
		"https://hooks.exam\u00adple.com":                   "invisible",
		"https://hooks.example.com/\u202e":                  "invisible",
		`https://hooks.example.com\@10.0.0.1`:               "backslash",
		`https:\\hooks.example.com`:                         "backslash",
		"https://hooks.example.com.":                        "ends in a dot",
		"https://hooks.example.com。":                        "ends in a dot",
		"https://.example.com":                              "empty part",
		"https://hooks..example.com":                        "empty part",
		"https://...":                                       "",
		"https://.":                                         "",
		"https://hooks_1.example.com":                       "characters",
		"https://hooks*.example.com":                        "characters",
		"https://%68ooks.example.com":                       "well-formed",
		"https://%E4%BE%8B.example.com":                     "percent",
		"https://-hooks.example.com":                        "hyphen",
		"https://hooks-.example.com":                        "hyphen",
		"https://" + long('a', 64) + ".example.com":         "63",
		"https://" + strings.Repeat("abc.", 62) + "abc.com": "253",
		"https://xn--a.example.com":                         "internationalized",
		"https://a.xn--a.example.com":                       "internationalized",
		"https://8.8.8.٨":                                   "internationalized",
		"https://xn--.example.com":                          "empty part",
		"https://a\u0301\u0301\u2024.example.com":           "", // some programs treat U+2024 as a dot
		"https://[2606:4700::1111%25eth0]":                  "percent",
		"https://[fe80::1%25eth0]":                          "percent",
		"https://[2606:4700::1111":                          "well-formed",
		"https://[2606:4700::11111]":                        "well-formed",
		"https://2606:4700::1111":                           "",
		"https://[8.8.8.8]":                                 "well-formed",
		"https://[hooks.example.com]":                       "well-formed",
		"https://[v1.a:b]":                                  "well-formed",
		"https://[2606:4700::1111]a":                        "",
		"https://[]":                                        "",
	} {
		_, err := g.Parse(address)
		wantFault(t, address, err, want)
		wantFault(t, address, g.Check(t.Context(), address), want)
	}
}

func TestOnlyDottedDecimalIPv4IsAccepted(t *testing.T) {
	g := newGuard(t, func(string, int) []netip.Addr { return addresses("8.8.8.8") })
	const want = "four plain decimal numbers"
	for _, host := range []string{
		"2130706433", "134744072", "0", "017700000001", "0x7f000001", "0X7F000001",
		"127.1", "127.0.1", "8.8", "8.8.2056", "0177.0.0.1", "010.8.8.8", "8.8.8.010", "08.8.8.8", "8.8.8.08",
		"0x7f.0.0.1", "0x7f.1", "8.8.8.0x8", "0x8.0x8.0x8.0x8", "hooks.0x7f", "hooks.example.1", "1.2.3.4.5",
		"256.0.0.1", "8.8.8.256", "8.8.8.8888888888888888888", "0x", "127.0.0.0x",
		"１２７.0.0.1", "8.8.8.８", "８.8.8.8", "①②⑦.0.0.1", "８。８。８。８", "8。8。8。8", "8.8.8.८", "8.8.8.xn--l4b", "८",
	} {
		_, err := g.Parse("https://" + host)
		wantFault(t, host, err, want)
		wantRefused(t, g, host+":443", want)
	}
}

// refusedAddresses maps lists of addresses, separated by spaces, to the reason for refusing them. Most
// were copied by hand from the IANA registries, independently of the table in the code. Most lists
// contain the first and the last address of a range and some in between.
var refusedAddresses = map[string]string{
	"0.0.0.0 0.0.0.1 0.255.255.255 ::":                                    "an address of this host",
	"10.0.0.0 10.1.2.3 10.255.255.255":                                    "a private address",
	"100.64.0.0 100.100.100.199 100.127.255.255":                          "a carrier-grade NAT address",
	"127.0.0.0 127.0.0.1 127.255.255.255":                                 "a loopback address",
	"169.254.0.0 169.254.1.1 169.254.255.255":                             "a link-local address",
	"172.16.0.0 172.20.1.1 172.31.255.255":                                "a private address",
	"192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.255":                         "an address reserved for IETF protocols",
	"192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255":                   "a documentation address",
	"203.0.113.0 203.0.113.255":                                           "a documentation address",
	"192.31.196.0 192.31.196.255 192.175.48.0 192.175.48.255":             "an address of the AS112 service",
	"192.52.193.0 192.52.193.255":                                         "a multicast tunnel address",
	"192.88.99.0 192.88.99.1 192.88.99.255":                               "a 6to4 relay address",
	"192.168.0.0 192.168.1.1 192.168.255.255":                             "a private address",
	"198.18.0.0 198.19.255.255":                                           "a benchmarking address",
	"224.0.0.0 224.0.0.1 239.255.255.255":                                 "a multicast address",
	"240.0.0.0 247.1.2.3 255.255.255.254":                                 "a reserved address",
	"255.255.255.255":                                                     "the broadcast address",
	"169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192":           "a cloud metadata address",
	"fd00:ec2::254 fd20:ce::254":                                          "a cloud metadata address",
	"::1":                                                                 "a loopback address",
	"::2 ::7f00:1 ::808:808 ::ffff:0:7f00:1":                              "an IPv4 address written as IPv6",
	"64:ff9b:: 64:ff9b::a00:1 64:ff9b::808:808 64:ff9b::ffff:ffff":        "a NAT64 address",
	"64:ff9b:1:: 64:ff9b:1::a00:1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff":     "a NAT64 address",
	"64:ff9b:2:: 64:ff9b:0:0:1:: 1:: 1fff:ffff::1 4000:: 8000::1 fbff::1": "an IPv6 address outside the global unicast range",
	"100:: 100::ffff:ffff:ffff:ffff":                                      "a discard-only address",
	"100:0:0:1:: 100:0:0:1::5 100:0:0:1:ffff:ffff:ffff:ffff":              "an address in the dummy prefix",
	"2001:: 2001:0:a00:1::1 2001:0:ffff:ffff:ffff:ffff:ffff:ffff":         "a Teredo address",
	"2001:1::1 2001:1::2 2001:1::3 2001:4::1 2001:1ff:ffff::1":            "an address reserved for IETF protocols",
	"2001:2:: 2001:2:0:ffff::1":                                           "a benchmarking address",
	"2001:3::1":                                                           "a multicast tunnel address",
	"2001:4:112::1 2620:4f:8000:: 2620:4f:8000:ffff::1":                   "an address of the AS112 service",
	"2001:10:: 2001:1f:ffff::1 2001:20::1 2001:2f:ffff::1":                "an ORCHID overlay identifier",
	"2001:30::1 2001:3f:ffff::1":                                          "a drone remote ID tag",
	"2001:db8:: 2001:db8:ffff:ffff::1 3fff:: 3fff:fff:ffff::1":            "a documentation address",
	"2002:: 2002:a00:1::1 2002:808:808::1 2002:ffff:ffff:ffff::1":         "a 6to4 address",
	"5f00::1 5f00:ffff::1":                                                "an SRv6 segment identifier",
	"fc00:: fd12:3456::1 fdff:ffff::1":                                    "a private address",
	"fe80::1 febf:ffff::1":                                                "a link-local address",
	"fec0::1 feff:ffff::1":                                                "a private address",
	"ff00:: ff02::1 ffff:ffff::1":                                         "a multicast address",
	"2606:4700::5efe:10.0.0.8 2606:4700::200:5efe:10.0.0.8":               "an ISATAP address that contains a private address",
	"2606:4700::100:5efe:127.0.0.1 2606:4700::300:5efe:127.0.0.1":         "an ISATAP address that contains a loopback address",
}

func TestSpecialAddressesAreRefusedAsLiteralsAndWhenResolved(t *testing.T) {
	for list, want := range refusedAddresses {
		for _, text := range strings.Fields(list) {
			literal, hostPort := "https://"+text, text+":443"
			addr := netip.MustParseAddr(text)
			if addr.Is6() {
				literal, hostPort = "https://["+addr.String()+"]", "["+addr.String()+"]:443"
			}
			g := newGuard(t, fixedZone(map[string]string{
				"hooks.example.com": text, "mixed.example.com": "8.8.8.8 2606:4700::1111 " + text}))
			_, err := g.Parse(literal)
			wantFault(t, literal, err, "is "+want)
			wantRefused(t, g, hostPort, "is "+want)
			resolved := "resolves to " + want
			wantFault(t, text, g.Check(t.Context(), "https://hooks.example.com"), resolved)
			wantFault(t, text, g.Check(t.Context(), "https://mixed.example.com"), resolved)
			wantRefused(t, g, "hooks.example.com:443", resolved)
			wantRefused(t, g, "hooks.example.com:443", "("+addr.String()+")")
		}
	}
}

func TestMappedIPv4IsRefusedAsLiteralAndCheckedWhenResolved(t *testing.T) {
	g := newGuard(t, fixedZone(map[string]string{"private.example.com": "::ffff:10.0.0.8",
		"public.example.com": "::ffff:8.8.8.8", "in.example.com": "::ffff:127.0.0.1"}), "127.0.0.0/8")
	for _, text := range []string{"::ffff:10.0.0.8", "::ffff:8.8.8.8", "::FFFF:0808:0808", "0:0:0:0:0:ffff:127.0.0.1"} {
		_, err := g.Parse("https://[" + text + "]")
		wantFault(t, text, err, "an IPv4 address written as IPv6")
		wantRefused(t, g, "["+text+"]:443", "an IPv4 address written as IPv6")
	}
	const private = "resolves to a private address (10.0.0.8)"
	wantFault(t, "private", g.Check(t.Context(), "https://private.example.com"), private)
	wantRefused(t, g, "private.example.com:443", private)
	for _, address := range []string{"https://public.example.com", "https://in.example.com"} {
		if err := g.Check(t.Context(), address); err != nil {
			t.Errorf("Check %s: got error %v, want none", address, err)
		}
	}
}

func TestPublicAddressesAreAccepted(t *testing.T) {
	for _, text := range strings.Fields(`1.0.0.0 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0
		126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255
		192.0.1.0 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0
		192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
		203.0.114.0 223.255.255.255 2000:: 2001:200:: 2001:db7:ffff::1 2001:db9:: 2003:: 2606:4700::1111 2620:4f:7fff::1
		2620:4f:8001:: 3ffe::1 3fff:1000:: 2606:4700::5efe:8.8.8.8 2606:4700::400:5efe:10.0.0.8 2606:4700::5eff:10.0.0.8`) {
		g := newGuard(t, fixedZone(map[string]string{"hooks.example.com": text}))
		if err := g.Check(t.Context(), "https://hooks.example.com"); err != nil {
			t.Errorf("Check %s: got error %v, want none", text, err)
		}
		if addr := netip.MustParseAddr(text); addr.Is4() {
			if _, err := g.Parse("https://" + text); err != nil {
				t.Errorf("Parse %s: got error %v, want none", text, err)
			}
		} else if _, err := g.Parse("https://[" + text + "]"); err != nil {
			t.Errorf("Parse %s: got error %v, want none", text, err)
		}
	}
}

func TestPrivateNetworkNamesAreRefusedEvenWithPublicAddresses(t *testing.T) {
	g := newGuard(t, func(string, int) []netip.Addr { return addresses("8.8.8.8") })
	for _, name := range []string{
		"localhost", "LocalHost", "a.localhost", "ｌｏｃａｌｈｏｓｔ", "ⓛocalhost", "localhost.localdomain", "printer.local",
		"db.internal",
		"metadata.google.internal", "nas.home.arpa", "abc.onion", "a.invalid", "fritz.home", "wiki.lan", "wiki.corp",
		"wiki.intranet",
		"a.private", "intranet", "com", "db",
	} {
		const want = "does not exist on the public internet"
		_, err := g.Parse("https://" + name)
		wantFault(t, name, err, want)
		wantRefused(t, g, name+":443", want)
	}
}

func TestCheckRefusesUnresolvableNames(t *testing.T) {
	g := newGuard(t, nil)
	if _, err := g.Parse("https://nowhere.example.com"); err != nil {
		t.Fatal(err)
	}
	wantFault(t, "nowhere", g.Check(t.Context(), "https://nowhere.example.com"), "does not exist")

	broken, err := hook.NewGuard(hook.GuardOptions{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("unplugged") }}})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, "unplugged", broken.Check(t.Context(), "https://hooks.example.com"), "could not be resolved")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Check(canceled, "https://hooks.example.com"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: got error %v, want context.Canceled", err)
	}
}

func TestDialOfUnresolvableNameIsRetryable(t *testing.T) {
	_, err := newGuard(t, nil).Dial(t.Context(), "tcp", "nowhere.example.com:443")
	var refused *hook.Refused
	var dns *net.DNSError
	if errors.As(err, &refused) || !errors.As(err, &dns) {
		t.Errorf("got error %v, want a DNS error, which is retried", err)
	}
}

func TestDialRefusesWhatParseRefuses(t *testing.T) {
	g := newGuard(t, func(string, int) []netip.Addr { return addresses("8.8.8.8") })
	for hostPort, want := range map[string]string{
		"hooks.example.com:80":      "port other than 443",
		"hooks.example.com:8443":    "port other than 443",
		"8.8.8.8:80":                "port other than 443",
		"[2606:4700::1111]:80":      "port other than 443",
		"hooks.example.com:https":   "not a host and a port",
		"hooks.example.com":         "not a host and a port",
		"hooks.example.com:":        "not a host and a port",
		":443":                      "missing",
		"hooks.example.com.:443":    "ends in a dot",
		"[fe80::1%lo]:443":          "zone",
		"[2606:4700::1111%1]:443":   "zone",
		"hooks_1.example.com:443":   "characters",
		"hooks.example.com\x00:443": "characters",
	} {
		wantRefused(t, g, hostPort, want)
	}
	for _, network := range []string{"udp", "unix", "ip", "tcp5", ""} {
		_, err := g.Dial(t.Context(), network, "8.8.8.8:443")
		var refused *hook.Refused
		if !errors.As(err, &refused) {
			t.Errorf("network %q: got error %v, want a Refused error", network, err)
		}
	}
}

// countingListener listens on loopback. The function count closes the listener and returns the number
// of connections that were made.
func countingListener(t *testing.T) (addr netip.AddrPort, count func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan int)
	go func() {
		n := 0
		for {
			conn, err := l.Accept()
			if err != nil {
				done <- n
				return
			}
			n++
			conn.Close()
		}
	}()
	closed := false
	count = func() int { closed = true; l.Close(); return <-done }
	t.Cleanup(func() {
		if !closed {
			count()
		}
	})
	return netip.MustParseAddrPort(l.Addr().String()), count
}

func portOf(at netip.AddrPort) string { _, port, _ := net.SplitHostPort(at.String()); return port }

func TestDialRefusesReboundName(t *testing.T) {
	at, count := countingListener(t)
	// An exception for another address allows any port. So the connection would succeed if Dial did not
	// check the address.
	private := at.Addr()
	lookups := 0
	g := newGuard(t, func(name string, nth int) []netip.Addr {
		lookups++
		if nth%2 == 0 {
			return addresses("8.8.8.8")
		}
		return []netip.Addr{private}
	}, "10.9.9.9")
	for range 3 {
		if err := g.Check(t.Context(), "https://rebound.example.com"); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, g, "rebound.example.com:"+portOf(at), "resolves to a loopback address (127.0.0.1)")
	}
	if lookups != 12 { // A and AAAA, by Check and by Dial, three times
		t.Errorf("got %d DNS lookups, want 12: Dial must resolve the name itself", lookups)
	}

	// An http.Client wraps the Refused error of Dial.
	always := newGuard(t, fixedZone(map[string]string{"private.example.com": "127.0.0.1"}), "10.9.9.9")
	transport := &http.Transport{DialContext: always.Dial}
	defer transport.CloseIdleConnections()
	_, err := (&http.Client{Transport: transport}).Get("http://private.example.com:" + portOf(at))
	var refused *hook.Refused
	if !errors.As(err, &refused) || refused.Reason != "resolves to a loopback address (127.0.0.1)" {
		t.Errorf("got error %v, want a Refused error", err)
	}
	if n := count(); n != 0 {
		t.Errorf("got %d connections, want none", n)
	}
}

func TestNameWithOneForbiddenAddressIsRefused(t *testing.T) {
	at, count := countingListener(t)
	// 127.0.0.1 is allowed, but each name also resolves to a forbidden address.
	g := newGuard(t, fixedZone(map[string]string{"a.example.com": "127.0.0.9 127.0.0.1",
		"b.example.com": "10.0.0.8 127.0.0.1"}), "127.0.0.1")
	wantRefused(t, g, "a.example.com:"+portOf(at), "a loopback address (127.0.0.9)")
	if n := count(); n != 0 {
		t.Errorf("got %d connections, want none", n)
	}
}

func TestCheckWaitsFiveSecondsForDNS(t *testing.T) {
	silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		return client, nil
	}}
	g, err := hook.NewGuard(hook.GuardOptions{Resolver: silent})
	if err != nil {
		t.Fatal(err)
	}
	// Create the global state of package net outside the bubble.
	newGuard(t, nil).Check(t.Context(), "https://hooks.example.com")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := g.Check(t.Context(), "https://hooks.example.com")
		wantFault(t, "silent", err, "could not be resolved")
		if waited := time.Since(start); waited != 5*time.Second {
			t.Errorf("Check took %s, want 5s", waited)
		}
		time.Sleep(time.Minute) // goroutines of package net end later than Check
	})
}
