package fair

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// The first byte of a record is the type of its content, which follows.
const (
	ownRecord        = 'o' // ID of the own trial (varint), then the envelope of its evaluation
	evaluationRecord = 'e' // envelope of an evaluation of another party
	batchRecord      = 'b' // envelope of an accepted batch
	assignmentRecord = 'a' // envelope of an assignment, sent or received
)

func (e *Exchange) record(tag byte, envelope []byte) {
	e.emit(strategy.Record{Data: append([]byte{tag}, envelope...)})
}

// replay restores the state of an earlier run. It skips unreadable records: this node requests
// their content again.
func (e *Exchange) replay(data []byte) {
	if len(data) == 0 {
		return
	}
	tag, body := data[0], data[1:]
	trial := uint64(0)
	if tag == ownRecord {
		n, size := binary.Uvarint(body)
		if size <= 0 {
			return
		}
		trial, body = n, body[size:]
	}
	share, party, ok := e.open(body)
	if !ok {
		return
	}
	switch tag {
	case ownRecord, evaluationRecord:
		if evaluation, err := protocol.DecodeEvaluation(share.Payload, e.task.Space); err == nil {
			e.book.add(party, entry{Evaluation: evaluation, payload: share.Payload, envelope: share.Envelope})
			if tag == ownRecord {
				e.entered[trial] = true
			}
		}
	case batchRecord:
		b, err := protocol.DecodeBatch(share.Payload, e.task.Space, len(e.roster))
		switch {
		case err != nil:
		case b.Round > e.current.Number:
			e.keepQueued(b, share)
			e.takeDown(b)
		default:
			e.catchUp(b)
		}
	case assignmentRecord:
		if a, err := protocol.DecodeAssignment(share.Payload, e.task.Space); err == nil {
			e.recall(a, share)
		}
	}
}

// recall applies an assignment of the mediator, unless a later round is known.
func (e *Exchange) recall(a protocol.Assignment, share protocol.Share) {
	party := slices.Index(e.roster, a.Party)
	if party < 0 || a.Round < e.current.Number {
		return
	}
	e.queued[party] = share.Envelope
	e.current.Number, e.current.Parties = a.Round, a.Parties
	e.give(party, a.Round, a.Point)
	if party == e.self {
		e.against = a.RewardDifference
	}
}

// seal signs a statement of this node. slot is the number of the evaluation or of the round; it
// distinguishes statements of one kind.
func (e *Exchange) seal(kind string, slot int, payload []byte) (protocol.Share, bool) {
	share, err := protocol.Seal(protocol.Share{
		Task:    e.task.ID(),
		Key:     protocol.Key{Kind: kind, Slot: uint64(slot)},
		Stamp:   protocol.Stamp{Epoch: 1, Sequence: uint64(slot)},
		TTL:     protocol.MaxTTL,
		Payload: payload,
	}, e.key)
	if err != nil {
		e.warn("%v", err)
	}
	return share, err == nil
}

// open verifies a signed statement and returns it with its author. ok is false unless it belongs to
// this task and to a party.
func (e *Exchange) open(envelope []byte) (share protocol.Share, party int, ok bool) {
	share, err := protocol.Open(envelope)
	if err != nil || !share.Task.Equals(e.task.ID()) {
		return share, 0, false
	}
	party = slices.Index(e.roster, share.Author)
	return share, party, party >= 0
}

// enter signs and sends the own evaluations that have ended since the last call.
func (e *Exchange) enter(view strategy.View) {
	if !e.started {
		return
	}
	var envelopes [][]byte
	for _, trial := range view.Trials {
		if !trial.State.Ended() || e.entered[trial.ID] {
			continue
		}
		evaluation := protocol.Evaluation{
			Number:   len(e.book.entries[e.self]) + 1,
			Round:    trial.Why.Round,
			Point:    protocol.PointOf(e.task.Space, trial.Design),
			Imported: trial.Why.Source == strategy.Imported,
		}
		if trial.State == strategy.Done {
			value := min(max(e.task.Goal.Sign()*trial.Outcome.Value, -protocol.MaxUnit), protocol.MaxUnit)
			evaluation.Value = &value
		}
		if !e.chooser.takes(evaluation) {
			e.warn("trial %d: its result %g is too far from what the task knows, and counts as a failure", trial.ID, *evaluation.Value)
			evaluation.Value = nil
		}
		payload, err := evaluation.Encode(e.task.Space)
		if err != nil {
			e.warn("trial %d: %v", trial.ID, err)
			continue
		}
		share, ok := e.seal(evaluationKind, evaluation.Number, payload)
		if !ok {
			continue
		}
		e.entered[trial.ID] = true
		e.book.add(e.self, entry{Evaluation: evaluation, payload: payload, envelope: share.Envelope})
		e.record(ownRecord, append(binary.AppendUvarint(nil, trial.ID), share.Envelope...))
		envelopes = append(envelopes, share.Envelope)
	}
	if len(envelopes) > 0 {
		e.tell(envelopes...)
		e.show()
	}
}

// tell sends statements to all parties that may see them: to the mediator, or without a mediator to
// all other parties.
func (e *Exchange) tell(envelopes ...[]byte) {
	for len(envelopes) > 0 {
		first, bytes := 0, 0
		for first < len(envelopes) && (first == 0 || bytes+len(envelopes[first]) <= maxSent) {
			bytes += len(envelopes[first])
			first++
		}
		for _, party := range e.listeners() {
			e.send(party, protocol.FairMessage{Shares: envelopes[:first]})
		}
		envelopes = envelopes[first:]
	}
}

// listeners returns the parties to which this node sends its results.
func (e *Exchange) listeners() (parties []int) {
	for party := range e.roster {
		if party != e.self && (e.mediator < 0 || party == e.mediator) {
			parties = append(parties, party)
		}
	}
	return parties
}

func (e *Exchange) send(party int, m protocol.FairMessage) {
	if party == e.self {
		return
	}
	data, err := m.Encode()
	if err != nil {
		e.warn("%v", err)
		return
	}
	e.emit(strategy.Send{To: e.roster[party], Data: data})
}

// progress returns the progress message for a party. With a mediator it contains only the count of
// the party concerned, and 0 for all others.
func (e *Exchange) progress(to int) *protocol.Progress {
	counts := e.book.counts()
	if e.mediator >= 0 {
		about := e.self
		if e.self == e.mediator {
			about = to
		}
		only := make([]int, len(counts))
		only[about] = counts[about]
		counts = only
	}
	return &protocol.Progress{Round: e.current.Number, Counts: counts, Waiting: e.waits()}
}

// waits reports whether this node has evaluated its latest assigned design, and so waits for the
// next one.
func (e *Exchange) waits() bool { return e.book.reported(e.self, e.assigned[e.self]) }

// greet sends this node's progress to all parties that it exchanges data with, so that they send
// the data that it lacks.
func (e *Exchange) greet() {
	for _, party := range e.listeners() {
		e.send(party, protocol.FairMessage{Progress: e.progress(party)})
	}
}

// ask requests the data that this node lacks. With a mediator it asks the mediator. Without one it
// asks a party for which the round waits, all parties with offers, the party that has the turn, and
// one further party, another at each tick. Each party sends all data that it stores, so a few
// requests suffice. Most parties for which the round waits have nothing new yet.
func (e *Exchange) ask() {
	if e.mediator == e.self {
		return
	}
	if e.mediator >= 0 {
		if e.waits() || e.acked < len(e.book.entries[e.self]) {
			e.send(e.mediator, protocol.FairMessage{Progress: e.progress(e.mediator)})
		}
		return
	}
	asked := map[int]bool{}
	if waits := e.barrier.Waits(e.expected(), e.hasSent); len(waits) > 0 {
		asked[slices.Index(e.roster, waits[e.ticks%len(waits)])] = true
	}
	for party := range e.offers {
		asked[party] = true
	}
	if e.turning {
		asked[slices.Index(e.roster, e.turns.Leader(e.barrier.Number(), e.turn))] = true
	}
	asked[e.ticks%len(e.roster)] = true
	for party := range e.roster {
		if asked[party] {
			e.send(party, protocol.FairMessage{Progress: e.progress(party)})
		}
	}
}

// receive handles a message of a party. It ignores messages of nodes that are not on the roster.
// With a mediator, the other parties ignore each other's messages too.
func (e *Exchange) receive(from peer.ID, data []byte) {
	sender := slices.Index(e.roster, from)
	if sender < 0 || sender == e.self || !e.started || e.mediator >= 0 && e.self != e.mediator && sender != e.mediator {
		return
	}
	m, err := protocol.DecodeFairMessage(data, len(e.roster))
	if err != nil {
		e.name(sender, nonsense)
		return
	}
	for _, envelope := range m.Shares {
		e.receiveEnvelope(sender, envelope)
	}
	if m.Progress != nil {
		e.answer(sender, *m.Progress)
	}
	if sender == e.mediator {
		for _, n := range m.Notices {
			e.name(n.Party, n.Reason)
		}
	}
}

// evidence returns a message with the newest of a party's first `count` evaluations, up to maxSent
// bytes. A receiver that has other evaluations with these numbers thereby detects that the party
// has signed two results.
func (e *Exchange) evidence(party, count int) (m protocol.FairMessage) {
	bytes := 0
	for _, entry := range slices.Backward(e.book.entries[party][:count]) {
		if bytes += len(entry.envelope); bytes > maxSent {
			break
		}
		m.Shares = append(m.Shares, entry.envelope)
	}
	return m
}

// answer handles the progress message h of a party. It sends the data that the party lacks, and
// this node's progress if this node lacks data. It answers each party at most once between two
// ticks.
func (e *Exchange) answer(sender int, h protocol.Progress) {
	if e.mediator >= 0 && e.self != e.mediator {
		e.acked = h.Counts[e.self]
	}
	if e.answered[sender] {
		return
	}
	m := protocol.FairMessage{}
	switch {
	case e.mediator < 0:
		m.Shares = e.book.lacking(h.Counts, maxSent)
		if h.Round < e.current.Number && e.latest != nil {
			m.Shares = append(m.Shares, e.latest)
		}
		if letter := e.queued[sender]; letter != nil && h.Waiting && !e.ready(sender) {
			m.Shares = append(m.Shares, letter)
		}
	case e.self == e.mediator:
		if letter := e.queued[sender]; letter != nil && h.Round < e.assigned[sender] {
			m.Shares = append(m.Shares, letter)
		}
	default:
		counts := slices.Repeat([]int{math.MaxInt32}, len(e.roster))
		counts[e.self] = h.Counts[e.self]
		m.Shares = e.book.lacking(counts, maxSent)
	}
	if e.lacks(sender, h) || e.self == e.mediator {
		m.Progress = e.progress(sender)
	}
	if len(m.Shares) > 0 || m.Progress != nil {
		e.answered[sender] = true
		e.send(sender, m)
	}
}

// lacks reports whether the sender has data that this node lacks.
func (e *Exchange) lacks(sender int, h protocol.Progress) bool {
	if e.mediator >= 0 {
		return false
	}
	return !e.book.has(h.Counts) || h.Round > e.current.Number
}

// receiveEnvelope handles a signed statement.
func (e *Exchange) receiveEnvelope(sender int, envelope []byte) {
	share, author, ok := e.open(envelope)
	if !ok {
		e.name(sender, nonsense)
		return
	}
	switch share.Kind {
	case evaluationKind:
		e.handleEvaluation(author, share)
	case batchKind:
		e.handleBatch(author, share)
	case assignmentKind:
		e.handleAssignment(author, share)
	}
}

func (e *Exchange) handleEvaluation(author int, share protocol.Share) {
	if !e.chooses() {
		return
	}
	evaluation, err := protocol.DecodeEvaluation(share.Payload, e.task.Space)
	if err != nil || uint64(evaluation.Number) != share.Slot || evaluation.Number > maxEvaluations || !e.chooser.takes(evaluation) {
		e.name(author, nonsense)
		return
	}
	switch e.book.add(author, entry{Evaluation: evaluation, payload: share.Payload, envelope: share.Envelope}) {
	case added:
		e.record(evaluationRecord, share.Envelope)
		e.compare(author, evaluation)
		e.show()
	case contradicting:
		e.record(evaluationRecord, share.Envelope)
		e.name(author, contradicts)
		e.disputed[dispute{author, evaluation.Number}] = true
	case contradicted:
		e.name(author, contradicts)
		e.disputed[dispute{author, evaluation.Number}] = true
	case known, ahead:
	}
}

// publishDisputes sends the result that is used of each disputed evaluation. It runs once per tick:
// an author can sign any number of contradictory results, and without this limit each would be sent
// to all parties.
func (e *Exchange) publishDisputes() {
	var envelopes [][]byte
	for party, list := range e.book.entries {
		for _, entry := range list {
			if e.disputed[dispute{party, entry.Number}] {
				envelopes = append(envelopes, entry.envelope)
			}
		}
	}
	clear(e.disputed)
	e.tell(envelopes...)
}

// compare warns about a party that has evaluated a design other than the assigned one. Without a
// mediator it does nothing, since the party may have accepted another batch of the round than this
// node.
func (e *Exchange) compare(party int, evaluation protocol.Evaluation) {
	assigned := e.points[party]
	if e.mediator < 0 || assigned == nil || evaluation.Round != e.assigned[party] {
		return
	}
	if !slices.Equal(assigned.Encoded(e.task.Space), evaluation.Point.Encoded(e.task.Space)) {
		e.name(party, disobedience)
	}
}

func (e *Exchange) handleBatch(author int, share protocol.Share) {
	if e.mediator >= 0 || e.refused[share.Digest] {
		return
	}
	b, err := protocol.DecodeBatch(share.Payload, e.task.Space, len(e.roster))
	if err != nil || uint64(b.Round) != share.Slot || e.turns.Leader(b.Round, b.Turn) != share.Author {
		e.name(author, nonsense)
		return
	}
	if b.Round <= e.current.Number {
		if e.catchUp(b) {
			e.record(batchRecord, share.Envelope)
			e.show()
		}
		return
	}
	if held, ok := e.offers[author]; ok && held.Round > b.Round {
		return
	}
	e.offers[author] = offer{b, share}
	if !e.book.has(b.Counts) {
		e.send(author, protocol.FairMessage{Progress: e.progress(author)})
	}
}

func (e *Exchange) handleAssignment(author int, share protocol.Share) {
	a, err := protocol.DecodeAssignment(share.Payload, e.task.Space)
	if e.mediator < 0 || author != e.mediator || err != nil || uint64(a.Round) != share.Slot || a.Party != e.roster[e.self] || a.Round <= e.current.Number {
		return
	}
	e.record(assignmentRecord, share.Envelope)
	e.recall(a, share)
	e.show()
}
