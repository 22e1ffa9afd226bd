package ledger

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// gridBits is the resolution of the grid. It is so large that rounding is negligible compared with
// the noise.
const gridBits = 30

// Terms holds the privacy budget of a task and the noise that follows from it. Every node can
// compute them.
type Terms struct {
	task.Privacy
	Sigma float64 // standard deviation of the noise that a node adds to each weight
	plan  privacy.Plan
	sigma int64 // Sigma in units of the grid
}

// NewTerms computes the noise that the privacy budget of a task requires. The task must have one.
// NewTerms returns an error if the strategy releases nothing, or if that noise is larger than the
// sampler supports. It cannot exceed the other limits of package privacy, since those of a task are
// narrower.
func NewTerms(t *task.Task) (Terms, error) {
	release, ok := t.Release()
	if !ok {
		return Terms{}, fmt.Errorf("privacy: strategy %q releases nothing", t.Strategy.Type)
	}
	terms := Terms{Privacy: *t.Privacy, plan: privacy.Plan{
		Grid:      privacy.Grid{Norm: t.Privacy.Clip, Bits: gridBits},
		Adjacency: privacy.ReplaceOne,
		Dimension: release.Numbers,
		Rate:      1,
		Releases:  t.Privacy.Releases,
		Parties:   1,
	}}
	if a := t.Privacy.Aggregate; a != nil {
		terms.plan.Parties = a.MinContributors - a.MaxColluding
	}
	if t.Privacy.Adjacency == privacy.ZeroOut.String() {
		terms.plan.Adjacency = privacy.ZeroOut
	}
	var err error
	terms.sigma, err = terms.plan.Sigma(privacy.Promise{Epsilon: t.Privacy.Epsilon, Delta: t.Privacy.Delta, Bound: privacy.Tight})
	if err != nil {
		return Terms{}, fmt.Errorf("privacy: (epsilon %g, delta %g) over %d releases takes more noise than can be sampled; raise epsilon or plan fewer releases",
			t.Privacy.Epsilon, t.Privacy.Delta, t.Privacy.Releases)
	}
	terms.Sigma = float64(terms.sigma) * t.Privacy.Clip / (1 << gridBits)
	return terms, nil
}

// Spent returns the ε that this number of releases costs, at the task's δ.
func (t Terms) Spent(releases int) (float64, error) {
	epsilon, _, err := Together(t.Delta, Spending{t, releases})
	return epsilon, err
}

// Numbers returns the length of a released vector.
func (t Terms) Numbers() int { return t.plan.Dimension }

// Weights converts a release, or a sum of releases, to weights of the same length.
func (t Terms) Weights(units []int64) []float64 {
	weights := make([]float64, len(units))
	t.plan.Grid.Weights(weights, units)
	return weights
}

// State is the state of a Ledger.
type State struct {
	Planned  int    `json:"planned"`
	Released int    `json:"released"`          // number of releases of this node, in any known journal
	Refused  string `json:"refused,omitempty"` // reason why there are no more releases although the plan allows some
}

// entry is a record of the journal. It holds one of three things: the fact that a peer stores a
// receipt of this node, a release, or the reason why there are no more releases.
type entry struct {
	Opened  bool   `json:"opened,omitempty"`  // a peer stores a receipt of this node
	Stored  int    `json:"stored,omitempty"`  // with Opened: account.stored
	Release int    `json:"release,omitempty"` // number of the release, from 1
	Name    string `json:"name,omitempty"`    // name of the release, hexadecimal
	Refused string `json:"refused,omitempty"`
	Known   int    `json:"known,omitempty"` // minimum number of releases made, with Refused
}

// Ledger is the privacy account of one node on one task. It is not safe for concurrent use.
type Ledger struct {
	Terms
	account
	entropy  io.Reader
	state    State
	reported []peer.ID // peers that have sent all their shares in this run
	patience
}

// NewLedger returns a ledger without releases. entropy must be the Reader of crypto/rand outside of
// tests.
func NewLedger(t *task.Task, entropy io.Reader) (*Ledger, error) {
	if entropy == nil {
		return nil, errors.New("the task has a privacy guarantee, which needs a source of random bytes")
	}
	terms, err := NewTerms(t)
	return &Ledger{Terms: terms, entropy: entropy, state: State{Planned: t.Privacy.Releases}}, err
}

// Disown refuses all further releases, because the budget spent so far is unknown. why is the
// reason. An empty why changes nothing.
func (l *Ledger) Disown(why string) {
	if why != "" {
		l.state.Refused = why
	}
}

// State returns the number of planned and made releases, and why further ones are refused.
func (l *Ledger) State() State { return l.state }

const unreadable = "the journal has a record of releases that this version cannot read"

// Replay applies a record of an earlier run. Records must be replayed in order. An unreadable
// record ends all releases, since the number of releases is then unknown.
func (l *Ledger) Replay(record []byte) {
	var e entry
	err := json.Unmarshal(record, &e)
	l.earlier = true
	next := len(l.journal.Releases) + 1
	if err != nil || e == (entry{}) || e.Release < 0 || e.Release > min(next, protocol.MaxReceipted) {
		l.state.Refused = unreadable
		return
	}
	if e.Release == next {
		name, err := decodeName(e.Name)
		if err != nil {
			l.state.Refused = unreadable
			return
		}
		l.count(name)
	}
	l.opened, l.stored = true, max(l.stored, e.Stored)
	l.state.Released = max(l.state.Released, e.Release, e.Known)
	if e.Refused != "" {
		l.state.Refused = e.Refused
	}
}

// ReadState returns the State that the records of a journal lead to.
func ReadState(t *task.Task, records [][]byte) State {
	l := Ledger{state: State{Planned: t.Privacy.Releases}}
	for _, record := range records {
		l.Replay(record)
	}
	return l.state
}

// CaughtUp records that a peer has sent all shares that it stores.
func (l *Ledger) CaughtUp(id peer.ID) {
	if !slices.Contains(l.reported, id) && len(l.reported) < maxReported {
		l.reported = append(l.reported, id)
	}
}

// maxReported is the maximum number of peers that a ledger records. If more than twice this number
// are present, releases wait until Patience has passed.
const maxReported = 4096

// Open reports whether further releases are allowed.
func (l *Ledger) Open() bool { return l.state.Refused == "" && l.state.Released < l.state.Planned }

// Trusted reports whether the journal's account can be trusted. Two conditions must hold. Enough of
// the present peers have sent their shares: more than half, or one of them once the ledger has
// waited for Patience (Count). And the account began in this run, or a peer has confirmed it.
// present includes the node itself. Without other present peers Trusted returns false, since there
// are no receivers.
func (l *Ledger) Trusted(present []peer.ID) bool { return l.enoughReported(present) && l.whole() }

func (l *Ledger) enoughReported(present []peer.ID) bool {
	reported := l.reportedBy(present)
	return reported > 0 && (2*reported > len(present)-1 || l.patience.over)
}

// reportedBy returns the number of present peers that have sent all their shares.
func (l *Ledger) reportedBy(present []peer.ID) (reported int) {
	for _, id := range l.reported {
		if slices.Contains(present, id) {
			reported++
		}
	}
	return reported
}

// Release spends one DP release on the weights. It returns them clipped and with noise, the number
// of the release, and the record that must be on disk before they leave the node. Weights that are
// not finite are released as zeros with noise, because a missing release would disclose them. On an
// error nothing is spent, and nothing may leave the node.
func (l *Ledger) Release(weights []float64) (noisy []float64, release int, record []byte, err error) {
	units, release, record, err := l.Contribute(weights)
	if err != nil {
		return nil, 0, nil, err
	}
	noisy = l.Weights(units)
	for i, v := range noisy {
		noisy[i] = min(max(v, -protocol.MaxWeight), protocol.MaxWeight) // applied to the noisy value, so it costs no privacy
	}
	return noisy, release, record, nil
}

// Contribute does the same as Release for a contribution to a sum. It returns integer units, which
// add up without rounding (Terms.Weights converts them). With mechanism aggregate the noise is only
// one node's part and not sufficient alone.
func (l *Ledger) Contribute(weights []float64) (units []int64, release int, record []byte, err error) {
	if !l.Open() {
		return nil, 0, nil, errors.New("no releases are left")
	}
	if len(weights) != l.plan.Dimension {
		return nil, 0, nil, fmt.Errorf("%d weights, the task's releases have %d", len(weights), l.plan.Dimension)
	}
	units = make([]int64, len(weights))
	if err := l.plan.Grid.Clip(units, weights); err != nil && !errors.Is(err, privacy.ErrNotFinite) {
		return nil, 0, nil, err
	}
	sampler, err := privacy.NewSampler(l.sigma, l.entropy)
	if err == nil {
		err = sampler.AddTo(units)
	}
	if err != nil {
		return nil, 0, nil, err
	}
	e := entry{Release: l.state.Released + 1}
	name, err := newName(l.entropy)
	if err != nil {
		return nil, 0, nil, err
	}
	l.count(name)
	e.Name, l.state.Released = hex.EncodeToString(name[:]), e.Release
	return units, e.Release, mustMarshal(e), nil
}

func mustMarshal(e entry) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("ledger: %v", err)) // cannot happen: numbers and texts always encode
	}
	return data
}
