package hub

import (
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

// Limits of a hub. A single relayed connection has no limit of bytes or time: libp2p marks
// connections with such limits as limited, and gossipsub does not use limited connections.
const (
	maxConnections    = 1024      // at the same time; above three quarters of it, the hub closes the least valuable ones
	maxPerAddress     = 64        // connections, and reservations, from one IP address (IPv6: one /56)
	maxReservations   = 256       // nodes that peers can reach through the hub
	reservationTTL    = time.Hour // time after which a reservation ends unless the node renews it
	maxCircuits       = 2048      // relayed connections at the same time
	maxCircuitsOfNode = 64        // relayed connections of one node
	relayMemory       = 64 << 20
	memory            = 512 << 20
)

// limits returns the resource limits of the hub's host. The relay service has its own limits in
// addition.
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
