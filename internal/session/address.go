package session

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// address returns the IP address of the client. If the connection comes from a trusted
// proxy, it returns the last address in X-Forwarded-For that does not belong to a trusted
// proxy. It ignores earlier entries, because the client can forge them. Otherwise, it
// returns the address of the connection.
func (g *Gate) address(r *http.Request) string {
	at := r.RemoteAddr
	if host, _, err := net.SplitHostPort(at); err == nil {
		at = host
	}
	if len(g.proxies) == 0 {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && g.isProxy(at); i-- {
		ip, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = ip.Unmap().String()
	}
	return at
}

// maxWarnings is the maximum number of untrusted proxies that the log warns about.
const maxWarnings = 20

// from returns the client's IP address, and the network for rate limits. If the client
// is behind an untrusted proxy, the address is that of the proxy, and network names both
// the client's network and the proxy's. The limits then apply to the network that the
// proxy names, within a limit for the whole proxy (PerNetwork).
// Without separate limits, one client could use up the limits of everyone behind the proxy.
func (g *Gate) from(r *http.Request) (address, network string) {
	address = g.address(r)
	network = Network(address)
	forwarded := r.Header.Values("X-Forwarded-For")
	if len(forwarded) == 0 && r.Header.Get("Forwarded") == "" || g.peerIsProxy(r) {
		return address, network
	}
	g.warnOfProxy(address)
	return address, Network(claimed(forwarded, r.Header.Values("Forwarded"))) + via + network
}

// via separates the network that an untrusted proxy names from the proxy's own.
const via = " via "

// claimed returns the client address that the last proxy names in
// X-Forwarded-For or Forwarded (RFC 7239, 4), or "" if it names none.
func claimed(forwardedFor, forwarded []string) string {
	hops := strings.Split(strings.Join(forwardedFor, ","), ",")
	last := strings.TrimSpace(hops[len(hops)-1])
	if last == "" {
		elements := strings.Split(strings.Join(forwarded, ","), ",")
		for pair := range strings.SplitSeq(elements[len(elements)-1], ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				last = strings.Trim(value, `"`)
			}
		}
	}
	if at, err := netip.ParseAddrPort(last); err == nil {
		return at.Addr().Unmap().String()
	}
	ip, err := netip.ParseAddr(strings.Trim(last, "[]"))
	if err != nil {
		return ""
	}
	return ip.Unmap().String()
}

// peerIsProxy reports whether the connection comes from a trusted proxy.
func (g *Gate) peerIsProxy(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && g.isProxy(host)
}

// warnOfProxy counts a request from a peer that seems to be an untrusted proxy. It logs
// a warning once for each of the first maxWarnings peers.
func (g *Gate) warnOfProxy(peer string) {
	g.metrics.untrusted.Inc()
	g.mu.Lock()
	known := g.untrusted[peer] || len(g.untrusted) >= maxWarnings
	if !known {
		g.untrusted[peer] = true
	}
	g.mu.Unlock()
	if !known {
		g.log.Warn("X-Forwarded-For or Forwarded header from an untrusted proxy; if this proxy is yours, add its address to "+
			"CARDWALL_TRUSTED_PROXIES; until then, its clients share an overall rate limit and sessions show its address",
			"peer", peer, "set", "CARDWALL_TRUSTED_PROXIES="+peer)
	}
}

func (g *Gate) isProxy(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool {
		return p.Contains(ip.Unmap())
	})
}

// Network returns the network that rate limits apply to: an IPv4 address, or the
// /64 of an IPv6 address, which usually belongs to one customer.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		prefix, _ := ip.Prefix(64) // cannot fail: an IPv6 address has 128 bits
		return prefix.String()
	}
	return ip.String()
}
