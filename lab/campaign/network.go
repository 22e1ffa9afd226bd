package campaign

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
)

// network carries shares by gossip, sync requests and direct messages, as node does. Gossip loses
// shares; sync requests repair that.
type network struct {
	queues map[[2]int]*queue
}

// queue holds the direct messages of a member for a peer. One is sent at a time.
type queue struct {
	messages []letter
	failures int
	busy     bool
}

type letter struct {
	message protocol.Direct
	at      time.Duration
}

// Times and limits of the network; those of nodes are the same.
const (
	networkDelay = 200 * time.Millisecond
	syncInterval = time.Minute
	maxQueue     = 32
)

func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most) + 1))
}

// during returns the faults of a kind that are in effect.
func (w *world) during(kind FaultKind) (list []Fault) {
	for _, f := range w.Faults {
		if f.Kind == kind && f.At <= w.now() && w.now() < f.At+f.For {
			list = append(list, f)
		}
	}
	return list
}

// delay returns the delay of a message.
func (w *world) delay() time.Duration {
	delay := time.Millisecond + upTo(w.rng, networkDelay)
	for _, f := range w.during(Delay) {
		delay += upTo(w.rng, f.Jump)
	}
	return delay
}

// lost reports whether a message is lost.
func (w *world) lost() bool {
	for _, f := range w.during(Loss) {
		if w.rng.IntN(1000) < f.Part {
			return true
		}
	}
	return false
}

// reach reports whether two members can exchange messages.
func (w *world) reach(a, b *member) bool {
	if !a.up() || !b.up() {
		return false
	}
	for _, f := range w.during(Cut) {
		if (f.Member == a.number) != (f.Member == b.number) {
			return false
		}
	}
	return true
}

// publish sends a share to all members that are connected.
func (n *network) publish(from *member, share protocol.Share) {
	w := from.w
	if share.Kind != presence.Kind {
		w.result.Shares++
	}
	copies := 1
	if len(w.during(Delay)) > 0 && w.rng.IntN(5) == 0 {
		copies = 2
	}
	for _, to := range w.members {
		if to == from || !to.up() || !w.linked(from, to) {
			continue
		}
		for range copies {
			if w.lost() {
				continue
			}
			to.later(w.delay(), func() error {
				if w.linked(from, to) {
					to.receive(share, 0, agent.Source{Gossiped: true})
				}
				return nil
			})
		}
	}
}

// linked reports whether no cut lies between two members, whether they run or not.
func (w *world) linked(a, b *member) bool {
	for _, f := range w.during(Cut) {
		if (f.Member == a.number) != (f.Member == b.number) {
			return false
		}
	}
	return true
}

func (m *member) receive(share protocol.Share, age time.Duration, by agent.Source) {
	result, err := m.agent.ReceiveBy(m.clock(), share, age, by)
	m.judge(result, err, share)
	m.carryOut()
}

// welcome connects a member to all others: they fetch shares from each other and repeat direct
// messages.
func (m *member) welcome() {
	if !m.up() {
		return
	}
	for _, other := range m.w.members {
		if other == m || !m.w.reach(m, other) {
			continue
		}
		m.meet(other)
		other.meet(m)
		m.w.network.attempt(m, other)
		m.w.network.attempt(other, m)
	}
}

func (m *member) meet(other *member) {
	m.later(m.w.delay(), func() error {
		m.agent.Joined(other.id, "group "+other.String())
		if m.carryOut() {
			m.fetch(other)
		}
		return nil
	})
}

// reconcile fetches the missing shares of a random peer, at first often and then once a minute.
func (m *member) reconcile(pause time.Duration) {
	m.later(pause/2+upTo(m.w.rng, pause), func() error {
		others := slices.DeleteFunc(slices.Clone(m.w.members), func(other *member) bool { return other == m || !m.w.reach(m, other) })
		if len(others) > 0 {
			m.fetch(others[m.w.rng.IntN(len(others))])
		}
		m.reconcile(min(2*pause, syncInterval))
		return nil
	})
}

// fetch sends a sync request and handles the response. Both are encoded.
func (m *member) fetch(from *member) {
	if m.w.Break == NeverSync {
		return
	}
	var request bytes.Buffer
	sealed := protocol.SyncRequest{Have: m.agent.Digest()}
	if m.must(protocol.WriteSyncRequest(&request, sealed)); m.w.lost() || !m.w.reach(m, from) {
		return
	}
	from.later(m.w.delay(), func() error {
		asked, err := protocol.ReadSyncRequest(&request)
		from.must(err)
		var response bytes.Buffer
		for _, item := range from.agent.Since(from.clock(), asked.Have) {
			from.must(protocol.WriteSyncItem(&response, item))
		}
		if !m.w.reach(m, from) {
			return nil
		}
		cut := m.w.lost()
		m.w.after(m.w.delay(), m.inLife(func() error {
			if !m.w.linked(m, from) {
				return nil
			}
			content := response.Bytes()
			if cut && len(content) > 0 {
				content = content[:m.w.rng.IntN(len(content))]
			}
			m.catchUp(from, content, cut)
			return nil
		}))
		return nil
	})
}

// inLife returns do for the present life of the member only.
func (m *member) inLife(do func() error) func() error {
	life := m.life
	return func() error {
		if m.life != life || !m.up() {
			return nil
		}
		return do()
	}
}

// errDown ends the reading of a response when the reader has crashed.
var errDown = errors.New("the member is down")

// catchUp handles the response to a sync request, which may have been cut off.
func (m *member) catchUp(from *member, content []byte, cut bool) {
	err := protocol.ReadSyncItems(bytes.NewReader(content), func(item protocol.SyncItem) error {
		if item.ConflictingEnvelope != nil {
			m.w.fail("%v sends a proof of an equivocation to %v", from, m)
			return errDown
		}
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			return err
		}
		m.w.witness.published(m.w.byID[share.Author], share)
		if m.receive(share, item.Age, agent.Source{}); !m.up() {
			return errDown
		}
		return nil
	})
	switch {
	case !m.up():
	case cut:
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			m.w.logf("%v: a response that was cut off: %v", m, err)
		}
	case err != nil:
		m.w.fail("%v cannot read the response of %v: %v", m, from, err)
	default:
		m.agent.CaughtUp(m.clock(), from.id)
		m.carryOut()
	}
}

func (n *network) queue(from, to *member) *queue {
	if n.queues == nil {
		n.queues = map[[2]int]*queue{}
	}
	q := n.queues[[2]int{from.number, to.number}]
	if q == nil {
		q = &queue{}
		n.queues[[2]int{from.number, to.number}] = q
	}
	return q
}

// drop removes the direct messages that a member has not delivered.
func (n *network) drop(from *member) {
	for _, to := range from.w.members {
		delete(n.queues, [2]int{from.number, to.number})
	}
}

// send queues a direct message.
func (n *network) send(from *member, d agent.Direct) {
	w := from.w
	message := protocol.Direct{Exchange: d.Exchange, Data: bytes.Clone(d.Data)}
	from.must(message.Check())
	to := w.byID[d.To]
	if to == nil || to == from {
		return
	}
	if !from.up() { // it crashed just after the message had left
		w.after(w.delay(), func() error { n.deliver(from, to, message); return nil })
		return
	}
	q := n.queue(from, to)
	if q.messages = append(q.messages, letter{message, w.now()}); len(q.messages) > maxQueue {
		q.messages = q.messages[1:]
	}
	n.attempt(from, to)
}

// deliver passes a direct message to its receiver, and reports whether the results are on its disk.
func (n *network) deliver(from, to *member, message protocol.Direct) bool {
	w := from.w
	if !to.up() || !w.linked(from, to) || w.lost() {
		return false
	}
	w.witness.direct(from, to, message)
	to.agent.Direct(to.clock(), from.id, message.Exchange, message.Data)
	return to.carryOut()
}

// attempt sends the next direct message of a queue.
func (n *network) attempt(from, to *member) {
	w, q := from.w, n.queue(from, to)
	for len(q.messages) > 0 && w.now()-q.messages[0].at > protocol.DirectLifetime {
		q.messages = q.messages[1:]
	}
	if q.busy || len(q.messages) == 0 || !from.up() {
		return
	}
	q.busy = true
	next := q.messages[0]
	w.after(w.delay(), from.inLife(func() error {
		delivered := n.deliver(from, to, next.message) && !w.lost() // else the confirmation is lost
		if !from.up() || n.queue(from, to) != q {
			return nil
		}
		q.busy = false
		if delivered {
			q.failures = 0
			if len(q.messages) > 0 && &q.messages[0].message.Data[0] == &next.message.Data[0] {
				q.messages = q.messages[1:]
			}
			n.attempt(from, to)
			return nil
		}
		q.failures++
		pause := protocol.DirectPause(q.failures)
		from.later(pause/2+upTo(w.rng, pause), func() error { n.attempt(from, to); return nil })
		return nil
	}))
}
