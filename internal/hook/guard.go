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
	maxAddress     = 2048 // characters of a webhook's URL
	resolveTimeout = 5 * time.Second
	dialTimeout    = 10 * time.Second
)

// GuardOptions holds the operator's settings. The zero value allows only https requests
// to the public internet.
type GuardOptions struct {
	// Allow lists exceptions, for which http and ports other than 443 are also
	// allowed. A host name, with or without a port, matches the host in a webhook's
	// URL. The addresses of that host are not checked. An IP address or CIDR matches
	// the address of the connection on any port, so names that resolve to it are also
	// allowed.
	Allow []string
	// Resolver looks up names; nil means Go's own.
	Resolver *net.Resolver
}

// Guard decides which URLs entered by users the server may call. It denies by
// default. It allows https on port 443 of hosts on the public internet, and the
// operator's exceptions. A Guard is immutable and safe for concurrent use.
type Guard struct {
	hosts    map[string]bool // "host" and "host:port", as spelled by parseHost
	prefixes []netip.Prefix
	resolver *net.Resolver
}

// Refused is the error of Dial for an address that the guard rejects. A retry cannot
// succeed, so the delivery fails.
type Refused struct {
	// Reason completes "the address" for the delivery log: "resolves to a
	// private address (10.0.0.8)".
	Reason string
}

func (r *Refused) Error() string { return "the address " + r.Reason }

// NewGuard returns a guard. It returns an error for an exception that is not a host,
// host:port, IP address or CIDR.
func NewGuard(o GuardOptions) (*Guard, error) {
	g := &Guard{hosts: map[string]bool{}, resolver: o.Resolver}
	if g.resolver == nil {
		// Use Go's resolver even in a build with cgo, because C's resolver parses
		// 0x7f.1 as an address.
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
			return errors.New("is not a CIDR such as 10.1.0.0/16. Write a host without https:// or a path")
		case prefix.Addr().Is4In6():
			return errors.New("is an IPv4 range written as IPv6. Write it as IPv4")
		case prefix != prefix.Masked():
			return fmt.Errorf("has bits beyond its mask. Write %s", prefix.Masked())
		}
		g.prefixes = append(g.prefixes, prefix)
		return nil
	}
	text, port := exception, ""
	// An IPv6 address contains colons, so its port must follow brackets.
	if inner, found := strings.CutPrefix(exception, "["); found && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]")
	} else if found || strings.Count(exception, ":") == 1 {
		var err error
		if text, port, err = net.SplitHostPort(exception); err != nil || !validPort(port) {
			return errors.New("is not host:port with a port from 1 to 65535")
		}
	}
	if strings.HasPrefix(exception, "[") && !strings.Contains(text, ":") {
		return errors.New("has brackets around something that is not an IPv6 address")
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

// target is the destination of a URL, with what the guard can decide without
// DNS.
type target struct {
	host
	// named means that the operator allowed this host by name. It is not
	// checked further.
	named bool
	// inside means that only addresses in the operator's ranges are allowed,
	// because the scheme, the port or the name is not allowed on the public
	// internet.
	inside bool
}

// target checks the parts of a destination that are known before the name is resolved.
// It returns the reason why the destination is not allowed, or "". The reason completes
// "the address". Dial does not know the scheme and passes "".
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
		if reason = forbiddenReason(h.addr); reason != "" {
			reason = fmt.Sprintf("is %s (%s)", reason, h.addr)
		}
		return t, reason
	case reach != public:
		reason = "has a host name that does not exist on the public internet"
	default:
		return t, ""
	}
	// Dial does not know the scheme, and would treat http on port 443 as https. So
	// that combination is refused here.
	if h.addr.IsValid() || reach == never || len(g.prefixes) == 0 || scheme == "http" && port == "443" {
		return t, reason
	}
	t.inside = true
	return t, ""
}

// covers reports whether the operator allowed an address.
func (g *Guard) covers(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range g.prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// refuse returns the reason why a name that resolves to addr must not be called, or nil.
func (g *Guard) refuse(t target, addr netip.Addr) *Refused {
	if g.covers(addr) {
		return nil
	}
	reason := forbiddenReason(addr)
	if reason == "" {
		if !t.inside {
			return nil
		}
		reason = "an address that is only reachable by https on port 443 of a public name"
	}
	return &Refused{fmt.Sprintf("resolves to %s (%s)", reason, addr.Unmap().WithZone(""))}
}

// notPublic returns the error for a URL that is not allowed. The reason completes "the
// address".
func notPublic(reason string) error {
	return board.Invalid(
		"url: the address %s. Use an https:// address on port 443 of a host on the public internet.", reason).
		In("url", board.RuleValue)
}

// Parse checks everything about a URL that needs no DNS. It returns the URL in
// a canonical form: scheme and host in lower-case ASCII, without the default
// port. Parsing the result returns it unchanged.
//
// It allows only https on port 443 of a host that may be public. It rejects other
// schemes and ports, user info, fragments, control and invisible
// characters, white space, backslashes, more than 2,048 characters, spellings
// of a host that programs may interpret differently, names of private networks,
// and special addresses.
//
// A host that the operator named, or an address in the operator's ranges, may
// use http and any port. If there is such a range, any name except localhost
// and the like may use them too (but not http on port 443), because the name may
// resolve to an address in the range. Check and Dial decide that.
//
// The error is an invalid_request whose message starts with "url: ". Of the URL, it
// contains at most an IP address.
func (g *Guard) Parse(address string) (*url.URL, error) {
	u, _, err := g.parse(address)
	return u, err
}

func (g *Guard) parse(address string) (*url.URL, target, error) {
	u, reason := parseURL(address)
	if reason != "" {
		return nil, target{}, board.Invalid("url: %s.", reason).In("url", board.RuleValue)
	}
	implied := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	port := cmp.Or(u.Port(), implied)
	h, reason := parseHost(u.Hostname())
	if reason != "" {
		return nil, target{}, board.Invalid("url: its host %s.", reason).In("url", board.RuleValue)
	}
	t, reason := g.target(u.Scheme, h, port)
	if reason != "" {
		return nil, target{}, notPublic(reason)
	}
	u.Host = h.name
	if h.addr.Is6() {
		u.Host = "[" + h.name + "]"
	}
	if port != implied {
		u.Host += ":" + port
	}
	if utf8.RuneCountInString(u.String()) > maxAddress {
		return nil, target{}, board.Invalid("url: the address has more than %d characters after escaping special "+
			"characters.", maxAddress).In("url", board.RuleValue)
	}
	return u, t, nil
}

// parseURL parses a URL. It rejects parts that webhooks do not need, and spellings that
// programs may interpret differently.
func parseURL(address string) (u *url.URL, reason string) {
	switch {
	case address == "":
		return nil, "the address is missing"
	case !utf8.ValidString(address):
		return nil, "the address is not valid UTF-8"
	case utf8.RuneCountInString(address) > maxAddress:
		return nil, fmt.Sprintf("the address has more than %d characters", maxAddress)
	case strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }):
		return nil, "the address contains white space, control characters or invisible characters"
	case strings.Contains(address, `\`):
		return nil, "the address contains a backslash"
	case strings.Contains(address, "#"):
		return nil, "the address has a fragment. Remove # and everything after it"
	}
	// Not wrapped, because the error quotes the URL, which is a secret.
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
		return nil, "the address has a user name or password. Remove everything before @"
	case strings.Contains(authority, "%"):
		// Package url has unescaped the host, but other programs would not.
		return nil, "its host contains a percent sign. Write the host without escapes or a zone"
	case strings.HasSuffix(authority, ":"):
		return nil, "its port is missing. Remove the colon"
	case u.Port() != "" && !validPort(u.Port()):
		return nil, "its port is not a number from 1 to 65535"
	}
	return u, ""
}

// validPort reports whether a port is valid and in its canonical form, without a sign
// or leading zeros.
func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// Check calls Parse and then resolves the name, within 5 seconds. It returns an
// error if any address of the host is refused, or if there is none. A host that
// the operator named is not resolved. The error is a fault like Parse's, or wraps
// ctx's error.
//
// The name may resolve to another address later, so Dial checks again.
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
			return board.Invalid("url: its host does not exist or has no IP address.").
				In("url", board.RuleValue)
		}
		return board.Invalid("url: its host could not be resolved. Check the name, or try again later.").
			In("url", board.RuleValue)
	}
	for _, addr := range addrs {
		if refused := g.refuse(t, addr); refused != nil {
			return notPublic(refused.Reason)
		}
	}
	return nil
}

// query returns the name to look up. The name is absolute, so that the DNS search list
// of this machine is not applied to a user's input, unless the operator allowed private
// ranges.
func (g *Guard) query(t target) string {
	if t.named || t.addr.IsValid() || len(g.prefixes) > 0 {
		return t.name
	}
	return t.name + "."
}

// Dial connects to hostPort over TCP, for http.Transport.DialContext. It checks
// the host like Parse. Then it checks each address at the socket, before any
// packet is sent, so a name that now resolves to another address is caught. The
// first refused address ends the dial with a *Refused error. Other errors come
// from the network or ctx. Dial does not know the scheme, so the caller must
// take the URL from Parse each time.
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
			r := &Refused{"resolves to something that is not an IP address"}
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
			conn.Close() // IPv4 and IPv6 were tried in parallel
		}
		return nil, r
	}
	return conn, err
}
