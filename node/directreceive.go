package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Streams on which direct messages come in at the same time; each may take up
// protocol.MaxDirectBytes, and is cut off after directTimeout, however much has come.
const (
	maxDirectStreams       = 32 // of a session, besides one of each peer that has a place of its own
	maxDirectStreamsOfPeer = 4  // an honest one has one, besides those that it has given up
)

// Why a direct message was not taken.
const (
	rejectedThrottled   = "throttled" // too many, too much, or too many at the same time
	rejectedMalformed   = "malformed"
	rejectedBlocked     = "blocked"      // its sender may not take part, is not on the task's roster, or is banned
	rejectedStreamReset = "stream_reset" // the stream or the session ended first
)

var errThrottled = errors.New("sends too much")

// receive takes what a peer sends to this agent alone. What is refused is no
// fault, since an honest peer tries again after a while; going on at once is.
func (c *directMessenger) receive(stream network.Stream) {
	n, from := c.topic.session.node, stream.Conn().RemotePeer()
	err := c.admit(stream, from)
	if err == nil {
		_ = stream.Close()
		return
	}
	_ = stream.Reset()
	reason := rejectedStreamReset
	switch {
	case errors.Is(err, errNotAllowed):
		reason = rejectedBlocked
	case errors.Is(err, protocol.ErrMalformed):
		reason = rejectedMalformed
	case errors.Is(err, errThrottled):
		reason = rejectedThrottled
		if !n.policy.allowDirectRefusal(from) {
			n.reportViolation(from, 1, fmt.Errorf("direct messages: %w", err))
		}
	}
	c.topic.session.metrics.directRejected(reason)
	c.topic.session.logger.Debug("direct message not taken", "peer", from, "error", err)
}

func (c *directMessenger) admit(stream network.Stream, from peer.ID) error {
	n := c.topic.session.node
	if !n.gate.mayTakePart(from) || c.roster != nil && !c.roster[from] || n.policy.isBanned(from) {
		return errNotAllowed
	}
	if !n.policy.allowDirect(from) || !c.acquireSlot(from) {
		return errThrottled
	}
	defer c.releaseSlot(from)
	if err := stream.SetDeadline(time.Now().Add(directTimeout)); err != nil {
		return err
	}
	if err := c.topic.demand(stream); err != nil {
		return err
	}
	message, err := protocol.ReadDirect(stream, func(exchange string, bytes int) error {
		if !c.exchanges[exchange] {
			return fmt.Errorf("%w: the task has no exchange %q", protocol.ErrMalformed, exchange)
		}
		if !n.policy.allowDirectBytes(from, bytes) {
			return errThrottled
		}
		return nil
	})
	if err != nil {
		return c.topic.reportMalformed(stream, err)
	}
	ctx, cancel := context.WithTimeout(c.topic.ctx, receiveTimeout)
	defer cancel()
	s := c.topic.session
	if err := s.do(ctx, func(now time.Time) { s.agent.Direct(now, from, message.Exchange, message.Data) }); err != nil {
		return err
	}
	s.metrics.directReceived(message.Exchange)
	_ = protocol.WriteReceipt(stream) // without it the message comes again
	return nil
}

// hasSlot tells whether one stream of a peer is read whatever others do: that of a peer
// which the task's roster or the node's allow list names. So many there are at most.
func (c *directMessenger) hasSlot(id peer.ID) bool { return c.roster[id] || c.listed[id] }

// acquireSlot begins to read from a peer; false when too much is read already.
func (c *directMessenger) acquireSlot(from peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams[from] >= maxDirectStreamsOfPeer {
		return false
	}
	if c.streams[from] > 0 || !c.hasSlot(from) {
		if c.shared >= maxDirectStreams {
			return false
		}
		c.shared++
	}
	c.streams[from]++
	return true
}

func (c *directMessenger) releaseSlot(from peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams[from] > 1 || !c.hasSlot(from) {
		c.shared--
	}
	if c.streams[from]--; c.streams[from] == 0 {
		delete(c.streams, from)
	}
}
