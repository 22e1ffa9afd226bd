package securesum

import "crypto/sha256"

// Limits of the work that one peer can cause in a round.
const (
	maxMessages = 32 // maximum number of messages per tick; further ones are dropped
	maxSends    = 8  // maximum number of times that the same large message is sent to one peer
	resendTicks = 2  // minimum ticks between two of these, since the first may still be in transit
)

// round holds one agent's state in one round.
type round struct {
	e         *Exchange
	number    uint64
	committee []int // roster indices, in order of rank
	ranks     []int // by roster index: rank in the committee; −1 for agents that are not members
	rank      int   // the agent's own rank
	everybody []int // roster indices
	others    []int // roster indices of agents that are not members
	ticks     int
	messages  []int // by roster index: number of messages in this tick

	dealt    bool      // the agent has contributed, perhaps in an earlier run
	deals    *deals    // the agent's parts; nil if they were sent in an earlier run
	dealings []sending // by rank

	held    set                 // contributors whose shares the agent holds
	shares  [][]element         // by roster index: the share of each contributor in held
	headers []*header           // by roster index: the header that each share fits, the agent's own included
	names   [][sha256.Size]byte // by roster index: names of the headers
	rows    []row               // by rank
	votes   []*vote             // by rank: the first vote of each member, verified
	mute    bool                // the agent must not vote
	full    bool                // the agent has reported to the committee that it lacks no share

	certificate *certificate
	sums        [][]element // by rank
	sumsSent    []sending   // by roster index: transmissions of the agent's sum
	enoughAt    int         // tick at which enough sums had arrived; −1 before

	headersSent []sending // by rank
	proofsSent  []sending // by roster index

	contradicted int // number of sums at which they last contradicted each other

	outcome *Outcome
}

// row holds the latest report of a member on the shares that it holds.
type row struct {
	held     set                 // contributors whose shares the member holds; nil before its first report
	names    [][sha256.Size]byte // names of the headers of these shares, in order; nil if the report has none
	received int                 // tick at which the report arrived
}

// sending counts the transmissions of a large message to one peer.
type sending struct{ times, last int }

// due reports whether the message may be sent now, and if so counts the transmission.
func (s *sending) due(tick int) bool {
	if s.times > 0 && tick < s.last+resendTicks || s.times >= maxSends {
		return false
	}
	s.times, s.last = s.times+1, tick
	return true
}

func newRound(e *Exchange, number uint64) *round {
	n, members := len(e.cfg.Roster), e.cfg.Committee.Members
	r := &round{
		e: e, number: number, rank: -1, enoughAt: -1,
		ranks: make([]int, n), messages: make([]int, n), sumsSent: make([]sending, n),
		dealings: make([]sending, members), held: newSet(n), shares: make([][]element, n),
		rows: make([]row, members), votes: make([]*vote, members), sums: make([][]element, members),
		headers: make([]*header, n), names: make([][sha256.Size]byte, n),
		headersSent: make([]sending, members), proofsSent: make([]sending, n),
	}
	for i := range n {
		r.ranks[i] = -1
		r.everybody = append(r.everybody, i)
	}
	for rank, i := range e.committee(number) {
		r.committee = append(r.committee, i)
		r.ranks[i] = rank
	}
	for i, rank := range r.ranks {
		if rank < 0 {
			r.others = append(r.others, i)
		}
	}
	r.rank = r.ranks[e.self]
	if r.serves() {
		r.rows[r.rank].held = r.held // shared, so that the agent's own row is always up to date
	}
	return r
}

// restore restores the vote that the agent has sent in this round in an earlier run.
func (r *round) restore(m memory) {
	r.mute = m.voted
	if r.serves() && m.vote != nil {
		r.votes[r.rank] = m.vote
	}
}

func (r *round) serves() bool { return r.rank >= 0 }

func (r *round) over() bool { return r.outcome != nil }

// closed reports whether the agent can no longer add a contribution to the sum.
func (r *round) closed() bool {
	return r.over() || r.mute || r.certificate != nil || r.serves() && r.votes[r.rank] != nil
}

// contribute sends the agent's parts to the committee.
func (r *round) contribute(d deals) {
	r.dealt, r.deals = true, &d
	if r.serves() {
		r.keep(r.e.self, d.header, d.parts[r.rank])
	}
	for rank, member := range r.committee {
		if member != r.e.self {
			r.sendDeal(rank)
		}
	}
	r.advance()
}

func (r *round) sendDeal(rank int) {
	if r.dealings[rank].due(r.ticks) {
		r.e.send(r.committee[rank], message{round: r.number, kind: kindShare, header: r.deals.header, part: r.deals.parts[rank]})
	}
}

// keep stores a share that fits its header.
func (r *round) keep(contributor int, h header, p part) {
	r.held.add(contributor)
	r.shares[contributor] = p.share()
	r.headers[contributor], r.names[contributor] = &h, r.e.name(dealing{r.number, contributor}, h)
}

// tick counts time. While the round is running it also sends a status with the shares that the
// agent holds, so that other agents can send missing parts. A member sends its status to all, since
// contributors learn from it whether their shares arrived. Other agents send theirs only to
// members.
func (r *round) tick() {
	clear(r.messages)
	r.ticks++
	if r.over() {
		return
	}
	r.advance()
	if r.ticks >= r.e.cfg.Deadline {
		r.finish(true)
	}
	if r.over() {
		return
	}
	r.tell()
	if r.serves() {
		r.e.sendTo(r.others, r.status(false))
	}
}

// tell sends the agent's status to the committee.
func (r *round) tell() { r.e.sendTo(r.committee, r.status(r.serves())) }

// status returns the agent's status. It omits disqualified dealers. named includes the names of
// headers, which only members need.
func (r *round) status(named bool) message {
	s := status{certified: r.certificate != nil, held: newSet(len(r.names)), sums: newSet(len(r.sums))}
	for i, name := range r.names {
		if !r.held.has(i) || r.e.disqualified.has(i) {
			continue
		}
		s.held.add(i)
		s.names = append(s.names, name)
	}
	if !named {
		s.names = nil
	}
	for rank, sum := range r.sums {
		if sum != nil {
			s.sums.add(rank)
		}
	}
	if r.serves() {
		s.vote = r.votes[r.rank]
	}
	return message{round: r.number, kind: kindStatus, status: s}
}

// receive handles a message of an agent on the roster. A round that has ended only answers.
func (r *round) receive(sender int, m message) {
	if r.messages[sender]++; r.messages[sender] > maxMessages {
		return
	}
	if m.kind == kindStatus {
		r.answer(sender, m.status)
	}
	if r.over() {
		return
	}
	rank := r.ranks[sender]
	switch m.kind {
	case kindShare:
		r.accept(sender, m.header, m.part)
	case kindHeader:
		r.compare(m.dealer, m.header)
	case kindStatus:
		if rank >= 0 {
			r.note(rank, m.status)
		}
	case kindCertificate:
		r.adopt(m.certificate)
	case kindSum:
		r.adopt(m.certificate)
		if rank >= 0 && r.sums[rank] == nil && r.certificate != nil && r.certificate.equal(m.certificate.choice) {
			r.sums[rank] = m.vector
		}
	}
	r.advance()
}

// note stores a member's report of the shares that it holds, and its vote.
func (r *round) note(rank int, s status) {
	r.rows[rank] = row{held: s.held, names: s.names, received: r.ticks}
	if r.serves() {
		r.confront(rank, s)
	}
	if r.serves() && r.votes[rank] == nil && r.certificate == nil && s.vote != nil &&
		r.e.cfg.Verify(r.e.cfg.Roster[r.committee[rank]], r.statement(s.vote.choice), s.vote.signature) {
		r.votes[rank] = s.vote
	}
}

// answer sends the sender of a status the messages that it lacks and the agent has.
func (r *round) answer(sender int, s status) {
	rank := r.ranks[sender]
	if rank >= 0 && r.deals != nil && !s.held.has(r.e.self) {
		r.sendDeal(rank)
	}
	r.inform(sender, s.held)
	switch {
	case r.serves() && r.sums[r.rank] != nil:
		if !s.sums.has(r.rank) {
			r.sendSum([]int{sender})
		}
	case r.certificate != nil && !s.certified:
		r.e.send(sender, message{round: r.number, kind: kindCertificate, certificate: *r.certificate})
	}
}

// advance performs all steps of the round that have become possible.
func (r *round) advance() {
	if r.over() {
		return
	}
	if r.serves() {
		if !r.full && r.e.complete(r.held) {
			r.full = true
			r.tell()
		}
		r.vote()
		r.certify()
		r.addUp()
	}
	r.finish(false)
}

// fresh returns the ranks of the members that have sent a status within the length of a turn,
// including the agent's own.
func (r *round) fresh() []int {
	var ranks []int
	for rank, row := range r.rows {
		if row.held != nil && (rank == r.rank || r.ticks-row.received <= r.e.cfg.Turn) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
