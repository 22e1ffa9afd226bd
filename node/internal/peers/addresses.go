package peers

import (
	"net/netip"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// rangeBits6 is the length of the range of an IPv6 address: the network that a provider gives to a
// customer. That of an IPv4 address is the address. Identities cost nothing and addresses do.
const rangeBits6 = 56

// Scope is from where an address means the same.
type Scope int

const (
	Machine Scope = iota // loopback
	Local                // RFC 1918, link-local, unique local (RFC 4193)
	Global               // all others
)

// IP returns the address of a multiaddr that begins with one; of a relayed one it is the relay's.
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

// ScopeOf returns the scope of a multiaddr; one that does not begin with an IP address is Global.
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

// wideRange returns the addresses that one owner commonly has: an IPv4 /24, an IPv6 /56.
func wideRange(ip netip.Addr) netip.Prefix { return prefix(ip, 24, 56) }

// single returns one address: of IPv6 a /64, which is one link.
func single(ip netip.Addr) netip.Prefix { return prefix(ip, 32, 64) }

func prefix(ip netip.Addr, bits4, bits6 int) netip.Prefix {
	bits := bits6
	if ip.Is4() {
		bits = bits4
	}
	return netip.PrefixFrom(ip.WithZone(""), bits).Masked()
}

// rangeOf returns the range that an address is in; not valid for a relayed address, which is the
// hub's, and for one without an IP address.
func rangeOf(address multiaddr.Multiaddr) netip.Prefix {
	if len(address) > 1 && address[0].Protocol().Code == multiaddr.P_IP6ZONE {
		address = address[1:]
	}
	ip, ok := IP(address)
	if !ok || IsCircuit(address) {
		return netip.Prefix{}
	}
	bits := ip.BitLen()
	if ip.Is6() && !ip.IsLoopback() {
		bits = rangeBits6
	}
	r, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return r
}

// WideRangeOf is rangeOf for the wider ranges that one owner of addresses commonly has.
func WideRangeOf(address multiaddr.Multiaddr) netip.Prefix {
	if ip, ok := IP(address); ok && !IsCircuit(address) {
		return wideRange(ip)
	}
	return netip.Prefix{}
}

// IsCircuit reports whether an address is relayed.
func IsCircuit(address multiaddr.Multiaddr) bool {
	_, err := address.ValueForProtocol(multiaddr.P_CIRCUIT)
	return err == nil
}

// GroupOf returns the group that a connection at an address counts with.
func GroupOf(address multiaddr.Multiaddr) string {
	_, group := groupOf(address)
	return group
}

func groupOf(address multiaddr.Multiaddr) (direct bool, group string) {
	if r := rangeOf(address); r.IsValid() {
		return true, r.String()
	}
	if address == nil || !IsCircuit(address) {
		return false, "elsewhere"
	}
	hub, _, _ := strings.Cut(address.String(), "/p2p-circuit")
	return false, "hub " + hub[strings.LastIndex(hub, "/")+1:]
}

// answeredAt returns the address at which a connection shows that the peer can be reached; nil when
// it shows none, since the peer has made it.
func (p *Policy) answeredAt(address multiaddr.Multiaddr, outbound bool) multiaddr.Multiaddr {
	switch {
	case IsCircuit(address):
		return p.throughHub(address)
	case outbound:
		return address
	}
	return nil
}

// throughHub returns a relayed address through one of the node's own hubs in its shortest form,
// without how the hub is reached: the user has named that. It is nil for all others.
func (p *Policy) throughHub(address multiaddr.Multiaddr) multiaddr.Multiaddr {
	if !IsCircuit(address) {
		return nil
	}
	relay, err := address.ValueForProtocol(multiaddr.P_P2P) // the first
	if err != nil {
		return nil
	}
	if id, err := peer.Decode(relay); err == nil && p.hubs[id] {
		return CircuitThrough(id)
	}
	return nil
}

// CircuitThrough returns the address of all hosts that are reached through a hub.
func CircuitThrough(id peer.ID) multiaddr.Multiaddr {
	return multiaddr.StringCast("/p2p/" + id.String() + "/p2p-circuit")
}

const maxTried = 8 // addresses of a record

// worthTrying returns the addresses in a record that are dialled, when the peer that sent it is
// reached at an address of this scope: no private addresses from a public one, and no host names,
// which a peer could make others look up.
func (p *Policy) worthTrying(addresses []multiaddr.Multiaddr, sentTo Scope) []multiaddr.Multiaddr {
	var kept []multiaddr.Multiaddr
	for _, address := range addresses {
		if through := p.throughHub(address); through != nil {
			address = through
		} else if _, ok := IP(address); !ok || ScopeOf(address) < sentTo {
			continue
		}
		if !multiaddr.Contains(kept, address) {
			kept = append(kept, address)
		}
	}
	return kept[:min(len(kept), maxTried)]
}
