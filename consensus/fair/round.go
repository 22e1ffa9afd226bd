package fair

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/strategy"
)

func (e *Exchange) turnName() string { return fmt.Sprintf("%d/%d", e.barrier.Number(), e.turn) }

// expected returns the parties for which the round waits. Before the first batch these are all
// parties, and then those with a design in the latest batch. Parties that have left are not
// included.
func (e *Exchange) expected() (ids []peer.ID) {
	for party, id := range e.roster {
		if !e.left[party] && (e.current.Number == 0 || e.assigned[party] == e.current.Number) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (e *Exchange) hasSent(id peer.ID) bool { return e.ready(slices.Index(e.roster, id)) }

// ready reports whether a party has evaluated its starting designs and its latest assigned design,
// so that it can get another one.
func (e *Exchange) ready(party int) bool {
	return e.readyIn(e.book, party)
}

func (e *Exchange) readyIn(b *book, party int) bool {
	return b.started(party, e.task.Strategy.InitialDesigns) && b.reported(party, e.assigned[party])
}

// readyParties returns the parties that can get a design.
func (e *Exchange) readyParties() (parties []int) {
	for party := range e.roster {
		if e.ready(party) && !e.left[party] {
			parties = append(parties, party)
		}
	}
	return parties
}

// advance takes the next step of the round, if one is possible now.
func (e *Exchange) advance(view strategy.View) {
	if e.working || e.resting || !e.chooses() {
		return
	}
	if e.follow() {
		return
	}
	expected := e.expected()
	if len(e.barrier.Waits(expected, e.hasSent)) > 0 {
		if !e.counting && len(e.readyParties()) > 0 {
			e.counting = true
			e.emit(strategy.SetTimer{Name: deadlineTimer + " " + strconv.Itoa(e.barrier.Number()), After: time.Duration(e.settings.RoundTimeout) * time.Second})
		}
		return
	}
	parties := e.readyParties()
	if len(parties) == 0 {
		return // all parties are late; the round begins with the next result
	}
	leader := e.leader(view)
	if leader == e.self {
		e.choose(parties)
		return
	}
	if o := e.offers[leader]; e.offered(leader) && e.book.has(o.Counts) {
		e.check(leader, o)
		return
	}
	if !e.turning {
		e.turning = true
		e.emit(strategy.SetTimer{Name: turnTimer + " " + e.turnName(), After: turnTime})
	}
}

// offered reports whether this node has received the party's batch for the current turn of the
// round.
func (e *Exchange) offered(party int) bool {
	o, ok := e.offers[party]
	return ok && o.Round == e.barrier.Number() && o.Turn == e.turn
}

// leader returns the party that has the turn. It passes over absent parties.
func (e *Exchange) leader(view strategy.View) int {
	if e.mediator >= 0 {
		return e.self
	}
	present := presence.Of(view)
	for {
		id := e.turns.Leader(e.barrier.Number(), e.turn)
		party := slices.Index(e.roster, id)
		switch {
		case party == e.self || e.offered(party):
			return party
		case !e.turns.Forgiven(e.barrier.Number(), e.turn):
			e.turn++
			e.turning = false
		case e.replaying || present.Has(id):
			return party
		case e.left[party]:
			e.nextTurn() // the party has announced that it leaves
		default:
			e.passOver("is not there")
		}
	}
}

// passOver ends the current turn, and warns about the party that had it.
func (e *Exchange) passOver(why string) {
	id := e.turns.Leader(e.barrier.Number(), e.turn)
	e.warn("round %d: node %s, whose turn it was to propose, %s; it was passed over", e.barrier.Number(), id, why)
	e.nextTurn()
}

// nextTurn ends the current turn without a warning.
func (e *Exchange) nextTurn() {
	e.turns.PassOver(e.barrier.Number(), e.turn)
	e.turn++
	e.turning = false
}
