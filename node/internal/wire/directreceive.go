package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// Reasons for which a direct message was rejected; labels of a metric.
const (
	rejectedThrottled   = "throttled" // above the rate of messages or bytes, or too many streams
	rejectedMalformed   = "malformed"
	rejectedBlocked     = "blocked"      // the sender may not take part, is not on the task's roster, or is banned
	rejectedStreamReset = "stream_reset" // the stream or the session ended early
)

var errThrottled = errors.New("sends too much")

// receive handles a stream with a direct message. A refused message is no violation by itself,
// since an honest peer retries after a pause. Refusals above peers.DirectRefusalRate are
// violations.
func (c *directMessenger) receive(stream network.Stream) {
	n, from := c.topic.net, stream.Conn().RemotePeer()
	err := c.admit(stream, from)
	if err == nil {
		_ = stream.Close()
		return
	}
	_ = stream.Reset()
	reason := rejectedStreamReset
	switch {
	case errors.Is(err, access.ErrNotAllowed):
		reason = rejectedBlocked
	case errors.Is(err, protocol.ErrMalformed):
		reason = rejectedMalformed
	case errors.Is(err, errThrottled):
		reason = rejectedThrottled
		if !n.Policy.Allow(time.Now(), from, peers.DirectRefusal, 1) {
			n.ReportViolation(from, 1, fmt.Errorf("direct messages: %w", err))
		}
	}
	c.topic.metrics.DirectRejected(reason)
	c.topic.log.Debug("direct message not taken", "peer", from, "error", err)
}

func (c *directMessenger) admit(stream network.Stream, from peer.ID) error {
	n := c.topic.net
	if n.Policy.Refused(time.Now(), from) || c.roster != nil && !c.roster[from] {
		return access.ErrNotAllowed
	}
	if !n.Policy.Allow(time.Now(), from, peers.Direct, 1) || !c.slots.Acquire(from) {
		return errThrottled
	}
	defer c.slots.Release(from)
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
		if !n.Policy.Allow(time.Now(), from, peers.DirectByte, bytes) {
			return errThrottled
		}
		return nil
	})
	if err != nil {
		return c.topic.reportMalformed(stream, err)
	}
	ctx, cancel := context.WithTimeout(c.topic.ctx, receiveTimeout)
	defer cancel()
	if err := c.topic.do(ctx, func(a *agent.Agent, now time.Time) { a.Direct(now, from, message.Exchange, message.Data) }); err != nil {
		return err
	}
	c.topic.metrics.DirectReceived(message.Exchange)
	_ = protocol.WriteReceipt(stream) // without the receipt the sender repeats the message
	return nil
}
