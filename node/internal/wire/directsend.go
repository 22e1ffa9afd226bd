package wire

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	directTimeout        = 10 * time.Second // for one attempt, without the dial
	directProtocolPrefix = "/fbo/direct/1/" // followed by the task's ID or tag
)

// Limits of the queues. In addition one message to each peer is in progress.
const (
	maxQueued      = 1024 // messages of a session
	maxQueuedBytes = 32 << 20

	maxQueuedToPeer      = 32
	maxQueuedBytesToPeer = 4 << 20
)

// Reasons for which a direct message was dropped; labels of a metric.
const (
	droppedQueueFull = "queue_full" // a newer message took its place
	droppedExpired   = "expired"    // the peer was not reached within a minute
	droppedBlocked   = "blocked"    // the peer may not take part, is banned, or is this node
	droppedInvalid   = "invalid"    // the exchange produced a message above the size limit
)

// directMessenger sends and receives the direct messages of a session. Each message has its own
// stream. The receiver confirms it after its agent has processed the message and the resulting
// records are on disk.
//
// A message to an unreachable peer is retried for a minute, after protocol.DirectPause, and at once
// when the peer joins the topic. The queues are lost at a restart. If a confirmation is lost, the
// message is delivered again.
type directMessenger struct {
	topic     *Topic
	exchanges map[string]bool
	roster    map[peer.ID]bool // the only peers whose messages are accepted; nil: all peers
	slots     *peers.DirectSlots

	mu           sync.Mutex
	queues       map[peer.ID]*directQueue // queues of the peers with a message that waits or is in progress
	count, bytes int                      // number and size of all waiting messages
}

// directQueue holds the messages that wait for one peer.
type directQueue struct {
	waiting []queuedDirect // oldest first
	bytes   int
	news    chan struct{} // receives a signal when the peer joins the task
}

type queuedDirect struct {
	protocol.Direct
	at time.Time
}

func (l queuedDirect) size() int { return len(l.Exchange) + len(l.Data) }

func newDirectMessenger(t *Topic, exchanges []string) *directMessenger {
	c := &directMessenger{topic: t, exchanges: map[string]bool{}, queues: map[peer.ID]*directQueue{}}
	for _, name := range exchanges {
		c.exchanges[name] = true
	}
	if roster := t.task.Roster(); roster != nil {
		c.roster = make(map[peer.ID]bool, len(roster))
		for _, id := range roster {
			c.roster[id] = true
		}
	}
	c.slots = peers.NewDirectSlots(func(id peer.ID) bool { return c.roster[id] || t.net.Policy.Listed(id) })
	return c
}

func (c *directMessenger) protocol() libp2pprotocol.ID {
	return libp2pprotocol.ID(directProtocolPrefix + c.topic.called.String())
}

// enqueue queues a message; it implements Topic.Send.
func (c *directMessenger) enqueue(d agent.Direct) {
	l := queuedDirect{protocol.Direct{Exchange: d.Exchange, Data: bytes.Clone(d.Data)}, time.Now()}
	if err := l.Check(); err != nil {
		c.topic.log.Warn("direct message cannot be sent", "peer", d.To, "error", err)
		c.topic.metrics.DirectDropped(droppedInvalid, 1)
		return
	}
	if d.To == c.topic.net.Host.ID() {
		c.topic.metrics.DirectDropped(droppedBlocked, 1)
		return
	}
	c.mu.Lock()
	q := c.queues[d.To]
	if q == nil {
		q = &directQueue{news: make(chan struct{}, 1)}
		c.queues[d.To] = q
		c.topic.running.Go(func() { c.deliverQueue(d.To, q) })
	}
	dropped := c.insert(q, len(q.waiting), l)
	c.mu.Unlock()
	c.noteDropped(d.To, droppedQueueFull, dropped)
}

// deliverQueue delivers the messages in a peer's queue until the queue is empty.
func (c *directMessenger) deliverQueue(to peer.ID, q *directQueue) {
	failures := 0
	for {
		l, ok := c.dequeue(to, q)
		if !ok {
			return
		}
		err := c.deliver(to, l.Direct)
		switch {
		case c.topic.ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			c.topic.metrics.DirectSent(l.Exchange)
			continue
		case errors.Is(err, access.ErrNotAllowed):
			c.noteDropped(to, droppedBlocked, 1)
			continue
		}
		failures++
		c.topic.metrics.DirectFailed()
		c.topic.log.Debug("direct message not delivered", "peer", to, "exchange", l.Exchange, "error", err)
		c.requeue(to, q, l)
		select {
		case <-c.topic.ctx.Done():
			return
		case <-q.news:
			failures = 0
		case <-time.After(c.topic.net.Policy.Jittered(protocol.DirectPause(failures))):
		}
	}
}

// dequeue removes and returns the oldest message that has not expired. If there is none, it removes
// the queue and returns false.
func (c *directMessenger) dequeue(to peer.ID, q *directQueue) (l queuedDirect, ok bool) {
	c.mu.Lock()
	expired := 0
	for !ok && len(q.waiting) > 0 {
		l = c.remove(q)
		if ok = time.Since(l.at) <= protocol.DirectLifetime; !ok {
			expired++
		}
	}
	if !ok {
		delete(c.queues, to)
	}
	c.mu.Unlock()
	c.noteDropped(to, droppedExpired, expired)
	return l, ok
}

func (c *directMessenger) requeue(to peer.ID, q *directQueue, l queuedDirect) {
	c.mu.Lock()
	dropped := c.insert(q, 0, l)
	c.mu.Unlock()
	c.noteDropped(to, droppedQueueFull, dropped)
}

// noteDropped counts and logs dropped messages.
func (c *directMessenger) noteDropped(to peer.ID, reason string, count int) {
	if count > 0 {
		c.topic.metrics.DirectDropped(reason, count)
		c.topic.log.Info("direct messages given up", "peer", to, "reason", reason, "count", count)
	}
}

// isBusy implements Topic.Sending.
func (c *directMessenger) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.queues {
		if c.topic.net.Host.Network().Connectedness(id) == network.Connected {
			return true
		}
	}
	return false
}

// retryNow ends the pause before the next attempt for a peer.
func (c *directMessenger) retryNow(id peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.queues[id]; q != nil {
		select {
		case q.news <- struct{}{}:
		default:
		}
	}
}

// The caller of insert, remove and longestWaiting must hold mu.

// insert puts a message into a queue and returns the number of messages that it dropped to make
// room.
func (c *directMessenger) insert(q *directQueue, at int, l queuedDirect) (dropped int) {
	q.waiting = slices.Insert(q.waiting, at, l)
	q.bytes += l.size()
	c.count++
	c.bytes += l.size()
	for len(q.waiting) > maxQueuedToPeer || q.bytes > maxQueuedBytesToPeer {
		c.remove(q)
		dropped++
	}
	for c.count > maxQueued || c.bytes > maxQueuedBytes {
		c.remove(c.longestWaiting())
		dropped++
	}
	return dropped
}

func (c *directMessenger) remove(q *directQueue) queuedDirect {
	l := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.bytes -= l.size()
	c.count--
	c.bytes -= l.size()
	return l
}

func (c *directMessenger) longestWaiting() (oldest *directQueue) {
	for _, q := range c.queues {
		if len(q.waiting) > 0 && (oldest == nil || q.waiting[0].at.Before(oldest.waiting[0].at)) {
			oldest = q
		}
	}
	return oldest
}

// deliver makes one attempt to deliver a message. It dials the peer first if there is no
// connection.
func (c *directMessenger) deliver(to peer.ID, d protocol.Direct) error {
	t, n := c.topic, c.topic.net
	if n.Policy.Refused(time.Now(), to) {
		return access.ErrNotAllowed
	}
	if n.Host.Network().Connectedness(to) != network.Connected {
		if err := n.dialAgain(t.ctx, t.policy.Address(to)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(t.ctx, directTimeout)
	defer cancel()
	stream, err := n.Host.NewStream(network.WithNoDial(ctx, "direct message"), to, c.protocol())
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = stream.Reset() })() // ends the wait for the peer at the timeout
	if err := c.write(stream, d); err != nil {
		_ = stream.Reset()
		return err
	}
	_ = stream.Close() // the confirmation has arrived
	return nil
}

func (c *directMessenger) write(stream network.Stream, d protocol.Direct) error {
	if err := c.topic.prove(stream); err != nil {
		return err
	}
	if err := protocol.WriteDirect(stream, d); err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}
	return c.topic.reportMalformed(stream, protocol.ReadReceipt(stream))
}
