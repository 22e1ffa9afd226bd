package dialbudget

import (
	"net/netip"

	"github.com/multiformats/go-multiaddr"
)

// Scope is from where an address means the same.
type Scope int

const (
	Machine Scope = iota // loopback
	Local                // RFC 1918, link-local, unique local (RFC 4193)
	Global               // all others
)

// IP is the address of a multiaddr that begins with one; of a relayed one it is the relay's.
func IP(a multiaddr.Multiaddr) (ip netip.Addr, ok bool) {
	if len(a) == 0 {
		return netip.Addr{}, false
	}
	first := a[0]
	if code := first.Protocol().Code; code != multiaddr.P_IP4 && code != multiaddr.P_IP6 {
		return netip.Addr{}, false
	}
	ip, ok = netip.AddrFromSlice(first.RawValue())
	return ip.Unmap(), ok
}

// ScopeOf is the scope of a multiaddr; what does not begin with an IP address is Global.
func ScopeOf(a multiaddr.Multiaddr) Scope {
	ip, ok := IP(a)
	switch {
	case !ok:
		return Global
	case ip.IsLoopback() || ip.IsUnspecified():
		return Machine
	case ip.IsPrivate() || ip.IsLinkLocalUnicast():
		return Local
	}
	return Global
}

// Range is what one owner of addresses commonly has: an IPv4 /24, an IPv6 /56.
func Range(ip netip.Addr) netip.Prefix { return prefix(ip, 24, 56) }

// single is one address: of IPv6 a /64, which is one link.
func single(ip netip.Addr) netip.Prefix { return prefix(ip, 32, 64) }

func prefix(ip netip.Addr, bits4, bits6 int) netip.Prefix {
	bits := bits6
	if ip.Is4() {
		bits = bits4
	}
	return netip.PrefixFrom(ip.WithZone(""), bits).Masked()
}
