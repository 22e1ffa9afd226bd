package securesum

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
)

// Proofs against dealers are messages that any agent can verify. A complaint contains a part to
// which the dealer has committed itself, and the header that the part does not fit. A contradiction
// contains two headers of one dealer for one round. Only the dealer can cause either. An agent that
// has received a valid proof accepts no further deal of this dealer, in any round.

// judge verifies a proof from a peer. After an invalid proof it ignores all proofs of that sender
// for the rest of this run. So each dishonest sender costs at most one verification.
func (e *Exchange) judge(sender int, m message) {
	if e.disqualified.has(m.dealer) || e.slanderers.has(sender) {
		return
	}
	if !e.proves(m) {
		e.slanderers.add(sender)
		e.emit(strategy.Warn{Message: fmt.Sprintf("node %s says without a proof that node %s deals wrong parts of private sums; that counts for nothing", e.cfg.Roster[sender], e.cfg.Roster[m.dealer])})
		return
	}
	e.disqualify(m)
	if e.current != nil {
		e.current.advance()
	}
}

// proves reports whether a complaint or a contradiction is a valid proof.
func (e *Exchange) proves(m message) bool {
	d := dealing{m.round, m.dealer}
	if m.kind == kindContradiction {
		return e.name(d, m.header) != e.name(d, m.other) && e.signed(d, m.header) && e.signed(d, m.other)
	}
	return e.signed(d, m.header) && e.opens(d, m.header, m.rank, m.part) && !e.fits(d, m.header, m.rank, m.part)
}

// disqualify stores a dealer with the proof against it, and writes a record.
func (e *Exchange) disqualify(proof message) {
	e.disqualified.add(proof.dealer)
	e.proofs[proof.dealer] = e.shape.encode(proof)
	e.record(record{kind: recordDisqualified, round: proof.round, digest: e.shape.digest, dealer: proof.dealer})
}

// expose sends the whole roster a proof that the agent has found.
func (r *round) expose(proof message) {
	proof.round = r.number
	r.e.disqualify(proof)
	r.e.sendTo(r.everybody, proof)
}

// inform sends a peer a proof against a dealer, if the peer reports that it holds a part of that
// dealer.
func (r *round) inform(sender int, held set) {
	for dealer, proof := range r.e.proofs {
		if proof == nil || !held.has(dealer) {
			continue
		}
		if r.proofsSent[sender].due(r.ticks) {
			r.e.emit(strategy.Send{To: r.e.cfg.Roster[sender], Data: proof})
		}
		return
	}
}

// accept stores a contributor's part for this agent. It ignores a part that does not open: any
// agent could have made it, and the contributor must send the correct one. Of several parts of a
// contributor the first is used.
func (r *round) accept(contributor int, h header, p part) {
	if !r.serves() || r.e.disqualified.has(contributor) {
		return
	}
	if r.held.has(contributor) {
		r.compare(contributor, h)
		return
	}
	d := dealing{r.number, contributor}
	switch {
	case !r.e.opens(d, h, r.rank, p) || !r.e.signed(d, h):
	case !r.e.fits(d, h, r.rank, p):
		r.expose(message{kind: kindComplaint, dealer: contributor, rank: r.rank, header: h, part: p})
	default:
		r.keep(contributor, h, p)
	}
}

// compare compares a header of a dealer with the one that the agent has, and sends a proof if they
// contradict each other.
func (r *round) compare(dealer int, h header) {
	d := dealing{r.number, dealer}
	if r.e.disqualified.has(dealer) || r.headers[dealer] == nil || r.e.name(d, h) == r.names[dealer] || !r.e.signed(d, h) {
		return
	}
	r.expose(message{kind: kindContradiction, dealer: dealer, header: *r.headers[dealer], other: h})
}

// confront sends the agent's header of a dealer to a member that holds a part of the dealer under
// another header. With both headers, the member has a proof.
func (r *round) confront(rank int, s status) {
	next := 0
	for i := range r.names {
		if !s.held.has(i) || s.names == nil {
			continue
		}
		name := s.names[next]
		next++
		if r.headers[i] == nil || name == r.names[i] || r.e.disqualified.has(i) {
			continue
		}
		if r.headersSent[rank].due(r.ticks) {
			r.e.send(r.committee[rank], message{round: r.number, kind: kindHeader, dealer: i, header: *r.headers[i]})
		}
		return
	}
}

// holding returns the contributors whose parts a member holds under the headers that the agent has.
func (r *round) holding(rank int) set {
	row := r.rows[rank]
	if rank == r.rank || !r.serves() {
		return row.held
	}
	held, next := row.held.clone(), 0
	for i, h := range r.headers {
		if !row.held.has(i) {
			continue
		}
		if h != nil && (row.names == nil || row.names[next] != r.names[i]) {
			held.remove(i)
		}
		next++
	}
	return held
}

// complete reports whether a set contains the whole roster, except disqualified dealers.
func (e *Exchange) complete(held set) bool {
	for i := range e.cfg.Roster {
		if !held.has(i) && !e.disqualified.has(i) {
			return false
		}
	}
	return true
}
