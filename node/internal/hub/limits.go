package hub

import (
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

// Limits of a hub. A relayed connection itself has none, neither of bytes nor of
// time: libp2p calls connections with such limits limited, and gossip does not
// use them.
const (
	maxConnections    = 1024      // at the same time; from three quarters on, the least useful are closed
	maxPerAddress     = 64        // of them, and of places, from one IP address (IPv6: from one /56)
	maxReservations   = 256       // nodes that others reach through the hub
	reservationTTL    = time.Hour // unless the node renews it
	maxCircuits       = 2048      // relayed connections
	maxCircuitsOfNode = 64        // of them, of one node
	relayMemory       = 64 << 20
	memory            = 512 << 20
)

// limits returns those of the whole hub. The relay service has its own besides.
func limits() rcmgr.PartialLimitConfig {
	circuits := rcmgr.ResourceLimits{
		Streams: 2 * maxCircuits, StreamsInbound: maxCircuits, StreamsOutbound: maxCircuits, Memory: relayMemory,
	}
	ofNode := circuits
	ofNode.Streams, ofNode.StreamsInbound, ofNode.StreamsOutbound = 2*maxCircuitsOfNode, maxCircuitsOfNode, maxCircuitsOfNode
	return rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns: maxConnections, ConnsInbound: maxConnections,
			Streams: 4 * maxCircuits, StreamsInbound: 2 * maxCircuits, StreamsOutbound: 2 * maxCircuits, Memory: memory,
		},
		Service:      map[string]rcmgr.ResourceLimits{relay.ServiceName: circuits},
		ServicePeer:  map[string]rcmgr.ResourceLimits{relay.ServiceName: ofNode},
		Protocol:     map[protocol.ID]rcmgr.ResourceLimits{circuit.ProtoIDv2Hop: circuits, circuit.ProtoIDv2Stop: circuits},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{circuit.ProtoIDv2Hop: ofNode, circuit.ProtoIDv2Stop: ofNode},
	}
}
