package securesum

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Kind is the name of the exchange, which publishes no shares.
const Kind = "securesum"

const tickTimer = "tick"

// Outcome is the value of the exchange's Result: the end of the latest round.
type Outcome struct {
	Round        uint64
	Sum          []int64   // sum of the contributors' vectors; nil if Err is set
	Contributors []peer.ID // sorted
	Answers      int       // number of members' sums that agreed; at least Config.MinAnswers; if it is threshold+1, nothing checks them
	Outvoted     []peer.ID // members whose sums did not fit; they are dishonest or faulty, since honest members add up only parts that fit
	Dealt        []peer.ID // if Err is set: contributors whose parts a quorum of the committee reports to hold, sorted
	Disqualified []peer.ID // dealers against which there is a proof, from this round or an earlier one
	Err          error     // wraps one of the errors of this package
}

// Exchange holds one agent's state in all rounds of a task. Its caller must authenticate the sender
// of each Direct input and encrypt messages for their receiver, as libp2p's streams do.
type Exchange struct {
	cfg     Config
	shape   shape
	commit  commitment
	index   map[peer.ID]int // index of each peer on the sorted roster
	self    int
	started bool
	broken  error // reason why the exchange sends nothing; nil if it works

	current     *round // current round; nil before the first
	previous    *round // the round before; it has ended for this agent, and still answers peers that have not ended it
	memory      memory
	ahead       []uint64     // by roster index: the newest round in each peer's messages
	reminded    set          // peers to which the agent has sent a status or an answer to a call in this tick
	unlike      set          // peers that use another version of messages
	clock       int          // ticks since the start
	lastReports []lastReport // by roster index: round and time of each peer's latest message
	elected     elected      // committee of the round that was last requested
	unmet       lastReport   // the round whose committee lacked a quorum when last asked, and the time since when
	passed      int          // number of rounds in a row that the agent has opened since their committees lacked a quorum
	called      lastReport   // round and time of the latest call to a committee

	disqualified set      // dealers against which there is a proof; permanent
	proofs       [][]byte // by roster index: proof against the dealer as a message; nil if it was found in an earlier run
	slanderers   set      // peers that sent an invalid proof

	out []strategy.Output // outputs of the current step
}

// memory holds the state of the latest round, from records of earlier runs.
type memory struct {
	round uint64
	dealt bool
	voted bool
	vote  *vote // nil if the vote was cast under another configuration
}

var _ strategy.Exchange = (*Exchange)(nil)

// New returns the exchange of one agent.
func New(cfg Config) (*Exchange, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	e := &Exchange{
		cfg:         cfg,
		shape:       shape{digest: cfg.digest(), roster: len(cfg.Roster), members: cfg.Committee.Members, threshold: cfg.Committee.Threshold, dimension: cfg.Dimension},
		commit:      hashed,
		index:       map[peer.ID]int{},
		ahead:       make([]uint64, len(cfg.Roster)),
		reminded:    newSet(len(cfg.Roster)),
		unlike:      newSet(len(cfg.Roster)),
		lastReports: make([]lastReport, len(cfg.Roster)),

		disqualified: newSet(len(cfg.Roster)),
		proofs:       make([][]byte, len(cfg.Roster)),
		slanderers:   newSet(len(cfg.Roster)),
	}
	for i, id := range cfg.Roster {
		e.index[id] = i
	}
	e.self = e.index[cfg.Self]
	return e, nil
}

// Name implements strategy.Exchange.
func (*Exchange) Name() string { return Kind }

// Decode implements strategy.Exchange. The exchange publishes no shares, so Decode rejects every
// payload.
func (*Exchange) Decode([]byte) (any, error) {
	return nil, errors.New("there are no shares of this kind")
}

// Step implements strategy.Exchange.
func (e *Exchange) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Replayed:
		e.replay(in.Data)
	case strategy.Start:
		e.start()
	case strategy.Timer:
		if in.Name == tickTimer && e.broken == nil {
			e.tick()
		}
	case strategy.Direct:
		if e.started && e.broken == nil {
			e.receive(in.From, in.Data)
		}
	}
	return e.take()
}

// Next returns the round to which the agent can contribute now. ok is false in three cases: during
// a round to which the agent has already contributed, after the last round, and if there is a proof
// against this agent as a dealer.
func (e *Exchange) Next() (round uint64, ok bool) {
	switch {
	case !e.started || e.broken != nil || e.disqualified.has(e.self):
		return 0, false
	case e.current == nil:
		return 1, true
	case !e.current.over():
		return e.current.number, !e.current.dealt
	}
	return e.current.number + 1, e.current.number < e.cfg.Rounds
}

// Able reports whether the agent can contribute to any round from now on, at the latest to the next.
func (e *Exchange) Able() bool {
	if e.current != nil && e.current.number == e.cfg.Rounds && (e.current.dealt || e.current.over()) {
		return false
	}
	return e.broken == nil && !e.disqualified.has(e.self)
}

// Underway reports whether the round that Next returns has begun, by messages of peers.
func (e *Exchange) Underway() bool { return e.current != nil && !e.current.over() }

// Contribute adds the agent's vector, noise included, to a round, which must be the one that Next
// returns. Numbers must be at most [Config.MaxValue] in absolute value. The caller must return the
// outputs in the same step, after the outputs that record the privacy cost of the contribution.
//
// The contribution costs privacy budget whatever the result of the round, because peers may learn a
// sum that this agent does not. The same vector with the same noise must never be used in two
// rounds. The difference of two sums would disclose the vectors of agents that left.
func (e *Exchange) Contribute(round uint64, vector []int64) ([]strategy.Output, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	if next, ok := e.Next(); !ok || next != round {
		return nil, fmt.Errorf("round %d takes no contribution of this agent now", round)
	}
	if len(vector) != e.cfg.Dimension {
		return nil, fmt.Errorf("a vector of %d numbers, the task's have %d", len(vector), e.cfg.Dimension)
	}
	elements := make([]element, len(vector))
	for i, v := range vector {
		if limit := e.cfg.MaxValue(); v > limit || v < -limit {
			return nil, fmt.Errorf("number %d of the vector is beyond ±%d, the sum of %d such would overflow", i, limit, len(e.cfg.Roster))
		}
		elements[i] = encode(v)
	}
	deals, err := e.split(round, elements)
	if err != nil {
		return nil, err
	}
	if e.current == nil || e.current.number != round {
		e.shift(newRound(e, round))
	}
	// After a restart the coefficients of the polynomials are lost, and new ones would not fit the
	// shares already sent. So an agent that has dealt in a round does not deal again.
	e.record(record{kind: recordDealt, round: round})
	e.current.contribute(deals)
	return e.take(), nil
}

func (e *Exchange) replay(data []byte) {
	r, err := decodeRecord(data)
	if err == nil && r.round > e.cfg.Rounds {
		err = fmt.Errorf("%w: round %d of %d", ErrJournal, r.round, e.cfg.Rounds)
	}
	if err != nil {
		e.broken = err
		return
	}
	if r.kind == recordDisqualified {
		e.replayDisqualified(r)
		return
	}
	if r.round > e.memory.round {
		e.memory = memory{round: r.round}
	}
	if r.round < e.memory.round {
		return
	}
	switch r.kind {
	case recordDealt:
		e.memory.dealt = true
	case recordVoted:
		e.memory.voted = true
		if r.digest == e.shape.digest {
			body := reader{rest: r.choice}
			e.memory.vote = &vote{e.shape.choice(&body), r.signature}
			if body.bad || len(body.rest) > 0 {
				e.broken = fmt.Errorf("%w: vote of round %d", ErrJournal, r.round)
			}
		}
	}
}

func (e *Exchange) replayDisqualified(r record) {
	switch {
	case r.digest != e.shape.digest: // the record may belong to another roster
	case r.dealer >= len(e.cfg.Roster):
		e.broken = fmt.Errorf("%w: dealer %d of %d", ErrJournal, r.dealer, len(e.cfg.Roster))
	default:
		e.disqualified.add(r.dealer)
	}
}

// start resumes the latest round of the earlier run. The shares that the agent held are lost.
func (e *Exchange) start() {
	if e.broken != nil {
		e.emit(strategy.Result{Value: Outcome{Err: e.broken}})
		return
	}
	e.started = true
	if e.memory.round > 0 {
		e.current = newRound(e, e.memory.round)
		e.current.dealt = e.memory.dealt
		e.current.restore(e.memory)
	}
	e.emit(strategy.SetTimer{Name: tickTimer, After: e.cfg.Interval})
}

func (e *Exchange) tick() {
	e.emit(strategy.SetTimer{Name: tickTimer, After: e.cfg.Interval})
	e.clock++
	clear(e.reminded)
	for _, r := range []*round{e.previous, e.current} {
		if r != nil {
			r.tick()
		}
	}
}

func (e *Exchange) receive(from peer.ID, data []byte) {
	sender, listed := e.index[from]
	if !listed || sender == e.self {
		return
	}
	m, err := e.shape.decode(data)
	if errors.Is(err, errVersion) {
		e.warnOf(sender, data[0])
	}
	if err != nil || m.round == 0 || m.round > e.cfg.Rounds {
		return
	}
	if m.kind == kindComplaint || m.kind == kindContradiction {
		e.judge(sender, m)
		return
	}
	e.receiveMessage(sender, m)
	if m.kind == kindCall || m.kind == kindHere {
		e.answerCall(sender, m)
		return
	}
	e.ahead[sender] = max(e.ahead[sender], m.round)
	e.follow(m.round)
	switch {
	case e.current != nil && m.round == e.current.number:
		e.current.receive(sender, m)
	case e.previous != nil && m.round == e.previous.number:
		e.previous.receive(sender, m)
	case e.current != nil && m.round < e.current.number && !e.reminded.has(sender):
		e.reminded.add(sender)
		e.send(sender, e.current.status(false))
	}
}

// follow opens a round that peers' messages belong to. If the current round is over, one peer is
// sufficient to open the next one, unless [Config.FollowsMany] is set. A round that is further ahead,
// or any round during the current one, needs more peers than may collude. In that case the agent has
// missed at least one round, and those peers no longer need the agent's current one.
func (e *Exchange) follow(spoken uint64) {
	number, over := uint64(0), true
	if e.current != nil {
		number, over = e.current.number, e.current.over()
	}
	if over && spoken == number+1 && (!e.cfg.FollowsMany || e.calls(spoken)) {
		e.open(spoken)
		return
	}
	earliest := number + 2
	if over && e.cfg.FollowsMany {
		earliest = number + 1
	}
	if spoken < earliest {
		return
	}
	newest := slices.Sorted(slices.Values(e.ahead))
	credible := newest[len(newest)-1-e.cfg.Committee.Threshold]
	if credible < earliest {
		return
	}
	if !over {
		e.current.abort(ErrLeftBehind)
	}
	e.open(credible)
}

func (e *Exchange) open(number uint64) {
	e.record(record{kind: recordOpened, round: number})
	e.shift(newRound(e, number))
}

func (e *Exchange) shift(next *round) { e.previous, e.current = e.current, next }

func (e *Exchange) emit(o strategy.Output) { e.out = append(e.out, o) }

func (e *Exchange) record(r record) { e.emit(strategy.Record{Data: r.encode()}) }

func (e *Exchange) send(to int, m message) { e.sendTo([]int{to}, m) }

// sendTo sends a message to all receivers except the agent itself. It encodes the message once.
func (e *Exchange) sendTo(receivers []int, m message) {
	data := e.shape.encode(m)
	for _, to := range receivers {
		if to != e.self {
			e.emit(strategy.Send{To: e.cfg.Roster[to], Data: data})
		}
	}
}

func (e *Exchange) take() []strategy.Output {
	out := e.out
	e.out = nil
	return out
}
