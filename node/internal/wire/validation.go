package wire

import (
	"context"
	"fmt"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// validate checks a gossiped share and delivers it to the agent. Delivery is part of validation, so
// that gossip forwards only shares that fit the task and are not outdated.
func (t *Topic) validate(ctx context.Context, from peer.ID, message *pubsub.Message) pubsub.ValidationResult {
	n := t.net
	if from == n.Host.ID() {
		return pubsub.ValidationAccept // published by the loop, which must not wait for itself
	}
	author := message.GetFrom()
	if !n.Policy.Allow(time.Now(), author, peers.Publish, 1) {
		return pubsub.ValidationIgnore
	}
	// Members do not forward messages that they cannot open, and messages of other peers are
	// filtered earlier, so the sender is at fault.
	data, err := message.Data, error(nil)
	if keys := t.keys; keys != nil {
		data, err = keys.Open(author, data)
	}
	var share protocol.Share
	if err == nil {
		share, err = protocol.Open(data)
	}
	if err == nil && share.Author != author {
		err = fmt.Errorf("%w: gossiped by %s, but a share of %s", protocol.ErrMalformed, author, share.Author)
	}
	if err != nil {
		t.metrics.ShareReceived(UnknownKind, agent.Malformed)
		n.ReportViolation(from, 1, err)
		return pubsub.ValidationReject
	}
	ctx, cancel := context.WithTimeout(ctx, receiveTimeout)
	defer cancel()
	result, passOn, err := t.receive(ctx, share, 0, from)
	t.judge(result, from, share.Author, err)
	if result == agent.Accepted {
		t.policy.Delivered(time.Now(), from, author)
	}
	switch {
	case passOn:
		return pubsub.ValidationAccept
	case result == agent.Malformed || result == agent.Equivocation:
		return pubsub.ValidationReject
	}
	return pubsub.ValidationIgnore
}

// judge reports the peer that is at fault for a share. A peer that forwards one of two shares with
// the same stamp need not know the other.
func (t *Topic) judge(result agent.ShareResult, from, author peer.ID, err error) {
	switch result {
	case agent.Malformed:
		t.net.ReportViolation(from, 1, err)
	case agent.Equivocation:
		// With a privacy budget, the author of two such shares is a node that was copied or
		// restored from a backup. It stays connected, so that it receives the proof.
		if t.task.Privacy == nil {
			t.net.ReportViolation(author, peers.MaxViolations, err)
		}
	}
}

// receive gives the agent a verified share that a peer has sent, and reports whether gossip forwards it.
func (t *Topic) receive(ctx context.Context, share protocol.Share, age time.Duration, from peer.ID) (result agent.ShareResult, forward bool, err error) {
	by := agent.Source{Group: t.net.Policy.Group(from), Named: t.net.Policy.Named(from)}
	stopped := t.do(ctx, func(a *agent.Agent, now time.Time) {
		result, err = t.deliver(a, now, share, age, by)
		forward = (result == agent.Accepted || result == agent.Duplicate) && a.Relays(share.Author)
	})
	if stopped != nil {
		return agent.Stale, false, stopped
	}
	t.metrics.ShareReceived(share.Kind, result)
	return result, forward, err
}
