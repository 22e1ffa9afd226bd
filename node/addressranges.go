package node

import (
	"net/netip"
	"strings"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/fbo-node/fbo/internal/dialbudget"
)

// Identities cost nothing and addresses do. What one party usually has: an IPv4 address,
// or the network that a provider gives to a customer.
const range6Bits = 56 // of an IPv4 address all

// rangeOf returns the range that an address is in; not valid for a relayed address, which
// is the hub's, and for one without an IP.
func rangeOf(address multiaddr.Multiaddr) netip.Prefix {
	if address == nil || isCircuit(address) {
		return netip.Prefix{}
	}
	ip, err := manet.ToIP(address)
	if err != nil {
		return netip.Prefix{}
	}
	addr, ok := netip.AddrFromSlice(ip)
	if !ok {
		return netip.Prefix{}
	}
	addr = addr.Unmap()
	bits := addr.BitLen()
	if addr.Is6() && !addr.IsLoopback() {
		bits = range6Bits
	}
	r, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return r
}

// wideRangeOf is rangeOf for the wider ranges that one owner of addresses commonly has.
func wideRangeOf(address multiaddr.Multiaddr) netip.Prefix {
	if ip, ok := dialbudget.IP(address); ok && !isCircuit(address) {
		return dialbudget.Range(ip)
	}
	return netip.Prefix{}
}

func isCircuit(address multiaddr.Multiaddr) bool {
	_, err := address.ValueForProtocol(multiaddr.P_CIRCUIT)
	return err == nil
}

// groupOf names whom a peer counts with where places are short: the range of its address,
// or the hub that it is reached through. All without a connection count together, so that to
// be gone at once is of no use.
func groupOf(n network.Network, id peer.ID) string {
	group := "gone"
	for _, c := range n.ConnsToPeer(id) {
		direct, of := groupOfAddress(c.RemoteMultiaddr())
		if direct {
			return of
		}
		group = of
	}
	return group
}

func groupOfAddress(address multiaddr.Multiaddr) (direct bool, group string) {
	if r := rangeOf(address); r.IsValid() {
		return true, r.String()
	}
	if address == nil || !isCircuit(address) {
		return false, "elsewhere"
	}
	hub, _, _ := strings.Cut(address.String(), "/p2p-circuit")
	return false, "hub " + hub[strings.LastIndex(hub, "/")+1:]
}
