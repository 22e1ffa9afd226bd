package sim

import (
	"bytes"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/protocol"
)

// directMessage is a direct message in transit.
type directMessage struct {
	from, to int
	message  protocol.Direct
	at       time.Duration // time at which the agent sent it
	failures int
}

// send accepts a direct message of the agent. Messages to unknown members and to the member itself
// are lost. A message that a node would refuse to send is an error of the exchange and ends the
// run.
func (m *member) send(d agent.Direct) {
	message := protocol.Direct{Exchange: d.Exchange, Data: bytes.Clone(d.Data)}
	if err := message.Check(); err != nil {
		m.fail(fmt.Errorf("exchange %s: %w", d.Exchange, err))
		return
	}
	m.result.Direct++
	m.result.DirectBytes += int64(len(d.Data))
	to, known := m.run.indices[d.To]
	if !known || to == m.index || m.run.Receives != nil && !m.run.Receives(to, m.index) {
		m.result.DirectLost++
		return
	}
	m.run.enqueueDirect(&directMessage{from: m.index, to: to, message: message, at: m.run.now()})
}

// enqueueDirect attempts to deliver a direct message, and repeats the attempt as a node does.
// Network.Degree does not limit it, because a node can reach all known peers.
func (r *run) enqueueDirect(l *directMessage) {
	if r.now()-l.at > protocol.DirectLifetime {
		r.members[l.from].result.DirectLost++
		return
	}
	r.schedule(r.now()+r.network.directDelay(), func() {
		if !r.network.passes(l.from, l.to, r.now()) || r.network.directLost() {
			l.failures++
			r.schedule(r.now()+r.network.directPause(l.failures), func() { r.enqueueDirect(l) })
			return
		}
		r.members[l.to].receiveDirect(r.members[l.from], l.message)
	})
}

func (m *member) receiveDirect(from *member, message protocol.Direct) {
	m.agent.Direct(m.run.clock(), from.id, message.Exchange, message.Data)
	m.carryOut()
}

// Delays and losses of direct messages have their own random stream, so that direct messages do not
// change the delays and losses of shares.

func (n *network) directDelay() time.Duration { return n.Delay + upTo(n.directs, n.Jitter) }

func (n *network) directLost() bool { return n.Loss > 0 && n.directs.Float64() < n.Loss }

func (n *network) directPause(failures int) time.Duration {
	pause := protocol.DirectPause(failures)
	return pause/2 + upTo(n.directs, pause)
}
