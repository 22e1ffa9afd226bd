package gossip

import (
	"errors"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// rejectionTracer reports the senders of messages that gossipsub itself finds malformed.
type rejectionTracer struct {
	NoTracer
	report func(id peer.ID, weight int, why error)
}

// RejectMessage implements pubsub.RawTracer.
func (r rejectionTracer) RejectMessage(m *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectMissingSignature, pubsub.RejectInvalidSignature, pubsub.RejectUnexpectedAuthInfo:
		r.report(m.ReceivedFrom, 1, errors.New(reason))
	}
}

// NoTracer ignores all events. A tracer embeds it and overrides the methods that it needs.
type NoTracer struct{}

var _ pubsub.RawTracer = NoTracer{}

func (NoTracer) OnNewOutboundStream(peer.ID, protocol.ID) {}
func (NoTracer) OnClosedOutboundStream(peer.ID)           {}
func (NoTracer) Join(string)                              {}
func (NoTracer) Leave(string)                             {}
func (NoTracer) Graft(peer.ID, string)                    {}
func (NoTracer) Prune(peer.ID, string)                    {}
func (NoTracer) ValidateMessage(*pubsub.Message)          {}
func (NoTracer) DeliverMessage(*pubsub.Message)           {}
func (NoTracer) RejectMessage(*pubsub.Message, string)    {}
func (NoTracer) DuplicateMessage(*pubsub.Message)         {}
func (NoTracer) ThrottlePeer(peer.ID)                     {}
func (NoTracer) RecvRPC(*pubsub.RPC)                      {}
func (NoTracer) SendRPC(*pubsub.RPC, peer.ID)             {}
func (NoTracer) DropRPC(*pubsub.RPC, peer.ID)             {}
func (NoTracer) UndeliverableMessage(*pubsub.Message)     {}
