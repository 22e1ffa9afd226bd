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

// Outcome is the value that the view has under Kind: the end of the latest round.
type Outcome struct {
	Round        uint64
	Sum          []int64   // per coordinate, of the contributors' vectors; nil if Err is set
	Contributors []peer.ID // sorted
	Answers      int       // number of the committee's sums that agreed; threshold+1 of them are unchecked
	Outvoted     []peer.ID // members whose sums did not fit; they are at fault, because honest members add up only parts that fit
	Disqualified []peer.ID // dealers with a proof against them, from this round or an earlier one
	Err          error     // wraps one of the errors of this package
}

// Exchange is one agent's part in all rounds of a task. The driver must authenticate the sender of
// a Direct and encrypt messages for their receiver, as libp2p's streams do.
type Exchange struct {
	cfg     Config
	shape   shape
	commit  commitment
	index   map[peer.ID]int // of the roster
	self    int
	started bool
	broken  error // why the exchange sends nothing

	current     *round // nil before the first
	previous    *round // it has ended here, and still answers peers that are behind
	memory      memory
	ahead       []uint64     // by roster index: the newest round in each peer's messages
	reminded    set          // peers to which the agent has sent the current round or its presence in this tick
	unlike      set          // peers with messages of another version
	clock       int          // ticks since the start
	lastReports []lastReport // by roster index: the newest round in each peer's messages, and when
	elected     elected      // of the round that was last requested
	unmet       lastReport   // the round whose committee last lacked a quorum, and since when
	called      lastReport   // the round for which the committee was last called, and when

	disqualified set      // dealers, permanently
	proofs       [][]byte // against them, as messages; nil if from earlier runs
	slanderers   set      // peers that sent an invalid proof

	out []strategy.Output // of the current step
}

// memory holds the data about the latest round from records of earlier runs.
type memory struct {
	round uint64
	dealt bool
	voted bool
	vote  *vote // nil if cast under another configuration
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

// Decode implements strategy.Exchange. Nothing is published, so it refuses every payload.
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

// Next returns the round to which the agent can contribute now. There is none during a round to
// which it has already contributed, after the last round, and for a dealer with a proof against it.
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

// Underway reports whether peers' messages have opened the round that Next returns.
func (e *Exchange) Underway() bool { return e.current != nil && !e.current.over() }

// Contribute adds the agent's vector, noise included, to a round, which must be the one that Next
// returns. The caller must return the outputs from the step in which it decides this, after those
// that record the cost of the contribution. The contribution is spent whatever the result of the
// round, because peers may learn a sum that this agent does not. The same vector, with the same
// noise, must never be used in two rounds: the difference of two sums would disclose the vectors of
// agents that left. Numbers are at most [Config.MaxValue] in absolute value.
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
	// After a restart the coefficients are lost, and others would not fit the shares already sent:
	// an agent that has dealt does not deal again.
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
	case r.digest != e.shape.digest: // perhaps of another roster
	case r.dealer >= len(e.cfg.Roster):
		e.broken = fmt.Errorf("%w: dealer %d of %d", ErrJournal, r.dealer, len(e.cfg.Roster))
	default:
		e.disqualified.add(r.dealer)
	}
}

// start resumes the latest round of an earlier run, without its shares.
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

// follow opens the round in peers' messages. One peer is enough for the next round if the current
// one is over. Further ahead, or during a round, it takes more peers than may collude. Then the
// agent has missed at least one round in between, and those peers no longer need the agent's
// current one.
func (e *Exchange) follow(spoken uint64) {
	number, over := uint64(0), true
	if e.current != nil {
		number, over = e.current.number, e.current.over()
	}
	if over && spoken == number+1 {
		e.open(spoken)
		return
	}
	if spoken < number+2 {
		return
	}
	newest := slices.Sorted(slices.Values(e.ahead))
	credible := newest[len(newest)-1-e.cfg.Committee.Threshold]
	if credible < number+2 {
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

// sendTo encodes once; it omits the agent itself.
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
