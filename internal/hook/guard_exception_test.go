package hook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cardwall/internal/hook"
)

func TestExceptionsAllowHTTPAndTheirPorts(t *testing.T) {
	at, _ := countingListener(t)
	port := ":" + portOf(at)
	names := fixedZone(map[string]string{
		"in.example.com": "127.0.0.1", "out.example.com": "8.8.8.8", "half.example.com": "127.0.0.1 8.8.8.8",
		"elsewhere.example.com": "10.0.0.8", "db.internal": "127.0.0.1", "out.internal": "8.8.8.8", "n8n": "127.0.0.1",
		"localhost": "127.0.0.1", "xn--bcher-kva.example.com": "127.0.0.1",
	})
	// accepted means that Parse, Check and Dial accept the address. parsed means that only Parse
	// accepts it, because the name could resolve to an allowed range. refused means that Parse and Check
	// reject it.
	const accepted, parsed, refused = "accepted", "parsed", "refused"
	for _, c := range []struct{ allow, address, want string }{
		{"in.example.com", "http://in.example.com" + port, accepted},
		{"in.example.com", "https://IN.example.com" + port, accepted},
		{"In.Example.COM", "http://in.example.com" + port, accepted},
		{"in.example.com" + port, "http://in.example.com" + port, accepted},
		{"in.example.com:1", "http://in.example.com" + port, refused},
		{"in.example.com:1", "http://in.example.com", refused},
		{"in.example.com", "http://a.in.example.com" + port, refused},
		{"example.com", "http://in.example.com" + port, refused},
		{"bücher.example.com", "http://xn--bcher-kva.example.com" + port, accepted},
		{"localhost", "http://localhost" + port, accepted},
		{"localhost" + port, "http://localhost" + port, accepted},
		{"localhost:1", "http://localhost" + port, refused},
		{"db.internal", "http://db.internal" + port, accepted},
		{"n8n", "http://n8n" + port, accepted},

		{"127.0.0.1" + port, "http://127.0.0.1" + port, accepted},
		{"127.0.0.1:1", "http://127.0.0.1" + port, refused},
		// An exception with a port matches only the host as written.
		{"127.0.0.1" + port, "http://in.example.com" + port, refused},
		{"127.0.0.1", "http://127.0.0.1" + port, accepted},
		{"127.0.0.1", "https://127.0.0.1" + port, accepted},
		{"127.0.0.2", "http://127.0.0.1" + port, refused},
		{"127.0.0.1", "http://in.example.com" + port, accepted},
		{"127.0.0.2", "http://in.example.com" + port, parsed},
		{"127.0.0.0/8", "http://127.0.0.1" + port, accepted},
		{"127.0.0.0/8", "http://in.example.com" + port, accepted},
		{"127.0.0.0/8", "https://in.example.com" + port, accepted},
		{"127.0.0.0/8", "http://out.example.com" + port, parsed},
		{"127.0.0.0/8", "http://out.example.com", parsed},
		{"127.0.0.0/8", "http://half.example.com" + port, parsed},
		{"127.0.0.0/8", "https://elsewhere.example.com", parsed},
		{"127.0.0.0/8", "http://elsewhere.example.com" + port, parsed},
		{"127.0.0.0/8", "http://out.example.com:443", refused}, // Dial cannot distinguish this from https
		{"127.0.0.0/8", "http://in.example.com:443", refused},
		{"127.0.0.0/8", "http://db.internal" + port, accepted},
		{"127.0.0.0/8", "https://out.internal", parsed},
		{"127.0.0.0/8", "http://n8n" + port, accepted},
		{"127.0.0.0/8", "http://localhost" + port, refused},
		{"127.0.0.0/8", "http://8.8.8.8", refused},
		{"127.0.0.0/8", "http://8.8.8.8:443", refused},
		{"127.0.0.0/8", "https://8.8.8.8:444", refused},
		{"127.0.0.0/8", "https://10.0.0.8", refused},
		{"127.0.0.0/8", "http://2130706433" + port, refused},
		{"127.0.0.0/8", "http://127.1" + port, refused},
		{"127.0.0.0/8", "http://ada@127.0.0.1" + port, refused},
		{"127.0.0.0/8", "http://127.0.0.1:0" + port[1:], refused},
		{"127.0.0.0/8", "http://127.0.0.1:", refused},
		{"127.0.0.0/8", "ftp://127.0.0.1" + port, refused},
		{"::1", "http://127.0.0.1" + port, refused},
		{"::ffff:0:0/1", "http://127.0.0.1" + port, "malformed"},
	} {
		t.Run(c.allow+" "+c.address, func(t *testing.T) {
			g, err := hook.NewGuard(hook.GuardOptions{Allow: []string{c.allow}, Resolver: names.resolver()})
			if err != nil {
				if c.want != "malformed" {
					t.Fatal(err)
				}
				return
			}
			u, err := g.Parse(c.address)
			if (err == nil) != (c.want != refused) {
				t.Errorf("Parse: got error %v, want %s", err, c.want)
			}
			if err := g.Check(t.Context(), c.address); (err == nil) != (c.want == accepted) {
				t.Errorf("Check: got error %v, want %s", err, c.want)
			}
			if u == nil {
				return
			}
			hostPort := u.Host
			if u.Port() == "" {
				hostPort += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
			}
			conn, err := g.Dial(t.Context(), "tcp", hostPort)
			if conn != nil {
				conn.Close()
			}
			// The result for "half" depends on the order in which DNS returns the addresses.
			if (err == nil) != (c.want == accepted) && !strings.Contains(c.address, "half") {
				t.Errorf("Dial: got error %v, want %s", err, c.want)
			}
		})
	}
}

func TestIPv6ExceptionsMatchInAnySpelling(t *testing.T) {
	for _, allow := range []string{"::1", "[::1]", "0:0::0:1", "::/64", "[0::1]:8080"} {
		g := newGuard(t, nil, allow)
		u, err := g.Parse("http://[0:0:0::1]:8080/a")
		if err != nil || u.String() != "http://[::1]:8080/a" {
			t.Errorf("%s: got %v, error %v; want http://[::1]:8080/a", allow, u, err)
		}
	}
	if _, err := newGuard(t, nil, "[::1]:8081").Parse("http://[::1]:8080"); err == nil {
		t.Error("exception for port 8081: got no error for port 8080, want one")
	}
}

func TestMalformedExceptionsAreNamedInTheError(t *testing.T) {
	for _, exception := range []string{
		"", " ", "https://n8n.example.com", "n8n.example.com/path", "n8n.example.com:", "n8n.example.com:0",
		"n8n.example.com:080", "n8n.example.com:65536",
		"n8n.example.com:http", "a:1:2", "*.example.com", "ada@example.com", "two words", "a..b", "example.com.",
		"10.0.0.0/33",
		"10.0.0.1/8", "10.0.0/8", "fe80::1%eth0", "[::1", "::1]", "[::1]:", "[::1]8080", "[10.0.0.1]", "[n8n]:80", "0x7f.1",
		"127.1", "010.0.0.1",
		"::ffff:10.0.0.0/104", "::ffff:10.0.0.1", "/", "10.0.0.0/", "[]",
	} {
		_, err := hook.NewGuard(hook.GuardOptions{Allow: []string{"fine.example.com", exception}})
		if err == nil || !strings.Contains(err.Error(), `"`+exception+`"`) {
			t.Errorf("%q: got error %v, want one that contains the exception", exception, err)
		}
	}
}

func TestHTTPClientReachesAnException(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "received")
	}))
	defer server.Close()
	g := newGuard(t, nil, "127.0.0.0/8")
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = g.Dial
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); string(body) != "received" {
		t.Errorf("got body %q, want %q", body, "received")
	}
}
