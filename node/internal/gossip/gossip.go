// Package gossip starts gossipsub under the peer policy. It reads messages of allowed peers only,
// within the policy's rates, and sends a task's messages only to peers that have proven its
// invitation.
package gossip

import (
	"context"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// MaxMessageBytes is the maximum size of a gossip message.
const MaxMessageBytes = protocol.MaxEnvelopeBytes + 4096

// Config has the parts of the node that gossip uses.
type Config struct {
	Host    host.Host
	Policy  *peers.Policy
	Report  func(id peer.ID, weight int, why error) // receives the violations of peers
	Tracers []pubsub.RawTracer
}

// New starts gossipsub on a host. It runs until the context ends.
func New(ctx context.Context, c Config) (*pubsub.PubSub, error) {
	checked := newValidationCache()
	i := &inspector{policy: c.Policy, checked: checked, report: c.Report}
	options := []pubsub.Option{
		pubsub.WithBlacklist(blacklist{c.Policy}),
		pubsub.WithAppSpecificRpcInspector(i.inspect),
		pubsub.WithSubscriptionFilter(subscriptionFilter{c.Policy}),
		pubsub.WithRawTracer(rejectionTracer{report: c.Report}),
		pubsub.WithRawTracer(checked),
		pubsub.WithFloodPublish(true),
		pubsub.WithMaxMessageSize(MaxMessageBytes),
		pubsub.WithSeenMessagesTTL(10 * time.Minute),
		pubsub.WithValidateQueueSize(64),
		pubsub.WithValidateThrottle(64),
		pubsub.WithValidateWorkers(2),
	}
	options = append(options, admissionOptions(c.Policy)...)
	for _, tracer := range c.Tracers {
		options = append(options, pubsub.WithRawTracer(tracer))
	}
	return pubsub.NewGossipSub(ctx, exitHost{c.Host, c.Policy}, options...)
}
