package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
)

const (
	maxAddress     = 2048 // characters of a webhook's address
	resolveTimeout = 5 * time.Second
	dialTimeout    = 10 * time.Second
)

// GuardOptions are what the operator decides. The zero value reaches the
// public internet over https and nothing else.
type GuardOptions struct {
	// Allow names the operator's exceptions, for which http and any port are
	// allowed too. A host (any port) or host:port matches the host as it stands
	// in a webhook's address, whatever it resolves to. An IP address or a CIDR
	// matches the address that is connected to, on any port, so names that
	// resolve into it are allowed as well.
	Allow []string
	// Resolver looks names up; nil is Go's own.
	Resolver *net.Resolver
}

// Guard decides which addresses the server calls for the people who type them
// in. It denies by default: what it allows is https on port 443 of a host on
// the public internet, or an exception of the operator. A Guard never changes
// and may be shared.
type Guard struct {
	hosts    map[string]bool // "host" and "host:port", in the spelling of parseHost
	prefixes []netip.Prefix
	resolver *net.Resolver
}

// Refused is the error of a dial that the guard does not allow. Trying again
// does not help: the delivery has failed.
type Refused struct {
	// Reason says why in words that follow "the address", for the delivery log:
	// "resolves to a private address (10.0.0.8)".
	Reason string
}

func (r *Refused) Error() string { return "the address " + r.Reason }

// NewGuard refuses an exception that is not a host, host:port, IP address or
// CIDR, and names it.
func NewGuard(o GuardOptions) (*Guard, error) {
	g := &Guard{hosts: map[string]bool{}, resolver: o.Resolver}
	if g.resolver == nil {
		// Go's own even in a build with cgo: C's reads 0x7f.1 as an address.
		g.resolver = &net.Resolver{PreferGo: true}
	}
	for _, exception := range o.Allow {
		if err := g.allow(strings.TrimSpace(exception)); err != nil {
			return nil, fmt.Errorf("webhook exception %q: %w", exception, err)
		}
	}
	return g, nil
}

func (g *Guard) allow(exception string) error {
	if strings.Contains(exception, "/") {
		prefix, err := netip.ParsePrefix(exception)
		switch {
		case err != nil:
			return errors.New("is not a CIDR such as 10.1.0.0/16; write a host without https:// and path")
		case prefix.Addr().Is4In6():
			return errors.New("is an IPv4 range written as IPv6; write it as IPv4")
		case prefix != prefix.Masked():
			return fmt.Errorf("has bits beyond its mask; write %s", prefix.Masked())
		}
		g.prefixes = append(g.prefixes, prefix)
		return nil
	}
	text, port := exception, ""
	// An IPv6 address has colons of its own, and a port only behind brackets.
	if inner, found := strings.CutPrefix(exception, "["); found && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]")
	} else if found || strings.Count(exception, ":") == 1 {
		var err error
		if text, port, err = net.SplitHostPort(exception); err != nil || !validPort(port) {
			return errors.New("is not host:port with a port from 1 to 65535")
		}
	}
	if strings.HasPrefix(exception, "[") && !strings.Contains(text, ":") {
		return errors.New("has brackets around what is not an IPv6 address")
	}
	h, reason := parseHost(text)
	switch {
	case reason != "":
		return fmt.Errorf("its host %s", reason)
	case h.addr.IsValid() && port == "":
		g.prefixes = append(g.prefixes, netip.PrefixFrom(h.addr, h.addr.BitLen()))
	case port == "":
		g.hosts[h.name] = true
	default:
		g.hosts[net.JoinHostPort(h.name, port)] = true
	}
	return nil
}

// target is where an address leads, and what the guard may say without DNS.
type target struct {
	host
	// named: the operator named this host, so it is not looked at further.
	named bool
	// inside: only addresses in the operator's ranges will do, because the
	// scheme, the port or the name is not one of the public internet.
	inside bool
}

// target judges all that is known before the name is resolved. The reason
// follows "the address"; scheme is empty at the dial, which is not told it.
func (g *Guard) target(scheme string, h host, port string) (target, string) {
	t := target{host: h}
	if g.hosts[h.name] || g.hosts[net.JoinHostPort(h.name, port)] {
		t.named = true
		return t, ""
	}
	reason := ""
	reach := scopeOf(h.name)
	switch {
	case h.addr.IsValid() && g.covers(h.addr):
		return t, ""
	case scheme == "http":
		reason = "does not begin with https://"
	case port != "443":
		reason = "has a port other than 443"
	case h.addr.IsValid():
		if reason = refusal(h.addr); reason != "" {
			reason = fmt.Sprintf("is %s (%s)", reason, h.addr)
		}
		return t, reason
	case reach != public:
		reason = "has a host name that is not one of the public internet"
	default:
		return t, ""
	}
	// The dial sees no scheme, so http to a public host must show in the port.
	if h.addr.IsValid() || reach == never || len(g.prefixes) == 0 || scheme == "http" && port == "443" {
		return t, reason
	}
	t.inside = true
	return t, ""
}

// covers tells whether the operator allows an address.
func (g *Guard) covers(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range g.prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// refuse says why a name that resolves to addr is not called, if so.
func (g *Guard) refuse(t target, addr netip.Addr) *Refused {
	if g.covers(addr) {
		return nil
	}
	reason := refusal(addr)
	if reason == "" {
		if !t.inside {
			return nil
		}
		reason = "an address that only https on port 443 of a public name reaches"
	}
	return &Refused{fmt.Sprintf("resolves to %s (%s)", reason, addr.Unmap().WithZone(""))}
}

// Parse says all about an address that can be said without asking DNS, and
// returns it in one spelling: scheme and host in lower-case ASCII, without the
// port that its scheme implies. Parsing what it returns gives the same again.
//
// It refuses what is not https on port 443 of a host that may be public: other
// schemes and ports, user info, fragments, control and invisible characters,
// white space, backslashes, more than 2,048 characters, every spelling of a
// host that some program might read differently, names of private networks,
// and special addresses.
//
// A host that the operator named, or an address in the operator's ranges, may
// have http and any port. As soon as there is such a range, so may any name
// but localhost and its like (and except http on port 443), since the name
// may resolve into the range: Check and Dial decide that.
//
// The error is a fault invalid_request whose message begins with "url: " and
// holds nothing of the address but an IP.
func (g *Guard) Parse(address string) (*url.URL, error) {
	u, _, err := g.parse(address)
	return u, err
}

func (g *Guard) parse(address string) (*url.URL, target, error) {
	u, reason := parseURL(address)
	if reason != "" {
		return nil, target{}, board.Invalid("url: %s.", reason)
	}
	implied := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	port := cmp.Or(u.Port(), implied)
	h, reason := parseHost(u.Hostname())
	if reason != "" {
		return nil, target{}, board.Invalid("url: its host %s.", reason)
	}
	t, reason := g.target(u.Scheme, h, port)
	if reason != "" {
		return nil, target{}, board.Invalid("url: the address %s; give an https:// address on port 443 of a host on the public internet.", reason)
	}
	u.Host = h.name
	if h.addr.Is6() {
		u.Host = "[" + h.name + "]"
	}
	if port != implied {
		u.Host += ":" + port
	}
	if utf8.RuneCountInString(u.String()) > maxAddress {
		return nil, target{}, board.Invalid("url: the address has more than %d characters when its special characters are escaped.", maxAddress)
	}
	return u, t, nil
}

// parseURL reads an address and refuses what a webhook has no use for, or what
// two programs may read as two addresses.
func parseURL(address string) (u *url.URL, reason string) {
	switch {
	case address == "":
		return nil, "the address is missing"
	case !utf8.ValidString(address):
		return nil, "the address is not valid UTF-8"
	case utf8.RuneCountInString(address) > maxAddress:
		return nil, fmt.Sprintf("the address has more than %d characters", maxAddress)
	case strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }):
		return nil, "the address has white space, control characters or invisible ones"
	case strings.Contains(address, `\`):
		return nil, "the address has a backslash"
	case strings.Contains(address, "#"):
		return nil, "the address has a fragment; leave out # and what follows"
	}
	// Not wrapped: the error quotes the address, which is a secret.
	u, err := url.Parse(address)
	if err != nil {
		return nil, "the address is not a well-formed URL"
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil, "the address does not begin with https://"
	}
	authority := strings.TrimPrefix(address[len(u.Scheme):], "://")
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority = authority[:i]
	}
	switch {
	case u.Hostname() == "":
		return nil, "the address has no host"
	case u.User != nil:
		return nil, "the address has a user name or password; leave out what stands before @"
	case strings.Contains(authority, "%"):
		// Go has unescaped its copy, and others would not.
		return nil, "its host has a percent sign; write the host without escapes and zone"
	case strings.HasSuffix(authority, ":"):
		return nil, "its port is missing; leave out the colon"
	case u.Port() != "" && !validPort(u.Port()):
		return nil, "its port is not a number from 1 to 65535"
	}
	return u, ""
}

// validPort takes a port in its one spelling, without signs and leading zeros.
func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// Check is Parse, and then the name is resolved, within 5 seconds: it refuses
// when any address of the host is refused, or when it has none. A host that the
// operator named is not resolved. The error is a fault as Parse's, or ctx's own.
//
// That an address passed says nothing of what its name resolves to later; for
// that there is Dial.
func (g *Guard) Check(ctx context.Context, address string) error {
	_, t, err := g.parse(address)
	if err != nil {
		return err
	}
	if t.named || t.addr.IsValid() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := g.resolver.LookupNetIP(bounded, "ip", g.query(t))
	if ctx.Err() != nil {
		return fmt.Errorf("resolve a webhook's host: %w", ctx.Err())
	}
	if err != nil {
		var failed *net.DNSError
		if errors.As(err, &failed) && failed.IsNotFound {
			return board.Invalid("url: its host does not exist: it resolves to no address.")
		}
		return board.Invalid("url: its host could not be resolved; check the name, or try again later.")
	}
	for _, addr := range addrs {
		if refused := g.refuse(t, addr); refused != nil {
			return board.Invalid("url: the address %s; give an https:// address on port 443 of a host on the public internet.", refused.Reason)
		}
	}
	return nil
}

// query is the name to look up: absolute, so that the search list of this
// machine's network does not complete what a stranger typed, unless the operator
// opened that network.
func (g *Guard) query(t target) string {
	if t.named || t.addr.IsValid() || len(g.prefixes) > 0 {
		return t.name
	}
	return t.name + "."
}

// Dial connects to hostPort over TCP, for http.Transport.DialContext. It judges
// the host as Parse does, and then, at the socket and before a packet leaves,
// each address that the connection is really made to, so a name that resolves to
// something else by now does not get past it. The first refused address ends
// the dial. The error is then a *Refused; any other is the network's or ctx's.
// It is not told the scheme, so the caller takes the URL from Parse, each time.
func (g *Guard) Dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, &Refused{"is not reached over TCP"}
	}
	text, port, err := net.SplitHostPort(hostPort)
	if err != nil || !validPort(port) {
		return nil, &Refused{"is not a host and a port"}
	}
	h, reason := parseHost(text)
	if reason != "" {
		return nil, &Refused{"has a host that " + reason}
	}
	t, reason := g.target("", h, port)
	if reason != "" {
		return nil, &Refused{reason}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var refused atomic.Pointer[Refused]
	dialer := &net.Dialer{Timeout: dialTimeout, Resolver: g.resolver}
	if !t.named {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			r := &Refused{"resolves to what is not an IP address"}
			if peer, err := netip.ParseAddrPort(address); err == nil {
				r = g.refuse(t, peer.Addr())
			}
			if r == nil {
				return nil
			}
			refused.Store(r)
			stop()
			return r
		}
	}
	conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(g.query(t), port))
	if r := refused.Load(); r != nil {
		if conn != nil {
			conn.Close() // IPv4 and IPv6 were tried side by side
		}
		return nil, r
	}
	return conn, err
}
