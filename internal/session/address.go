package session

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// address returns the IP address of the client: that of the connection, or behind
// trusted proxies the last address in X-Forwarded-For that is not one of them.
// Earlier entries are ignored, because the client can forge them.
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

// maxWarnings limits how many neighbors the log warns about.
const maxWarnings = 20

// from returns the client's IP address, and the network for rate limits. They
// differ behind a proxy that is not trusted: the limits then apply to the network
// that the proxy names, within a limit for the whole proxy (PerNetwork).
// Otherwise one client could use up the limits of everyone behind the proxy.
func (g *Gate) from(r *http.Request) (address, network string) {
	address = g.address(r)
	network = Network(address)
	forwarded := r.Header.Values("X-Forwarded-For")
	if len(forwarded) == 0 && r.Header.Get("Forwarded") == "" || g.neighborIsProxy(r) {
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

func (g *Gate) neighborIsProxy(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && g.isProxy(host)
}

// warnOfProxy logs a warning, once for each neighbor that seems to be a proxy.
func (g *Gate) warnOfProxy(neighbor string) {
	g.metrics.unnamed.Inc()
	g.mu.Lock()
	known := g.unnamed[neighbor] || len(g.unnamed) >= maxWarnings
	if !known {
		g.unnamed[neighbor] = true
	}
	g.mu.Unlock()
	if !known {
		g.log.Warn("forwarded headers from an untrusted proxy ignored; if it is your proxy, "+
			"add it to CARDWALL_TRUSTED_PROXIES, or people behind it share rate limits and sessions show the proxy's address",
			"neighbor", neighbor, "set", "CARDWALL_TRUSTED_PROXIES="+neighbor)
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
		prefix, _ := ip.Prefix(64) // cannot fail for 128 bits
		return prefix.String()
	}
	return ip.String()
}
