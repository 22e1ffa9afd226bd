package ftsde

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// summer computes sums, one round after the other. The implementation for nodes is
// securesum.Exchange. An Exchange passes its own inputs on to Step. The summer ends a round with a
// strategy.Result whose value is a securesum.Outcome.
type summer interface {
	Step(view strategy.View, in strategy.Input) []strategy.Output
	// Next returns the round to which the agent can contribute now. ok is false if there is none.
	Next() (round uint64, ok bool)
	Underway() bool
	// Gather asks the committee of the next round whether its members are present. met reports
	// whether enough members have answered.
	Gather() (out []strategy.Output, met bool)
	// Contribute contributes a vector, which already includes the noise, to a round.
	Contribute(round uint64, vector []int64) ([]strategy.Output, error)
}

// plan determines when rounds are due and computes a node's vectors.
type plan struct {
	settings Settings
	features int
	initial  int
}

func newPlan(t *task.Task) plan {
	return plan{settings: settingsOf(t), features: t.Surrogate.Features, initial: t.Strategy.InitialDesigns}
}

// numbers returns the length of a node's vector.
func (p plan) numbers() int { return p.settings.Cells * p.features }

// dueAt returns the number of observations after which a node begins a round. Rounds count from 1.
func (p plan) dueAt(round uint64) int {
	return p.initial + (int(round)-1)*p.settings.ShareEvery
}

// others returns the factor by which a node scales its weights for cells other than its own.
func (p plan) others(round uint64) float64 { return Elsewhere(p.dueAt(round) - p.initial) }

// Exchange contributes a node's vectors to the rounds of private sums of a task, as long as the
// ledger of its privacy budget allows it. It adds the sums to the view as a [Result].
type Exchange struct {
	plan
	roster  []peer.ID
	self    peer.ID
	least   int // minimum number of contributors
	rounds  int
	ledger  *ledger.Ledger
	sum     summer
	drawing bool
	lacking bool // a round is due, but too few members of the committee that computes its sum answer
	held    int  // consecutive beats with lacking set
	begunAt int  // number of own observations when the node last began a round
	silent  bool // the node's earlier messages are unknown, so it takes part in no round
	broken  bool // a contribution failed; the node makes no further one, which would fail too and still spend privacy budget

	warnings securesum.Warnings

	result Result
	shown  bool // the result has changed since it was shown
}

var _ strategy.Exchange = (*Exchange)(nil)

// NewExchange returns the exchange of the node with this key on a task of type fts-de. entropy must
// be the Reader of crypto/rand. NewExchange returns an error if the node is not on the roster, or
// if the parameters of the task cannot give the privacy guarantee.
func NewExchange(t *task.Task, key crypto.PrivKey, entropy io.Reader) (*Exchange, error) {
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	a := t.Privacy.Aggregate
	if !slices.Contains(a.Roster, self) {
		return nil, fmt.Errorf("this node, %s, is not on the task's roster: only nodes on it can take part in its sums", self)
	}
	committee, err := securesum.NewCommittee(a.Committee, a.MaxColluding)
	if err != nil {
		return nil, err
	}
	sum, err := securesum.New(securesum.Config{
		Task:            t.ID(),
		Self:            self,
		Roster:          a.Roster,
		Committee:       committee,
		MinContributors: a.MinContributors,
		Dimension:       newPlan(t).numbers(),
		Rounds:          uint64(t.Privacy.Releases),
		Random:          entropy,
		Sign:            securesum.Signer(key),
		Verify:          securesum.Verify,
	})
	if err != nil {
		return nil, err
	}
	return newExchangeOf(t, self, sum, entropy)
}

// newExchangeOf returns the exchange of a node that computes sums with the given summer.
func newExchangeOf(t *task.Task, self peer.ID, sum summer, entropy io.Reader) (*Exchange, error) {
	ledger, err := ledger.NewLedger(t, entropy)
	if err != nil {
		return nil, err
	}
	return &Exchange{
		plan:   newPlan(t),
		roster: t.Privacy.Aggregate.Roster,
		self:   self,
		least:  t.Privacy.Aggregate.MinContributors,
		rounds: t.Privacy.Releases,
		ledger: ledger,
		sum:    sum,

		warnings: securesum.Warnings{Self: self},
	}, nil
}

// disown stops the node's contributions to sums and its work on committees, because the messages
// that it sent in earlier runs are unknown. why is the reason. Sums that are already known stay in
// the result.
func (e *Exchange) disown(why string) {
	e.ledger.Disown(why)
	e.silent = true
}

// Name implements strategy.Exchange.
func (*Exchange) Name() string { return protocol.AggregateKind }

// Decode implements strategy.Exchange; the value is a protocol.Contribution.
func (e *Exchange) Decode(payload []byte) (any, error) {
	c, err := protocol.DecodeContribution(payload)
	if err == nil && c.Round > e.rounds {
		err = fmt.Errorf("%w: contribution to round %d, the task plans %d", protocol.ErrMalformed, c.Round, e.rounds)
	}
	return c, err
}

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	var out []strategy.Output
	failed := false
	switch in := in.(type) {
	case strategy.Replayed:
		e.replay(view, in.Data)
		return nil
	case strategy.Start:
		out = append(out, beat())
	case strategy.Timer:
		if in.Name == beatTimer {
			out = e.wait(view)
		}
	case strategy.CaughtUp:
		if _, listed := slices.BinarySearch(e.roster, in.Peer); listed {
			e.ledger.CaughtUp(in.Peer)
		}
	case strategy.Echo:
		out = e.echo(in.Share)
	case strategy.EquivocationFound:
		out = e.carry(e.ledger.Contradicted(in.Proof))
	case strategy.WorkDone:
		e.drawing, failed = false, in.Err != nil
		out = e.contribute(view, in)
	}
	if !e.silent {
		out = append(out, e.pass(e.sum.Step(view, in))...)
	}
	if !failed { // an immediate retry would fail again and again; the next input triggers a retry
		out = append(out, e.draw(view)...)
	}
	if payload := e.ledger.Announce(); payload != nil {
		out = append(out, strategy.Receipt{Payload: payload})
	}
	if _, starting := in.(strategy.Start); starting || e.shown {
		out = append(out, e.show())
	}
	return out
}

const beatTimer = "beat"

func beat() strategy.Output { return strategy.SetTimer{Name: beatTimer, After: ledger.Beat} }

// wait handles the beat timer. It counts the time for which present nodes of the roster have been
// silent, and warns if too few committee members answer at two consecutive beats.
func (e *Exchange) wait(view strategy.View) []strategy.Output {
	out := []strategy.Output{beat()}
	if change := e.ledger.Count(e.here(presence.Of(view))); change != "" {
		out = append(out, strategy.Warn{Message: change})
	}
	if !e.lacking {
		e.held = 0
		return out
	}
	if e.held++; e.held == 2 {
		out = append(out, strategy.Warn{Message: "a private sum is due, and too few of the nodes that are to add it up answer; this node gives nothing, and spends nothing, until they do"})
	}
	return out
}

// The first byte of a record is the type of its content.
const (
	ofLedger = 'b'
	ofSummer = 's'
	ofSum    = 'a'
)

// Debit returns the part of a record that belongs to the ledger, in the form for ledger.ReadState.
// It returns nil if the record has no such part. An unreadable record counts as one of the ledger,
// since it may have been a release.
func Debit(record []byte) []byte {
	switch {
	case len(record) == 0:
		return []byte{}
	case record[0] == ofSummer || record[0] == ofSum:
		return nil
	}
	return record[1:]
}

func tagged(tag byte, data []byte) strategy.Record {
	return strategy.Record{Data: append([]byte{tag}, data...)}
}

func (e *Exchange) replay(view strategy.View, record []byte) {
	if debit := Debit(record); debit != nil {
		e.ledger.Replay(debit)
		return
	}
	switch body := record[1:]; record[0] {
	case ofSummer:
		e.sum.Step(view, strategy.Replayed{Data: body})
	case ofSum:
		var s Sum
		if json.Unmarshal(body, &s) == nil && e.fits(s) && !e.known(s.Round) {
			e.result.Sums = append(e.result.Sums, s)
		}
	}
}

// fits reports whether a stored sum has the dimensions of the task, which a Strategy requires.
func (e *Exchange) fits(s Sum) bool {
	return s.Round >= 1 && s.Round <= e.rounds && len(s.Weights) == e.settings.Cells && len(s.Noise) == e.settings.Cells &&
		!slices.ContainsFunc(s.Noise, func(deviation float64) bool { return !(deviation > 0) }) &&
		!slices.ContainsFunc(s.Weights, func(w []float64) bool { return len(w) != e.features })
}

func (e *Exchange) show() strategy.Output {
	e.shown = false
	shown := e.result
	shown.State = e.ledger.State()
	shown.Sums = slices.Clone(shown.Sums)
	return strategy.Result{Value: shown}
}

// draw requests the computation of the node's vector if the next round is due. A round is due if
// the node has enough observations, or if other nodes have begun it.
func (e *Exchange) draw(view strategy.View) []strategy.Output {
	e.lacking = false
	if e.drawing {
		out, _ := e.gather() // so that the answers of the committee are known when the vector is ready
		return out
	}
	round, ok := e.sum.Next()
	if !ok || round > uint64(e.rounds) || e.broken || !e.ledger.Open() ||
		!e.sum.Underway() && !e.due(view, round) {
		return nil
	}
	here := e.here(presence.Of(view))
	if len(here) < e.least {
		return nil
	}
	if !e.ledger.Trusted(here) {
		if waits := e.ledger.Waits(here); waits != "" {
			return []strategy.Output{strategy.Warn{Message: waits}}
		}
		return nil
	}
	asks, met := e.gather()
	if !met {
		e.lacking = true
		return asks
	}
	e.drawing = true
	if !e.sum.Underway() {
		e.begunAt = view.Observations
	}
	p, cell := e.plan, cellOf(e.roster, e.self, e.settings.Cells)
	return append(asks, strategy.Work{Name: "vector", Run: func(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
		vector, err := p.vector(ctx, view, seed, round, cell)
		if err != nil {
			return nil, err
		}
		return drawn{round, vector}, nil
	}})
}

// due reports whether the node has enough observations to begin a round itself. It begins at most
// one round per observation, so that imported trials do not begin all rounds at once.
func (e *Exchange) due(view strategy.View, round uint64) bool {
	return view.Observations >= e.dueAt(round) && view.Observations > e.begunAt
}

// here returns the present nodes of the roster, this node included. Nodes outside of the roster do
// not count: an attacker can be present under many identities and claim to store no share of this
// node.
func (e *Exchange) here(present presence.Result) (here []peer.ID) {
	for _, id := range e.roster {
		if id == e.self || present.Has(id) {
			here = append(here, id)
		}
	}
	return here
}

// drawn is the vector of a node for a round, before noise is added.
type drawn struct {
	round  uint64
	vector []float64
}

// vector returns the contribution to a round of a node that explores the given cell, without noise.
// Its part for each cell is the node's weights, clipped to the norm Clip/√Cells and scaled by 1 for
// the own cell and by others(round) for the rest. Without a posterior the vector is zero.
func (p plan) vector(ctx context.Context, view strategy.View, seed strategy.Seed, round uint64, cell int) ([]float64, error) {
	vector := make([]float64, p.numbers())
	if view.Posterior == nil {
		return vector, nil
	}
	var weights []float64
	if p.settings.Share == shareSample {
		var err error
		if weights, err = view.Posterior.Weights(ctx, seed.Stream("summed sample", round)); err != nil {
			return nil, err
		}
	} else {
		_, weights = view.Posterior.Mean()
	}
	Shorten(weights, view.Task.Privacy.Clip/math.Sqrt(float64(p.settings.Cells)))
	for i := range p.settings.Cells {
		scale := 1.0
		if i != cell {
			scale = p.others(round)
		}
		for j, w := range weights {
			vector[i*p.features+j] = scale * w
		}
	}
	return vector, nil
}

// contribute spends a DP release on the vector that in.Result holds, unless too few committee
// members are present by now. Its first output is the record of the release.
func (e *Exchange) contribute(view strategy.View, in strategy.WorkDone) []strategy.Output {
	d, ok := in.Result.(drawn)
	if !ok || !e.ledger.Open() {
		return nil
	}
	if round, ok := e.sum.Next(); !ok || round != d.round {
		return nil // the vector is too late; no release is spent
	}
	if asks, met := e.gather(); !met {
		e.begunAt = min(e.begunAt, view.Observations-1) // no round has begun
		return asks
	}
	out, err := e.give(d)
	if err != nil {
		e.broken = true
		out = append(out, strategy.Warn{Message: "this node contributes to no further sum: " + err.Error()})
	}
	return out
}

func (e *Exchange) give(d drawn) (out []strategy.Output, err error) {
	units, release, record, err := e.ledger.Contribute(d.vector)
	if err != nil {
		return nil, err
	}
	e.shown = true
	out = append(out, tagged(ofLedger, record))
	payload, err := protocol.Contribution{Release: release, Round: int(d.round)}.Encode()
	if err != nil {
		return out, err
	}
	out = append(out, strategy.Publish{Payload: payload, TTL: protocol.MaxTTL})
	sent, err := e.sum.Contribute(d.round, units)
	return append(out, e.pass(sent)...), err
}

// echo checks whether the journal contains an own share or receipt that a peer has sent back.
func (e *Exchange) echo(share strategy.Share) []strategy.Output {
	switch value := share.Value.(type) {
	case protocol.Contribution:
		return e.carry(e.ledger.Echo(value.Release))
	case protocol.Receipt:
		return e.carry(e.ledger.Reconcile(value))
	}
	return nil
}

// carry returns the outputs for a finding of the ledger. A nil record means that the finding is not
// new. A non-empty reason is shown to the user.
func (e *Exchange) carry(record []byte, reason string) []strategy.Output {
	if record == nil {
		return nil
	}
	e.shown = true
	out := []strategy.Output{tagged(ofLedger, record)}
	if reason != "" {
		out = append(out, strategy.Warn{Message: "this node contributes to no further sum: " + reason})
	}
	return out
}

// gather calls Gather of the summer and handles its outputs with pass.
func (e *Exchange) gather() (out []strategy.Output, met bool) {
	out, met = e.sum.Gather()
	return e.pass(out), met
}

// pass passes on the outputs of the summer. It tags records and handles results itself.
func (e *Exchange) pass(outputs []strategy.Output) (out []strategy.Output) {
	for _, output := range outputs {
		switch output := output.(type) {
		case strategy.Record:
			out = append(out, tagged(ofSummer, output.Data))
		case strategy.Result:
			if outcome, ok := output.Value.(securesum.Outcome); ok {
				out = append(out, e.take(outcome)...)
			}
		default:
			out = append(out, output)
		}
	}
	return out
}

// known reports whether the node has the sum of this round or of a later one.
func (e *Exchange) known(round int) bool {
	n := len(e.result.Sums)
	return n > 0 && round <= e.result.Sums[n-1].Round
}

// take stores the outcome of a round.
func (e *Exchange) take(o securesum.Outcome) []strategy.Output {
	if o.Round > 0 && e.known(int(o.Round)) {
		return nil // after a restart the summer reports the latest round again
	}
	e.shown = true
	out := e.warnings.Of(o)
	if o.Err != nil {
		e.result.Failed++
		e.result.Reason = o.Err.Error()
		return out
	}
	members := make([]int, e.settings.Cells)
	for _, id := range o.Contributors {
		members[cellOf(e.roster, id, e.settings.Cells)]++
	}
	s := Sum{Round: int(o.Round), Observations: e.dueAt(o.Round)}.average(e.ledger.Terms, o.Sum, members, e.others(o.Round))
	e.result.Sums = append(e.result.Sums, s)
	return append(out, tagged(ofSum, s.encode()))
}

// cellOf returns the cell that a node explores, by its index on the roster.
func cellOf(roster []peer.ID, id peer.ID, cells int) int {
	i, _ := slices.BinarySearch(roster, id)
	return i % cells
}
