package securesum

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
)

// Before an agent contributes to a round, it asks the round's committee whether its members are
// present. A contribution costs privacy budget even if the round fails, and without a quorum the
// round must fail. An answer is not binding.

// maxPassed is the maximum number of times that the wait for a quorum doubles.
const maxPassed = 6

// lastReport holds the round and the time of a peer's latest message. Round 0 means that there is
// none.
type lastReport struct {
	round uint64
	tick  int
}

// elected caches the committee of a round, since its election takes a hash for each roster entry.
type elected struct {
	round   uint64
	members []int // roster indices, in order of rank
}

func (e *Exchange) committee(round uint64) []int {
	if e.elected.round != round {
		e.elected = elected{round: round}
		for _, id := range Elect(e.cfg.Task, round, e.cfg.Roster, e.cfg.Committee.Members) {
			e.elected.members = append(e.elected.members, e.index[id])
		}
	}
	return e.elected.members
}

// receiveMessage records the round of a peer's message. A peer that has voted in the round, or
// knows its result, accepts no further contribution and counts as not present.
func (e *Exchange) receiveMessage(sender int, m message) {
	switch {
	case m.round < e.lastReports[sender].round:
	case m.kind == kindCertificate || m.kind == kindSum || m.kind == kindStatus && (m.status.vote != nil || m.status.certified):
		e.lastReports[sender] = lastReport{}
	default:
		e.lastReports[sender] = lastReport{m.round, e.clock}
	}
}

// Gather asks the committee of the round that Next returns whether its members are present. met
// reports whether a quorum is. A member counts as present if it has sent this agent a message of
// this round within the length of a turn. The agent itself counts as present if it is a member.
//
// The caller must return the outputs in the same step. Gather asks at most once in a tick, so it
// may be called in every step in which the agent wishes to contribute. If a committee has lacked a
// quorum for the duration of a round, the round is opened anyway and ends without a sum, because
// the next round has another committee. Each further such round in a row waits twice as long, up to
// 64 times, so that a long absence does not use up the rounds.
func (e *Exchange) Gather() (out []strategy.Output, met bool) {
	round, ok := e.Next()
	if !ok {
		return nil, false
	}
	there := 0
	var silent []int
	for _, i := range e.committee(round) {
		w := e.lastReports[i]
		if i == e.self || w.round == round && e.clock-w.tick <= e.cfg.Turn {
			there++
		}
		if w != (lastReport{round, e.clock}) {
			silent = append(silent, i)
		}
	}
	if now := (lastReport{round, e.clock}); e.called != now {
		e.called = now
		e.sendTo(silent, message{round: round, kind: kindCall})
	}
	switch met = there >= e.cfg.Committee.Quorum; {
	case met:
		e.unmet, e.passed = lastReport{}, 0
	case e.unmet.round != round:
		e.unmet = lastReport{round, e.clock}
	case e.clock-e.unmet.tick >= e.cfg.Deadline<<min(e.passed, maxPassed) && !e.Underway():
		e.passed++
		e.open(round)
	}
	return e.take(), met
}

// calls reports whether the agent has called the committee of a round within the length of a turn.
func (e *Exchange) calls(round uint64) bool {
	return e.called.round == round && e.clock-e.called.tick <= e.cfg.Turn
}

// answerCall answers a call: the agent is present. It answers each sender at most once in a tick.
// It does not answer if the agent is still in an earlier round, or if the round accepts no further
// contribution. Such a contribution would cost privacy budget without being in a sum. A sender that
// asks about an earlier round receives the status of the current round instead.
func (e *Exchange) answerCall(sender int, m message) {
	if m.kind != kindCall || e.reminded.has(sender) {
		return
	}
	reply := message{round: m.round, kind: kindHere}
	switch r := e.current; {
	case r == nil || m.round > r.number && r.over():
	case m.round > r.number || m.round == r.number && r.closed():
		return
	case m.round < r.number:
		reply = r.status(false)
	}
	e.reminded.add(sender)
	e.send(sender, reply)
}

// warnOf warns, once for each peer, that the peer uses another version of messages.
func (e *Exchange) warnOf(sender int, version byte) {
	if e.unlike.has(sender) {
		return
	}
	e.unlike.add(sender)
	e.emit(strategy.Warn{Message: fmt.Sprintf("node %s sends messages of private sums of version %d, and this node's are of version %d: neither counts what the other gives or says; all nodes of a roster need one version of fbo",
		e.cfg.Roster[sender], version, wireVersion)})
}
