package sums

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Kind is the name of the exchange and the kind of its shares.
const Kind = "sums"

const (
	beatTimer = "beat"
	// Beat is the time between two requests for earlier sums.
	Beat = 10 * time.Second
	// patience is the number of beats after which one present member that has sent its shares
	// suffices for a contribution. Before that, more than half of the present members must have.
	patience = 6
	// firstDoubt is the number of beats for which a member is doubted the first time. Each further time
	// doubles it, at most maxDoublings times.
	firstDoubt   = 12
	maxDoublings = 12
)

// doubt is about a member that claimed to be ready and made a round fail. The member counts as not
// ready until a sum of a later round contains it or a time is over: without an end, members with a
// poor connection could stop a roster that needs all of them.
type doubt struct {
	round int // the latest round that failed
	times int // number of failed rounds in a row
	until int // beat at which the doubt ends
}

// The first byte of a direct message is the type of its content.
const (
	ofRound   = 's' // a message of package securesum
	ofRequest = 'q'
	ofTotal   = 't'
)

// Exchange contributes a member's observations to sums over the roster, and adds the sums of the
// peers to the view as a [Result].
type Exchange struct {
	statistic Statistic
	roster    []peer.ID // sorted
	self      int       // index on the roster
	every     int       // number of observations in a contribution
	least     int       // minimum number of contributors
	colluding int
	sum       *securesum.Exchange
	refused   string // reason why the node contributes nothing more, and serves on no committee; empty if it does

	units         units // invalid before the first contribution
	spent         map[uint64]bool
	own           map[int][]int64 // by round: the vector that the node has contributed
	contributions int
	latest        int // round of the latest contribution
	left          int // number of contributions that the node could make now

	reported  map[peer.ID]bool // members that have sent all their shares in this run
	beats     int
	relied    []peer.ID         // members whose claims to be ready the latest contribution relied on
	doubted   map[peer.ID]doubt // members that did not deal in a failed round although the node relied on them
	announced *State            // the latest published in this run
	echoed    State             // what peers have stored of this node: the maximum of each number

	totals map[int]total
	past   past

	warnings securesum.Warnings
	result   Result
	shown    bool // the result has changed since it was shown
}

var _ strategy.Exchange = (*Exchange)(nil)

// NewExchange returns the exchange of one member of the roster of a task with share: sum.
// env.Entropy must be the Reader of crypto/rand.
func NewExchange(env strategy.Env, s Statistic) (strategy.Exchange, error) {
	settings, ok := SettingsOf(env.Task)
	if !ok {
		return nil, errors.New("the task does not have share: " + Share)
	}
	self, err := peer.IDFromPrivateKey(env.Key)
	if err != nil {
		return nil, err
	}
	index, listed := slices.BinarySearch(settings.Roster, self)
	every := strategy.ChoiceOf(env.Task).ShareEvery
	switch {
	case !listed:
		return nil, fmt.Errorf("this node, %s, is not on the task's roster: only nodes on it can take part in its sums", self)
	case !(s.Limit() > 0 && s.Limit() <= MaxLimit):
		return nil, fmt.Errorf("a statistic with limit %g, expected above 0, up to %d", s.Limit(), MaxLimit)
	}
	committee, err := securesum.NewCommittee(settings.Committee, settings.MaxColluding)
	if err != nil {
		return nil, err
	}
	sum, err := securesum.New(securesum.Config{
		Task:            env.Task.ID(),
		Self:            self,
		Roster:          settings.Roster,
		Committee:       committee,
		MinContributors: settings.MinContributors,
		Dimension:       s.Numbers(),
		Rounds:          MaxRounds,
		MinAnswers:      min(2*settings.MaxColluding+1, committee.Quorum),
		FollowsMany:     true,
		Random:          env.Entropy,
		Sign:            securesum.Signer(env.Key),
		Verify:          securesum.Verify,
	})
	if err != nil {
		return nil, err
	}
	e := &Exchange{
		statistic: s, roster: settings.Roster, self: index, every: every,
		least: settings.MinContributors, colluding: settings.MaxColluding, sum: sum, refused: env.Unaccounted,
		spent: map[uint64]bool{}, own: map[int][]int64{}, reported: map[peer.ID]bool{}, doubted: map[peer.ID]doubt{},
		totals: map[int]total{}, warnings: securesum.Warnings{Self: self},
	}
	e.past.reset()
	return e, nil
}

// Name implements strategy.Exchange.
func (*Exchange) Name() string { return Kind }

// Decode implements strategy.Exchange; the value is a State.
func (*Exchange) Decode(payload []byte) (any, error) { return DecodeState(payload) }

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	var out []strategy.Output
	forwarded := in // to the exchange of secure sums; nil if the input is not for it
	switch in := in.(type) {
	case strategy.Replayed:
		e.replay(view, in.Data)
		return nil
	case strategy.Start:
		out = append(out, strategy.SetTimer{Name: beatTimer, After: Beat})
		e.left, e.shown = e.available(view), true
		if e.refused != "" {
			out = append(out, e.warnRefused())
		}
	case strategy.TrialsEnded:
		e.left = e.available(view)
	case strategy.Timer:
		if in.Name == beatTimer {
			out = append(out, strategy.SetTimer{Name: beatTimer, After: Beat})
			out = append(out, e.beat(view)...)
		}
	case strategy.CaughtUp:
		if _, listed := e.index(in.Peer); listed {
			e.reported[in.Peer] = true
			e.past.renew()
		}
	case strategy.Echo:
		s, ok := in.Share.Value.(State)
		if ok {
			e.echoed = e.echoed.newest(s)
		}
		if ok && s.Contributions > e.contributions {
			out = e.refuse(fmt.Sprintf("peers hold contribution %d of this node, and its journal has %d: the data directory was lost or restored from an old copy", s.Contributions, e.contributions))
		}
	case strategy.EquivocationFound:
		out = e.refuse("two contradictory shares have its signature: the data directory was copied or restored from an old copy")
	case strategy.Direct:
		forwarded, out = e.receive(view, in)
	}
	if forwarded != nil && e.refused == "" {
		out = append(out, e.pass(e.sum.Step(view, forwarded), view)...)
	}
	out = append(out, e.contribute(view)...)
	out = append(out, e.announce(view)...)
	if e.shown {
		out = append(out, e.show())
	}
	return out
}

// receive handles a direct message. It returns the input for the exchange of secure sums, or nil.
func (e *Exchange) receive(view strategy.View, in strategy.Direct) (forwarded strategy.Input, out []strategy.Output) {
	from, listed := e.index(in.From)
	if !listed || from == e.self || len(in.Data) == 0 {
		return nil, nil
	}
	switch body := in.Data[1:]; in.Data[0] {
	case ofRound:
		if !e.trusted(e.present(view)) {
			return nil, nil // a vote could be the second one of this node; peers send missing messages again
		}
		return strategy.Direct{From: in.From, Data: body}, nil
	case ofRequest:
		return nil, e.answer(from, body)
	case ofTotal:
		return nil, e.collect(from, body)
	}
	return nil, nil
}

func (e *Exchange) index(id peer.ID) (int, bool) { return slices.BinarySearch(e.roster, id) }

// refuse ends the node's contributions and its work on committees permanently. Its earlier
// contributions and votes are unknown: it could contribute an observation twice, or vote twice.
func (e *Exchange) refuse(why string) []strategy.Output {
	if e.refused != "" {
		return nil
	}
	e.refused, e.shown = why, true
	return []strategy.Output{record(ofRefusal, refusal{why}), e.warnRefused()}
}

func (e *Exchange) warnRefused() strategy.Output {
	return strategy.Warn{Message: "this node contributes to no further sum, and still receives those of its peers: " + e.refused}
}

// present returns the present members, this node included.
func (e *Exchange) present(view strategy.View) (present []peer.ID) {
	seen := presence.Of(view)
	for i, id := range e.roster {
		if i == e.self || seen.Has(id) {
			present = append(present, id)
		}
	}
	return present
}

// trusted reports whether enough present members have sent the shares of this node that they store.
// Until then the journal may be an old copy.
func (e *Exchange) trusted(present []peer.ID) bool {
	reported := 0
	for _, id := range present {
		if e.reported[id] {
			reported++
		}
	}
	return reported > 0 && (2*reported > len(present)-1 || e.beats >= patience)
}

// ready returns the other present members that can contribute to a round or have done so, by their own
// claims, without those that are doubted.
func (e *Exchange) ready(view strategy.View, present []peer.ID, round int) (ready []peer.ID) {
	for author, s := range e.states(view) {
		if _, here := slices.BinarySearch(present, author); !here || e.beats < e.doubted[author].until {
			continue
		}
		if s.Ready || s.Round == round {
			ready = append(ready, author)
		}
	}
	return ready
}

// states returns the latest states of the other members.
func (e *Exchange) states(view strategy.View) map[peer.ID]State {
	states := map[peer.ID]State{}
	for share, s := range strategy.Shares[State](view) {
		if i, listed := e.index(share.Author); listed && i != e.self {
			states[share.Author] = s
		}
	}
	return states
}

// contribute deals the node's next contribution, if a round can succeed: enough members are present
// and ready, and a quorum of the committee answers. The first output is the record of the spent
// observations.
func (e *Exchange) contribute(view strategy.View) []strategy.Output {
	if e.refused != "" || e.left == 0 {
		return nil
	}
	round, ok := e.sum.Next()
	present := e.present(view)
	if !ok || !e.trusted(present) {
		return nil
	}
	ready := e.ready(view, present, int(round))
	if len(ready)+1 < e.least { // the node itself counts
		return nil
	}
	asked, met := e.sum.Gather()
	out := e.pass(asked, view)
	if next, ok := e.sum.Next(); !met || !ok || next != round {
		return out
	}
	b := e.next(view)
	d := dealt{Round: int(round), Trials: b.trials, Units: b.units, Vector: b.vector}
	out = append(out, record(ofDealt, d))
	e.spend(d)
	e.left, e.shown, e.relied = e.available(view), true, ready
	out = append(out, e.publish(view))
	sent, err := e.sum.Contribute(round, b.vector)
	out = append(out, e.pass(sent, view)...)
	if err != nil {
		return append(out, e.refuse("a contribution failed: "+err.Error())...)
	}
	return out
}

// spend counts a contribution.
func (e *Exchange) spend(d dealt) {
	for _, trial := range d.Trials {
		e.spent[trial] = true
	}
	e.units, e.own[d.Round], e.latest = d.Units, d.Vector, d.Round
	e.contributions++
	e.result.Contributed = len(e.spent)
}

// state returns what the node publishes. If its journal is old, it repeats the counts that peers have
// stored: lower ones would hide from a later copy of the journal that it is old.
func (e *Exchange) state() State {
	if s := (State{Contributions: e.contributions, Round: e.latest}); e.refused != "" {
		s = s.newest(e.echoed)
		s.Ready = false
		return s
	}
	return State{Contributions: e.contributions, Round: e.latest, Ready: e.left > 0 && e.sum.Able() && e.canRely()}
}

// canRely reports whether enough members for a contribution are not doubted. A member that claimed to
// be ready without them would not deal, and would be doubted in turn: after a fault, members could
// doubt each other without end.
func (e *Exchange) canRely() bool {
	relied := len(e.roster)
	for _, d := range e.doubted {
		if e.beats < d.until {
			relied--
		}
	}
	return relied >= e.least
}

// announce publishes the node's state if it has changed. It waits until the journal can be trusted:
// a state from an old copy would replace the newer one that peers store.
func (e *Exchange) announce(view strategy.View) []strategy.Output {
	state, unknown := e.state(), e.announced == nil && e.echoed == (State{})
	if e.announced != nil && *e.announced == state || unknown && state == (State{}) || !e.trusted(e.present(view)) {
		return nil
	}
	return []strategy.Output{e.publish(view)}
}

func (e *Exchange) publish(strategy.View) strategy.Output {
	state := e.state()
	e.announced = &state
	// The journal does not contain the share: after a restart the agent would publish it before the node
	// knows whether peers have stored a newer one.
	return strategy.Publish{Payload: state.Encode(), TTL: protocol.MaxTTL, Ephemeral: true}
}

// pass passes on the outputs of the exchange of secure sums. It tags records and messages, and
// handles results itself.
func (e *Exchange) pass(outputs []strategy.Output, view strategy.View) (out []strategy.Output) {
	for _, output := range outputs {
		switch output := output.(type) {
		case strategy.Record:
			out = append(out, strategy.Record{Data: append([]byte{ofSecureSum}, output.Data...)})
		case strategy.Send:
			out = append(out, strategy.Send{To: output.To, Data: append([]byte{ofRound}, output.Data...)})
		case strategy.Result:
			if outcome, ok := output.Value.(securesum.Outcome); ok {
				out = append(out, e.take(outcome, view)...)
			}
		default:
			out = append(out, output)
		}
	}
	return out
}

// take stores the outcome of a round.
func (e *Exchange) take(o securesum.Outcome, view strategy.View) []strategy.Output {
	if _, known := e.totals[int(o.Round)]; known {
		return nil // after a restart, the latest round is reported again
	}
	out := e.warnings.Of(o)
	t := total{Round: int(o.Round), Vector: o.Sum}
	for _, id := range o.Contributors {
		i, _ := e.index(id)
		t.Contributors = append(t.Contributors, i)
	}
	if o.Err == nil && !e.plausible(t) {
		o.Err = fmt.Errorf("round %d: a number of the sum is beyond the bound of its contributors", o.Round)
		o.Dealt = o.Contributors
	}
	if o.Err != nil {
		e.fail(o)
		return out
	}
	return append(out, e.store(t)...)
}

// fail counts a round without a sum. If this node has contributed, it doubts the members that it
// relied on and that have not dealt to a quorum of the committee, whatever they claim.
func (e *Exchange) fail(o securesum.Outcome) {
	e.result.Failed++
	e.result.Reason, e.shown = o.Err.Error(), true
	if e.latest != int(o.Round) {
		return
	}
	for _, id := range e.relied {
		if slices.Contains(o.Dealt, id) {
			continue
		}
		times := e.doubted[id].times + 1
		e.doubted[id] = doubt{round: e.latest, times: times, until: e.beats + firstDoubt<<min(times-1, maxDoublings)}
	}
}

// store records a sum.
func (e *Exchange) store(t total) []strategy.Output {
	if !e.add(t) {
		return nil
	}
	return []strategy.Output{record(ofSum, t)}
}

// add adds a sum to the result, without the node's own contribution. ok is false if the sum is known,
// or if it contains a contribution of this node that the journal lacks.
func (e *Exchange) add(t total) (ok bool) {
	if _, known := e.totals[t.Round]; known {
		return false
	}
	s := Sum{Round: t.Round, Contributors: len(t.Contributors), Values: make([]float64, len(t.Vector))}
	own := make([]int64, len(t.Vector))
	if slices.Contains(t.Contributors, e.self) {
		if e.own[t.Round] == nil {
			return false
		}
		own = e.own[t.Round]
		s.Contributors--
	}
	for i, v := range t.Vector {
		s.Values[i] = float64(v-own[i]) * step
	}
	for _, i := range t.Contributors {
		if id := e.roster[i]; t.Round > e.doubted[id].round {
			delete(e.doubted, id)
		}
	}
	s.Observations = s.Contributors * e.every
	e.totals[t.Round], e.shown = t, true
	at, _ := slices.BinarySearchFunc(e.result.Sums, s, func(a, b Sum) int { return a.Round - b.Round })
	e.result.Sums = slices.Insert(slices.Clone(e.result.Sums), at, s) // views hold the slice before
	return true
}

func (e *Exchange) show() strategy.Output {
	e.shown = false
	shown := e.result
	shown.Refused = e.refused
	return strategy.Result{Value: shown}
}
