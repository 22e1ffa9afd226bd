package fair

import (
	"context"
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// offer is a proposed batch with the signed share that contains it.
type offer struct {
	protocol.Batch
	share protocol.Share
}

// follow begins the check of a proposed batch of a later round than this node's. Such batches exist
// if other parties continued while this node was unreachable. It reports whether there is one.
func (e *Exchange) follow() bool {
	for party := range e.roster {
		o, ok := e.offers[party]
		if ok && o.Round > e.barrier.Number() && e.begun(o.Round, party) && e.book.has(o.Counts) {
			e.check(party, o)
			return true
		}
	}
	return false
}

// begun reports whether a party other than the batch's author has evaluated in the round before it.
// That shows that the previous round really took place.
func (e *Exchange) begun(round, author int) bool {
	for party := range e.roster {
		if party != author && e.book.latest(party) >= round-1 {
			return true
		}
	}
	return false
}

// chosen and checked are the results of the computations of choose and check.
type (
	chosen struct {
		state
		choice
		turn int
	}
	checked struct {
		party     int
		offer     offer
		own       choice
		objection error
	}
)

// choose begins the computation of the batch that this node proposes in its turn, for these
// parties.
func (e *Exchange) choose(parties []int) {
	e.working = true
	s := state{round: e.barrier.Number(), book: e.book.upTo(e.book.counts()), parties: parties}
	chooser, turn := e.chooser, e.turn
	e.emit(strategy.Work{Name: "batch", Run: func(ctx context.Context, _ strategy.View, _ strategy.Seed) (any, error) {
		c, err := chooser.choose(ctx, s)
		return chosen{s, c, turn}, err
	}})
}

// check begins the check of a batch that a party has proposed.
func (e *Exchange) check(party int, o offer) {
	delete(e.offers, party)
	if objection := e.object(o); objection != nil {
		e.refuse(party, o, objection)
		return
	}
	e.working = true
	s := state{round: o.Round, book: e.book.upTo(o.Counts)}
	for _, a := range o.Assigned {
		s.parties = append(s.parties, a.Party)
	}
	chooser := e.chooser
	e.emit(strategy.Work{Name: "check", Run: func(ctx context.Context, _ strategy.View, _ strategy.Seed) (any, error) {
		own, objection, err := chooser.judge(ctx, s, o.Batch)
		return checked{party, o, own, objection}, err
	}})
}

// object returns an error if a batch fails a check that needs no computation. The book must contain
// all evaluations that the batch uses.
func (e *Exchange) object(o offer) error {
	if other := e.book.differing(o.Counts, o.Heads); other >= 0 {
		e.send(slices.Index(e.roster, o.share.Author), e.evidence(other, o.Counts[other]))
		return fmt.Errorf("it was made from other results of party %s than this node has", e.roster[other])
	}
	basis := e.book.upTo(o.Counts)
	if most := basis.assigned() + protocol.MaxParties; o.Round-1 > most {
		return fmt.Errorf("it is of round %d, and its results cannot be of more than %d rounds", o.Round, most)
	}
	served := map[int]bool{}
	for _, a := range o.Assigned {
		served[a.Party] = true
		if !e.chooser.offers(basis, a) {
			return fmt.Errorf("it has a design for party %s that is none of those that it can evaluate", e.roster[a.Party])
		}
		if !basis.started(a.Party, e.task.Strategy.InitialDesigns) {
			return fmt.Errorf("it has a design for party %s, which has not evaluated its starting designs", e.roster[a.Party])
		}
	}
	if o.Round != e.current.Number+1 {
		return nil // this node does not know the assignments of the skipped rounds, so it cannot check the following
	}
	for party, id := range e.roster {
		switch ready := e.readyIn(basis, party); {
		case served[party] && !ready:
			return fmt.Errorf("it has a design for party %s, which still evaluates another one", id)
		case !served[party] && ready && !e.left[party]:
			return fmt.Errorf("it leaves out party %s, which has evaluated all that it was assigned", id)
		case !ready && !e.barrier.Late() && e.ready(party) && slices.Contains(e.expected(), id):
			return fmt.Errorf("it leaves out the results of party %s, which came in time", id)
		}
	}
	return nil
}

// refuse handles a wrong batch. It passes over the author if the author has the turn, and otherwise
// only warns.
func (e *Exchange) refuse(party int, o offer, objection error) {
	e.refused[o.share.Digest] = true
	if o.Round == e.barrier.Number() && o.Turn == e.turn {
		e.passOver("sent a batch that this node does not accept: " + objection.Error())
		return
	}
	e.warn("round %d: the batch of node %s is not accepted: %v", o.Round, e.roster[party], objection)
}

func (e *Exchange) done(in strategy.WorkDone) {
	e.working = false
	if in.Err != nil {
		if in.Name == "batch" {
			e.fail(in.Err)
		}
		return
	}
	switch result := in.Result.(type) {
	case chosen:
		if result.round == e.barrier.Number() && result.turn == e.turn {
			e.propose(result)
		}
	case checked:
		switch {
		case result.objection != nil:
			e.refuse(result.party, result.offer, result.objection)
		case result.offer.Round > e.current.Number:
			e.suspect(result.own)
			e.accept(result.offer.Batch, result.offer.share)
		}
	}
}

// fail abandons the computation of this node's batch. The node tries again only at the next tick,
// since the cause may persist. Without a mediator the turn goes to the next party.
func (e *Exchange) fail(err error) {
	e.resting = true
	if e.mediator < 0 {
		e.passOver("could not compute a batch: " + err.Error())
	}
}

// propose sends this node's batch to the other parties. A mediator sends each party its assignment
// instead.
func (e *Exchange) propose(c chosen) {
	e.suspect(c.choice)
	b := protocol.Batch{
		Round: c.round, Turn: c.turn, Counts: c.book.counts(), Lengthscales: c.hyper.Lengthscales, Noise: c.hyper.Noise,
	}
	b.Heads = c.book.heads(b.Counts)
	for i, party := range c.parties {
		b.Assigned = append(b.Assigned, protocol.Assigned{Party: party, Point: c.points[i]})
	}
	if e.mediator >= 0 {
		e.assign(b)
		return
	}
	payload, err := b.Encode(e.task.Space)
	if err != nil {
		e.fail(err)
		return
	}
	share, ok := e.seal(batchKind, c.round, payload)
	if !ok {
		e.resting = true
		return
	}
	e.accept(b, share)
	e.tell(share.Envelope)
}

// assign sends each party its design.
func (e *Exchange) assign(b protocol.Batch) {
	gains := e.totals()
	var sent []int
	for _, a := range b.Assigned {
		gain := min(max(gains[a.Party], -protocol.MaxUnit), protocol.MaxUnit) // an extreme result of one party must not prevent the assignments to all parties
		payload, err := protocol.Assignment{Round: b.Round, Party: e.roster[a.Party], Point: a.Point, Parties: len(b.Assigned), RewardDifference: gain}.Encode(e.task.Space)
		if err != nil {
			e.warn("round %d: %v", b.Round, err)
			e.resting = true
			return
		}
		share, ok := e.seal(assignmentKind, b.Round, payload)
		if !ok {
			e.resting = true
			return
		}
		e.record(assignmentRecord, share.Envelope)
		e.queued[a.Party] = share.Envelope
		sent = append(sent, a.Party)
	}
	e.settle(b)
	for _, party := range sent {
		e.send(party, protocol.FairMessage{Shares: [][]byte{e.queued[party]}})
	}
}

// accept stores a batch as the batch of its round.
func (e *Exchange) accept(b protocol.Batch, share protocol.Share) {
	e.record(batchRecord, share.Envelope)
	e.keepQueued(b, share)
	e.settle(b)
}

// settle ends the round of a batch and begins the next round.
func (e *Exchange) settle(b protocol.Batch) {
	if b.Round == e.barrier.Number() {
		e.barrier.Close(e.expected(), e.hasSent)
	}
	e.takeDown(b)
	e.barrier.Open(b.Round + 1)
	e.turn, e.turning, e.counting = 0, false, false
	clear(e.refused)
	for party, o := range e.offers {
		if o.Round <= b.Round {
			delete(e.offers, party)
		}
	}
	e.show()
}

// takeDown stores the assignments of a batch.
func (e *Exchange) takeDown(b protocol.Batch) {
	e.current.Number, e.current.Parties = b.Round, len(b.Assigned)
	for _, a := range b.Assigned {
		e.give(a.Party, b.Round, a.Point)
	}
}

// give stores the design of a party in a round.
func (e *Exchange) give(party, round int, point protocol.Point) {
	e.assigned[party], e.points[party] = round, &point
	if party == e.self {
		e.current.Design, e.current.Of = e.task.Space.Decode(point.Encoded(e.task.Space)), round
	}
}

// catchUp accepts this node's design from a batch of an earlier round, and reports whether it did.
// Other parties used that batch while this node was unreachable, and they wait for its result.
func (e *Exchange) catchUp(b protocol.Batch) bool {
	for _, a := range b.Assigned {
		if a.Party == e.self && b.Round > e.assigned[e.self] && e.waits() && e.chooser.offers(e.book, a) {
			e.give(a.Party, b.Round, a.Point)
			return true
		}
	}
	return false
}

// keepQueued stores a batch for the parties that have a design in it. They request the batch if
// they lack it. It is for tasks without a mediator.
func (e *Exchange) keepQueued(b protocol.Batch, share protocol.Share) {
	e.latest = share.Envelope
	for _, a := range b.Assigned {
		e.queued[a.Party] = share.Envelope
	}
}
