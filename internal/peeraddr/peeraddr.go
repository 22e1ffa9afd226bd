// Package peeraddr parses the addresses that users write: of peers, of hubs, and to listen on.
package peeraddr

import (
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// ParsePeers parses addresses of the form /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo….
func ParsePeers(addresses []string) ([]peer.AddrInfo, error) {
	var list []multiaddr.Multiaddr
	for _, text := range addresses {
		address, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("peer address %q: %w (accepted: an address as the other node prints it, such as /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo…)", text, err)
		}
		if _, err := peer.AddrInfoFromP2pAddr(address); err != nil {
			return nil, fmt.Errorf("peer address %q: %w (it must end in /p2p/ and the peer's ID)", text, err)
		}
		list = append(list, address)
	}
	return peer.AddrInfosFromP2pAddrs(list...)
}

// ParseHubs parses addresses of hubs, in the form of ParsePeers. It rejects relayed addresses,
// since a hub cannot be reached through another hub.
func ParseHubs(addresses []string) ([]peer.AddrInfo, error) {
	hubs, err := ParsePeers(addresses)
	if err != nil {
		return nil, err
	}
	for _, address := range addresses {
		if strings.Contains(address, "/p2p-circuit") {
			return nil, fmt.Errorf("hub address %q: it is a relayed one (accepted: an address as the hub prints it)", address)
		}
	}
	return hubs, nil
}

// ParseListen parses addresses to listen on. It does not check whether a host can listen on them.
func ParseListen(texts []string) ([]multiaddr.Multiaddr, error) {
	var addresses []multiaddr.Multiaddr
	for _, text := range texts {
		address, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("listen address %q: %w (accepted: such as /ip4/0.0.0.0/udp/4001/quic-v1)", text, err)
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}
