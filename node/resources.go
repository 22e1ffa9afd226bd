package node

import (
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

// hubLimits are those of the whole hub; the relay service has its own besides.
func hubLimits() rcmgr.PartialLimitConfig {
	circuits := rcmgr.ResourceLimits{
		Streams: 2 * hubCircuits, StreamsInbound: hubCircuits, StreamsOutbound: hubCircuits, Memory: hubRelayMemory,
	}
	ofNode := circuits
	ofNode.Streams, ofNode.StreamsInbound, ofNode.StreamsOutbound = 2*hubCircuitsOfNode, hubCircuitsOfNode, hubCircuitsOfNode
	return rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns: hubConnections, ConnsInbound: hubConnections,
			Streams: 4 * hubCircuits, StreamsInbound: 2 * hubCircuits, StreamsOutbound: 2 * hubCircuits, Memory: hubMemory,
		},
		Service:      map[string]rcmgr.ResourceLimits{relay.ServiceName: circuits},
		ServicePeer:  map[string]rcmgr.ResourceLimits{relay.ServiceName: ofNode},
		Protocol:     map[protocol.ID]rcmgr.ResourceLimits{circuit.ProtoIDv2Hop: circuits, circuit.ProtoIDv2Stop: circuits},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{circuit.ProtoIDv2Hop: ofNode, circuit.ProtoIDv2Stop: ofNode},
	}
}
