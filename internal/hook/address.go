package hook

import "net/netip"

// public6 is the only range from which IANA allocates IPv6 global unicast addresses
// (https://www.iana.org/assignments/ipv6-address-space). forbiddenReason rejects all
// other IPv6 addresses.
var public6 = netip.MustParsePrefix("2000::/3")

// special is a range that webhooks must not reach. In messages, its reason follows
// "is" or "resolves to".
type special struct {
	prefix netip.Prefix
	reason string
}

// specials lists the ranges in IANA's special-purpose registries, even those that are
// globally reachable (RFC 6890, RFC 8190;
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry). IPv4-mapped addresses are missing, because
// forbiddenReason unmaps them. The list also contains multicast, some deprecated
// ranges, and the addresses at which clouds serve credentials. The order matters: the
// first range that contains an address gives the reason.
var specials = []special{
	{netip.MustParsePrefix("169.254.169.254/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud metadata address"}, // Azure; looks like a public address
	{netip.MustParsePrefix("100.100.100.200/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("192.0.0.192/32"), "a cloud metadata address"},
	{netip.MustParsePrefix("fd00:ec2::254/128"), "a cloud metadata address"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "a cloud metadata address"},

	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this host"}, // Linux treats 0.0.0.0 as loopback
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier-grade NAT address"},
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "an address reserved for IETF protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation address"},
	{netip.MustParsePrefix("192.31.196.0/24"), "an address of the AS112 service"},
	{netip.MustParsePrefix("192.52.193.0/24"), "a multicast tunnel address"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 relay address"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("192.175.48.0/24"), "an address of the AS112 service"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmarking address"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation address"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation address"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("255.255.255.255/32"), "the broadcast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},

	{netip.MustParsePrefix("::/128"), "an address of this host"},
	{netip.MustParsePrefix("::1/128"), "a loopback address"},
	{netip.MustParsePrefix("::/96"), "an IPv4 address written as IPv6"},           // deprecated by RFC 4291 §2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "an IPv4 address written as IPv6"}, // SIIT, RFC 2765
	{netip.MustParsePrefix("64:ff9b::/96"), "a NAT64 address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a NAT64 address"},
	{netip.MustParsePrefix("100::/64"), "a discard-only address"},
	{netip.MustParsePrefix("100:0:0:1::/64"), "an address in the dummy prefix"},
	{netip.MustParsePrefix("2001::/32"), "a Teredo address"},
	{netip.MustParsePrefix("2001:2::/48"), "a benchmarking address"},
	{netip.MustParsePrefix("2001:3::/32"), "a multicast tunnel address"},
	{netip.MustParsePrefix("2001:4:112::/48"), "an address of the AS112 service"},
	{netip.MustParsePrefix("2001:10::/28"), "an ORCHID overlay identifier"},
	{netip.MustParsePrefix("2001:20::/28"), "an ORCHID overlay identifier"},
	{netip.MustParsePrefix("2001:30::/28"), "a drone remote ID tag"}, // RFC 9374
	{netip.MustParsePrefix("2001::/23"), "an address reserved for IETF protocols"},
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation address"},
	{netip.MustParsePrefix("2002::/16"), "a 6to4 address"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), "an address of the AS112 service"},
	{netip.MustParsePrefix("3fff::/20"), "a documentation address"},
	{netip.MustParsePrefix("5f00::/16"), "an SRv6 segment identifier"},
	{netip.MustParsePrefix("fc00::/7"), "a private address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), "a private address"}, // site-local, deprecated by RFC 3879
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
}

// forbiddenReason returns the reason why webhooks must not reach an address, or "" if
// they may. It treats an IPv4-mapped address as its IPv4 address, as a socket does. It
// treats an ISATAP address as the IPv4 address it contains.
func forbiddenReason(addr netip.Addr) string {
	// An address with a zone matches no prefix.
	addr = addr.Unmap().WithZone("")
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.reason
		}
	}
	if addr.Is4() {
		return ""
	}
	if !public6.Contains(addr) {
		return "an IPv6 address outside the global unicast range"
	}
	b := addr.As16()
	// An ISATAP address has this interface identifier (RFC 5214 §6.1). The universal and
	// group bits may have any value.
	if b[8]&^0x03 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		if inner := forbiddenReason(netip.AddrFrom4([4]byte(b[12:]))); inner != "" {
			return "an ISATAP address that contains " + inner
		}
	}
	return ""
}
