package constrainedgp

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/compare"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

type session = [protocol.SessionBytes]byte

// neighbour is the state of the comparisons that the agent has begun with one peer.
type neighbour struct {
	latest       int  // number of observations of the newest design that was compared with the peer
	finished     bool // the comparison of that design has ended
	tries        int  // number of comparisons begun with that design
	rest         int  // ticks until the next try
	conversation *conversation
}

// conversation is a running comparison that the agent has begun.
type conversation struct {
	session    session
	design     protocol.NearOptimal
	age        int                 // ticks since the comparison began
	comparison *compare.Comparison // set only while the agent waits for the answer: after the offer was computed, until the answer arrives
}

// Results of the computations of an offer, an answer and a verdict.
type (
	offer struct {
		to         peer.ID
		session    session
		comparison *compare.Comparison
		message    []byte
	}
	answer struct {
		to      peer.ID
		session session
		message []byte
	}
	verdict struct {
		to      peer.ID
		session session
		exceeds bool
	}
)

// conversation returns the unique name of a comparison. The name is an input of the comparison's
// cryptography, so that its messages are useless in another comparison.
func (e *Private) conversation(begins, answers peer.ID, s session) []byte {
	name := []byte("fbo constrained-gp comparison 1")
	for _, part := range [][]byte{e.task.ID().Bytes(), []byte(begins), []byte(answers), s[:]} {
		name = binary.AppendUvarint(name, uint64(len(part)))
		name = append(name, part...)
	}
	return name
}

// begin begins comparisons of the agent's newest design with all present peers with which it was
// not compared yet.
func (e *Private) begin(view strategy.View) (out []strategy.Output) {
	if e.own.design == nil {
		return nil
	}
	present := presence.Of(view)
	if len(e.peers) >= maxPeers {
		maps.DeleteFunc(e.peers, func(id peer.ID, _ *neighbour) bool { return !present.Has(id) })
	}
	for _, id := range present.Present {
		if id == view.Self {
			continue
		}
		n := e.peers[id]
		if n == nil {
			n = &neighbour{}
			e.peers[id] = n
		}
		if observations := e.own.design.Observations; n.latest < observations {
			n.latest, n.finished, n.tries = observations, false, 0
		}
		if n.conversation == nil && n.rest == 0 && !n.finished {
			out = append(out, e.offer(view.Self, id, n)...)
		}
	}
	return out
}

// offer begins one comparison with a peer.
func (e *Private) offer(self, to peer.ID, n *neighbour) []strategy.Output {
	t := &conversation{design: *e.own.design}
	secret := make([]byte, compare.SecretBytes)
	if err := e.draw(t.session[:], secret); err != nil {
		return []strategy.Output{strategy.Warn{Message: "no comparison begins: " + err.Error()}}
	}
	n.conversation = t
	n.tries++
	bound, name := e.own.bound, e.conversation(self, to, t.session)
	work := strategy.Work{Name: "offer", Run: func(context.Context, strategy.View, strategy.Seed) (any, error) {
		comparison, message, err := compare.Begin(bound, name, bytes.NewReader(secret))
		return offer{to, t.session, comparison, message}, err
	}}
	return []strategy.Output{record(begunRecord, to, binary.AppendUvarint(nil, uint64(n.latest))), work}
}

// draw fills each slice with random bytes.
func (e *Private) draw(memory ...[]byte) error {
	for _, m := range memory {
		if _, err := io.ReadFull(e.random, m); err != nil {
			return err
		}
	}
	return nil
}

// tick abandons comparisons that take too long, and begins the comparisons that are due.
func (e *Private) tick(view strategy.View) []strategy.Output {
	for _, n := range e.peers {
		n.rest = max(n.rest-1, 0)
		if n.conversation == nil {
			continue
		}
		if n.conversation.age++; n.conversation.age > patience {
			n.conversation, n.finished = nil, n.tries >= attempts
		}
	}
	return e.begin(view)
}

// renew renews the hourly budget of answers.
func (e *Private) renew() []strategy.Output {
	next := strategy.SetTimer{Name: hourTimer, After: hour}
	if !e.budget.Spent() {
		return []strategy.Output{next}
	}
	e.budget.Renew()
	clear(e.awaits)
	return []strategy.Output{record(hourRecord, "", nil), next}
}

// receive handles a message of a comparison. It ignores messages that do not belong to a running
// comparison. The peer then abandons its comparison after a while.
func (e *Private) receive(view strategy.View, in strategy.Direct) []strategy.Output {
	c, err := protocol.DecodeComparison(in.Data, e.task.Space)
	if err != nil {
		return nil
	}
	if c.Offer != nil {
		return e.answer(view.Self, in.From, c)
	}
	if c.Verdict != nil {
		return e.accept(in.From, c)
	}
	n := e.peers[in.From]
	if n == nil || n.conversation == nil || n.conversation.session != c.Session || n.conversation.comparison == nil {
		return nil
	}
	if c.Refusal != 0 {
		n.conversation, n.tries, n.rest = nil, n.tries-1, frequentPause
		if c.Refusal == protocol.RefusedEarly {
			n.rest = earlyPause
		}
		return nil
	}
	comparison := n.conversation.comparison
	n.conversation.comparison = nil
	return []strategy.Output{strategy.Work{Name: "verdict", Run: func(context.Context, strategy.View, strategy.Seed) (any, error) {
		// An invalid answer counts as one whose threshold the bound does not exceed. Any other
		// reaction would disclose a second bit to the author of the answer.
		exceeds, err := comparison.End(c.Answer)
		return verdict{in.From, c.Session, exceeds && err == nil}, nil
	}}}
}

// answer answers an offer if the budget allows it, and otherwise refuses.
func (e *Private) answer(self, from peer.ID, c protocol.Comparison) []strategy.Output {
	refusal := 0
	if !e.ready {
		refusal = protocol.RefusedEarly
	} else if e.budget.Check(string(from)) != nil {
		refusal = protocol.RefusedOften
	}
	if refusal != 0 {
		return e.send(from, protocol.Comparison{Session: c.Session, Refusal: refusal})
	}
	secret := make([]byte, compare.SecretBytes)
	if err := e.draw(secret); err != nil {
		return []strategy.Output{strategy.Warn{Message: "no comparison is answered: " + err.Error()}}
	}
	e.budget.Spend(string(from))
	threshold, name := e.own.threshold, e.conversation(from, self, c.Session)
	return []strategy.Output{record(answeredRecord, from, nil), strategy.Work{Name: "answer", Run: func(context.Context, strategy.View, strategy.Seed) (any, error) {
		message, err := compare.Answer(threshold, name, c.Offer, bytes.NewReader(secret))
		if err != nil {
			return nil, nil // the offer of the peer is invalid; this node need not report that
		}
		return answer{from, c.Session, message}, nil
	}}}
}

// accept handles the verdict of a comparison that the agent has answered. A peer's newest verdict
// replaces its earlier one. A verdict without a design removes the peer's earlier design.
func (e *Private) accept(from peer.ID, c protocol.Comparison) []strategy.Output {
	if awaited, ok := e.awaits[from]; !ok || awaited != c.Session {
		return nil
	}
	delete(e.awaits, from)
	_, known := e.received[from]
	if c.Verdict.Design == nil {
		if !known {
			return nil
		}
		delete(e.received, from)
		return []strategy.Output{record(receivedRecord, from, nil), e.show()}
	}
	if !known && len(e.received) >= maxPeers {
		return nil
	}
	payload, err := c.Verdict.Design.Encode(e.task.Space)
	if err != nil {
		return nil
	}
	e.received[from] = *c.Verdict.Design
	return []strategy.Output{record(receivedRecord, from, payload), e.show()}
}

// done handles the end of a computation and continues the comparison to which it belongs.
func (e *Private) done(view strategy.View, in strategy.WorkDone) []strategy.Output {
	if in.Name == "design" {
		e.computing = false
	}
	switch result := in.Result.(type) {
	case found:
		e.own, e.ready = result, true
		return append(e.begin(view), e.compute(view)...)
	case offer:
		if t := e.conversationWith(result.to, result.session); t != nil {
			t.comparison = result.comparison
			return e.send(result.to, protocol.Comparison{Session: t.session, Offer: result.message})
		}
	case answer:
		e.awaits[result.to] = result.session
		return e.send(result.to, protocol.Comparison{Session: result.session, Answer: result.message})
	case verdict:
		t := e.conversationWith(result.to, result.session)
		if t == nil {
			return nil
		}
		n := e.peers[result.to]
		n.conversation, n.finished = nil, true
		verdict := &protocol.Verdict{}
		if result.exceeds {
			verdict.Design = &t.design
		}
		return append(e.send(result.to, protocol.Comparison{Session: t.session, Verdict: verdict}), e.begin(view)...)
	}
	return nil
}

// conversationWith returns the running comparison with a peer if it has this session. Otherwise it
// returns nil.
func (e *Private) conversationWith(id peer.ID, s session) *conversation {
	if n := e.peers[id]; n != nil && n.conversation != nil && n.conversation.session == s {
		return n.conversation
	}
	return nil
}

func (e *Private) send(to peer.ID, c protocol.Comparison) []strategy.Output {
	data, err := c.Encode(e.task.Space)
	if err != nil {
		return []strategy.Output{strategy.Warn{Message: "a comparison is not sent: " + err.Error()}}
	}
	return []strategy.Output{strategy.Send{To: to, Data: data}}
}

// The first byte of a record is the type of its content. The length of a peer ID follows, then the
// ID, then the content that the comments below describe.
const (
	begunRecord    = 'b' // a comparison was begun with the peer; number of observations of the compared design
	answeredRecord = 'a' // an offer of the peer was answered; empty
	hourRecord     = 'h' // a new hour of the budget of answers begins; no peer ID, empty
	receivedRecord = 'd' // a verdict of the peer arrived; its design, or empty if the verdict has none
)

func record(tag byte, id peer.ID, rest []byte) strategy.Record {
	data := append(binary.AppendUvarint([]byte{tag}, uint64(len(id))), id...)
	return strategy.Record{Data: append(data, rest...)}
}

// replay restores the state of an earlier run. It skips unreadable records.
func (e *Private) replay(data []byte) {
	if len(data) == 0 {
		return
	}
	tag, body := data[0], data[1:]
	length, size := binary.Uvarint(body)
	if size <= 0 || length > uint64(len(body)-size) {
		return
	}
	id, rest := peer.ID(body[size:size+int(length)]), body[size+int(length):]
	switch tag {
	case begunRecord:
		if observations, size := binary.Uvarint(rest); size > 0 {
			e.peers[id] = &neighbour{latest: int(min(observations, 1<<31-1)), finished: true}
		}
	case answeredRecord:
		e.budget.Spend(string(id))
	case hourRecord:
		e.budget.Renew()
	case receivedRecord:
		delete(e.received, id)
		if design, err := protocol.DecodeNearOptimal(rest, e.task.Space); err == nil && len(rest) > 0 {
			e.received[id] = design
		}
	}
}
