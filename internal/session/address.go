package session

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// address is the network address a request came from: the connection's or,
// where that is one of our own proxies, the last that these say is not. What a
// client wrote before them is believed by nobody.
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

// warnedNeighbors is how many neighbors are warned about.
const warnedNeighbors = 20

// from returns the network address that a request came from, and the network
// that limits count it for. They differ behind a proxy that the operator did not
// name: limits then count by what it says, within bounds for the proxy as a whole
// (PerNetwork), for else one client uses up the limits of everyone behind it.
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

// via separates the network that an unnamed proxy names from the proxy's own.
const via = " via "

// claimed is the client that the last proxy names, by X-Forwarded-For or by
// Forwarded (RFC 7239, 4); empty when it names no address.
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

// warnOfProxy tells the operator once about each neighbor that seems to be a
// proxy.
func (g *Gate) warnOfProxy(neighbor string) {
	g.metrics.unnamed.Inc()
	g.mu.Lock()
	known := g.unnamed[neighbor] || len(g.unnamed) >= warnedNeighbors
	if !known {
		g.unnamed[neighbor] = true
	}
	g.mu.Unlock()
	if !known {
		g.log.Warn("forwarded headers from a neighbor that --trusted-proxies does not name are not believed: "+
			"if it is your proxy, name it in CARDWALL_TRUSTED_PROXIES; else people behind it share limits and the address in their sessions is the proxy's",
			"neighbor", neighbor, "set", "CARDWALL_TRUSTED_PROXIES="+neighbor)
	}
}

func (g *Gate) isProxy(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}

// Network is what limits by address count: an IPv4 address, and of IPv6 the /64
// of which one customer has all.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		prefix, _ := ip.Prefix(64) // of an address of 128 bits
		return prefix.String()
	}
	return ip.String()
}
