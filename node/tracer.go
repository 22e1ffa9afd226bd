package node

import (
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/gossip"
)

// tracer counts gossipsub's messages and decisions. Gossipsub calls it from its event loop, so its
// methods must be fast.
type tracer struct {
	gossip.NoTracer
	metrics *nodeMetrics
}

// rejectReasons maps gossipsub's reasons for rejecting messages to labels.
var rejectReasons = map[string]string{
	pubsub.RejectBlacklstedPeer:      "blocked_peer",
	pubsub.RejectBlacklistedSource:   "blocked_author",
	pubsub.RejectMissingSignature:    "missing_signature",
	pubsub.RejectInvalidSignature:    "invalid_signature",
	pubsub.RejectValidationQueueFull: "queue_full",
	pubsub.RejectValidationThrottled: "throttled",
	pubsub.RejectValidationFailed:    "invalid",
	pubsub.RejectValidationIgnored:   "ignored",
	pubsub.RejectSelfOrigin:          "self",
}

// otherReason is the label of reasons that are not in rejectReasons.
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
