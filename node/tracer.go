package node

import (
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// tracer counts what gossip does by itself. Gossip calls it from its event
// loop, so it must be quick.
type tracer struct{ metrics *nodeMetrics }

var _ pubsub.RawTracer = tracer{}

// rejectReasons are the labels of gossip's reasons.
var rejectReasons = map[string]string{
	pubsub.RejectBlacklstedPeer:      "blocked_peer",
	pubsub.RejectBlacklistedSource:   "blocked_author",
	pubsub.RejectMissingSignature:    "missing_signature",
	pubsub.RejectInvalidSignature:    "invalid_signature",
	pubsub.RejectValidationQueueFull: "queue_full",
	pubsub.RejectValidationThrottled: "throttled",
	pubsub.RejectValidationFailed:    "invalid",
	pubsub.RejectValidationIgnored:   "ignored",
	pubsub.RejectSelfOrigin:          "own",
}

// otherReason is the label of reasons that this version does not know.
const otherReason = "other"

func (t tracer) RejectMessage(message *pubsub.Message, reason string) {
	label, ok := rejectReasons[reason]
	if !ok {
		label = otherReason
	}
	if m := t.metrics.ofTopic(message.GetTopic()); m != nil {
		m.rejected.WithLabelValues(label).Inc()
	}
}

func (t tracer) DuplicateMessage(message *pubsub.Message) {
	if m := t.metrics.ofTopic(message.GetTopic()); m != nil {
		m.duplicate.Inc()
	}
}

func (t tracer) UndeliverableMessage(message *pubsub.Message) {
	if m := t.metrics.ofTopic(message.GetTopic()); m != nil {
		m.undeliverable.Inc()
	}
}

func (t tracer) DropRPC(*pubsub.RPC, peer.ID) { t.metrics.droppedRPCs.Inc() }

func (t tracer) Graft(id peer.ID, topic string) {
	if m := t.metrics.ofTopic(topic); m != nil {
		m.grafted(id)
	}
}

func (t tracer) Prune(id peer.ID, topic string) {
	if m := t.metrics.ofTopic(topic); m != nil {
		m.pruned(id)
	}
}

func (t tracer) OnClosedOutboundStream(id peer.ID) { t.metrics.closedStream(id) }

// The rest is counted elsewhere or by nobody.

func (tracer) OnNewOutboundStream(peer.ID, protocol.ID) {}
func (tracer) Join(string)                              {}
func (tracer) Leave(string)                             {}
func (tracer) ValidateMessage(*pubsub.Message)          {}
func (tracer) DeliverMessage(*pubsub.Message)           {}
func (tracer) ThrottlePeer(peer.ID)                     {}
func (tracer) RecvRPC(*pubsub.RPC)                      {}
func (tracer) SendRPC(*pubsub.RPC, peer.ID)             {}
