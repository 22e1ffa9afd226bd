package peers

import (
	"net/netip"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// rangeBits6 is the prefix length of an IPv6 range: the network that a provider commonly assigns to
// one customer. An IPv4 range is a single address. Limits count ranges rather than identities,
// because identities cost nothing.
const rangeBits6 = 56

// Scope is the part of the network in which an address is valid.
type Scope int

const (
	Machine Scope = iota // loopback addresses
	Local                // RFC 1918, link-local and unique local (RFC 4193) addresses
	Global               // all other addresses
)

// IP returns the IP address at the beginning of a multiaddr. For a relayed address it is the
// relay's. It returns false if there is none.
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

// ScopeOf returns the scope of a multiaddr. A multiaddr that does not begin with an IP address is
// Global.
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

// wideRange returns the range that one owner commonly has: an IPv4 /24 or an IPv6 /56.
func wideRange(ip netip.Addr) netip.Prefix { return prefix(ip, 24, 56) }

// single returns the range of one host: an IPv4 address, or an IPv6 /64, which is one link.
func single(ip netip.Addr) netip.Prefix { return prefix(ip, 32, 64) }

func prefix(ip netip.Addr, bits4, bits6 int) netip.Prefix {
	bits := bits6
	if ip.Is4() {
		bits = bits4
	}
	return netip.PrefixFrom(ip.WithZone(""), bits).Masked()
}

// rangeOf returns the range of an address. The prefix is not valid for an address without an IP
// address, and for a relayed one, whose IP address is the hub's.
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

// WideRangeOf is rangeOf for the wider ranges of wideRange.
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

// GroupOf returns the group of a connection by its address: the range of the IP address, or the hub
// of a relayed connection. Limits for groups count all peers of a group together.
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

// answeredAt returns the address at which a connection proves that the peer can be reached. It is
// nil for an inbound connection, which proves no such address.
func (p *Policy) answeredAt(address multiaddr.Multiaddr, outbound bool) multiaddr.Multiaddr {
	switch {
	case IsCircuit(address):
		return p.throughHub(address)
	case outbound:
		return address
	}
	return nil
}

// throughHub returns the shortest form of a relayed address through one of the node's own hubs.
// That form has only the hub's ID, since the user has configured the hub's addresses. It returns
// nil for all other addresses.
func (p *Policy) throughHub(address multiaddr.Multiaddr) multiaddr.Multiaddr {
	if !IsCircuit(address) {
		return nil
	}
	relay, err := address.ValueForProtocol(multiaddr.P_P2P) // the first /p2p/ part is the relay's
	if err != nil {
		return nil
	}
	if id, err := peer.Decode(relay); err == nil && p.hubs.has(id) {
		return CircuitThrough(id)
	}
	return nil
}

// MayArriveAt reports whether a connection from this address is accepted: a direct one, or one that a
// hub of the node relays. Otherwise any peer could relay connections to this node, and all of them
// would count as coming from a group of the peer's choice.
func (p *Policy) MayArriveAt(address multiaddr.Multiaddr) bool {
	return !IsCircuit(address) || p.throughHub(address) != nil
}

// CircuitThrough returns the relayed address through a hub, without the ID of a target. So it is
// the same for all hosts behind the hub.
func CircuitThrough(id peer.ID) multiaddr.Multiaddr {
	return multiaddr.StringCast("/p2p/" + id.String() + "/p2p-circuit")
}

const maxTried = 8 // addresses of one record that are dialled

// WorthTrying returns the addresses of a record that may be dialled, if a peer at the address by has
// sent the record.
func (p *Policy) WorthTrying(addresses []multiaddr.Multiaddr, by multiaddr.Multiaddr) []multiaddr.Multiaddr {
	return p.worthTrying(addresses, ScopeOf(by))
}

// worthTrying returns the addresses of a record that may be dialled. Their scope must be at least
// sentTo, the scope of the address of the peer that sent the record: a public peer introduces no
// private addresses. Host names are left out, since otherwise peers could make this node look up
// any name.
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
