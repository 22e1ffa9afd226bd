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

// validate checks a gossiped share and passes it to the agent. The agent's result is part of the
// validation, so that gossipsub forwards only shares that fit the task and are not outdated.
func (t *Topic) validate(ctx context.Context, from peer.ID, message *pubsub.Message) pubsub.ValidationResult {
	n := t.net
	if from == n.Host.ID() {
		return pubsub.ValidationAccept // the loop has published it and must not wait for itself
	}
	author := message.GetFrom()
	if !n.Policy.Allow(time.Now(), author, peers.Publish, 1) {
		return pubsub.ValidationIgnore
	}
	// The sender is at fault if the message cannot be decrypted: members do not forward such
	// messages, and messages from other peers are filtered earlier.
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
	result, passOn, err := t.receive(ctx, share, 0, from, true)
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

// judge reports a violation of the peer that is at fault for a share. For an equivocation this is
// the author, since a peer that forwards one of the two shares need not know the other.
func (t *Topic) judge(result agent.ShareResult, from, author peer.ID, err error) {
	switch result {
	case agent.Malformed:
		t.net.ReportViolation(from, 1, err)
	case agent.Equivocation:
		// With a privacy budget, the author of such shares is probably a node that was copied or
		// restored from a backup. It is not banned, so that it receives the proof.
		if t.task.Privacy == nil {
			t.net.ReportViolation(author, peers.MaxViolations, err)
		}
	}
}

// receive passes a verified share from a peer to the agent, and reports whether gossipsub forwards
// it.
func (t *Topic) receive(ctx context.Context, share protocol.Share, age time.Duration, from peer.ID, gossiped bool) (result agent.ShareResult, forward bool, err error) {
	by := agent.Source{Group: t.net.Policy.Group(from), Named: t.net.Policy.Named(from), Gossiped: gossiped, Author: from == share.Author}
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
