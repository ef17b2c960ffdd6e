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
