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

// gridBits is large enough that rounding is negligible relative to any noise.
const gridBits = 30

// Terms holds the privacy budget of a task, in numbers that every node can check.
type Terms struct {
	task.Privacy
	Sigma float64 // deviation of the noise that a node adds to each weight
	plan  privacy.Plan
	sigma int64 // Sigma in units of the grid
}

// NewTerms computes the noise that the privacy budget of a task requires. The task must have one.
// It returns an error if no noise that can be sampled is sufficient: the other limits of package
// privacy are wider than those of a task.
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

// Spent returns the ε, at the task's δ, of this number of releases.
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
	Released int    `json:"released"`          // of this node, in any known journal
	Refused  string `json:"refused,omitempty"` // why there will be no more releases although some of the plan are left
}

// entry is a record of the journal: that peers hold the account, a release, or the reason why there
// will be no more.
type entry struct {
	Opened  bool   `json:"opened,omitempty"`  // a peer holds the account, without a release
	Release int    `json:"release,omitempty"` // its number
	Name    string `json:"name,omitempty"`    // of the release, hexadecimal
	Refused string `json:"refused,omitempty"`
	Known   int    `json:"known,omitempty"` // releases, with Refused
}

// Ledger is one node's account on one task. It is not safe for concurrent use.
type Ledger struct {
	Terms
	account
	entropy  io.Reader
	state    State
	reported []peer.ID // peers that have sent all their shares in this run
	patience
}

// NewLedger returns an account without spent releases. entropy must be the Reader of crypto/rand
// outside of tests.
func NewLedger(t *task.Task, entropy io.Reader) (*Ledger, error) {
	if entropy == nil {
		return nil, errors.New("the task has a privacy guarantee, which needs a source of random bytes")
	}
	terms, err := NewTerms(t)
	return &Ledger{Terms: terms, entropy: entropy, state: State{Planned: t.Privacy.Releases}}, err
}

// Disown refuses all releases, because the earlier spending is unknown; why is the reason. An empty
// why changes nothing.
func (l *Ledger) Disown(why string) {
	if why != "" {
		l.state.Refused = why
	}
}

// State returns the spent budget.
func (l *Ledger) State() State { return l.state }

const unreadable = "the journal has a record of releases that this version cannot read"

// Replay applies a record of an earlier run; they must come in order. An unreadable one ends all
// releases, because their number is unknown.
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
	l.opened = true
	l.state.Released = max(l.state.Released, e.Release, e.Known)
	if e.Refused != "" {
		l.state.Refused = e.Refused
	}
}

// ReadState returns the spent budget according to the records of a journal.
func ReadState(t *task.Task, records [][]byte) State {
	l := Ledger{state: State{Planned: t.Privacy.Releases}}
	for _, record := range records {
		l.Replay(record)
	}
	return l.state
}

// CaughtUp notes that a peer has sent all shares that it holds.
func (l *Ledger) CaughtUp(id peer.ID) {
	if !slices.Contains(l.reported, id) && len(l.reported) < maxReported {
		l.reported = append(l.reported, id)
	}
}

// maxReported limits the peers that a ledger stores. If more than twice this number are present,
// releases wait for Patience.
const maxReported = 4096

// Open reports whether releases are left.
func (l *Ledger) Open() bool { return l.state.Refused == "" && l.state.Released < l.state.Planned }

// Trusted reports whether the journal's account can be trusted: enough of the present peers have
// sent their shares, and the account has begun in this run or a peer has reported its last release.
// present includes the node itself. Enough is more than half of the others, or one of them once the
// ledger has waited for Patience; see Count. Without other present peers it is false: there are no
// receivers.
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

// Release spends one release on the weights and returns them clipped and with noise, its number,
// and the record that must be on disk before they leave. Weights that are not finite are released
// as zeros with noise, because a missing release would disclose them. On an error nothing may leave
// and nothing is spent.
func (l *Ledger) Release(weights []float64) (noisy []float64, release int, record []byte, err error) {
	units, release, record, err := l.Contribute(weights)
	if err != nil {
		return nil, 0, nil, err
	}
	noisy = l.Weights(units)
	for i, v := range noisy {
		noisy[i] = min(max(v, -protocol.MaxWeight), protocol.MaxWeight) // after the release, so it costs nothing
	}
	return noisy, release, record, nil
}

// Contribute is Release for a sum, in units that add up without rounding; see Terms.Weights. Under
// mechanism aggregate the noise is one node's part, and is not sufficient alone.
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
		panic(fmt.Sprintf("ledger: %v", err)) // numbers and texts always encode
	}
	return data
}
