package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/task"
)

// Registration describes a type of strategy to a program. The package of the strategy returns it,
// and a [Set] contains it. Fields that are nil do not apply.
type Registration struct {
	// StrategyType defines the strategy's name in task files and its settings.
	task.StrategyType

	// New returns the strategy of a task. The result is immutable, so that agents of one process
	// may share it.
	New func(t *task.Task) (Strategy, error)

	// Describe returns one line for `task check` that describes how designs are chosen.
	Describe func(t *task.Task) string

	// Disclosures are the ways in which nodes can share information. Each task uses one of them. If
	// the list is empty, agents share nothing.
	Disclosures []Disclosure

	// PriorDesigns means that the strategy uses View.PriorDesigns.
	PriorDesigns bool

	// Roster means that the strategy's section of the task file lists the participants, as peer
	// IDs under the key roster.
	Roster bool

	// BudgetKey is the key of the strategy's section whose value should be the number of evaluations
	// after the starting designs, as far as it is known. It is empty for strategies without a plan.
	BudgetKey string

	extensions []SurrogateExtension // of the surrogate: see Set.With
	additions  []ExchangeAddition   // see Set.WithExchanges
}

// Shares reports whether the strategy shares anything.
func (r Registration) Shares() bool { return len(r.Disclosures) > 0 }

// Disclosure returns the disclosure that a task uses. It returns the zero value if the strategy
// shares nothing.
func (r Registration) Disclosure(t *task.Task) Disclosure { return DisclosureOf(r.Disclosures, t) }

// Rostered reports whether a task of this strategy lists its participants in the section strategy.
func (r Registration) Rostered(t *task.Task) bool { return r.Roster || r.Disclosure(t).Roster }

// NewStrategy returns the strategy of a task.
func (r Registration) NewStrategy(t *task.Task) (Strategy, error) {
	if d := r.Disclosure(t); d.New != nil {
		return d.New(t)
	}
	return r.New(t)
}

// BudgetHint returns a sentence if a task plans for more evaluations after the starting designs than a
// run of that number of evaluations in all makes, and otherwise "".
func (r Registration) BudgetHint(t *task.Task, evaluations int) string {
	if r.BudgetKey == "" || t.Strategy.Settings == nil {
		return ""
	}
	planned, _ := t.Strategy.Settings.Keys()[r.BudgetKey].(int)
	after := max(evaluations-t.Strategy.InitialDesigns, 1)
	if planned <= after {
		return ""
	}
	return fmt.Sprintf("strategy %s plans for %d evaluations after the %d starting designs (%s: %d), and %d evaluations end before; %s: %d in the task file fits them",
		r.Name, planned, t.Strategy.InitialDesigns, r.BudgetKey, planned, evaluations, r.BudgetKey, after)
}

// Summary returns one line for `task check` on how designs are chosen and what a share contains.
func (r Registration) Summary(t *task.Task) string {
	text := r.Describe(t)
	if !r.Shares() {
		return text + "; nothing is shared"
	}
	if d := r.Disclosure(t); d.Holds != nil {
		text += "; " + d.Holds(t)
	}
	return text
}

// Forgery generates the content of forged shares. Design generates designs, and Rand all other
// numbers.
type Forgery struct {
	Rand    *rand.Rand
	Corner  bool // every design has the largest value of each parameter, instead of random ones
	Extreme bool // like Corner; in addition all other numbers of the share are as large as allowed
}

// Design returns a random design of the space. With Corner or Extreme it always returns the same
// corner, which has the largest value of each numeric parameter and the last choice of each
// categorical one.
func (l Forgery) Design(space *task.Space) task.Design {
	x := acquisition.Sample(space, l.Rand)
	if l.Corner || l.Extreme {
		clear(x)
		for _, block := range space.Blocks() {
			x[block.Start+block.Len-1] = 1
		}
	}
	return space.Decode(x)
}

// Env holds the arguments with which an agent creates its exchanges.
type Env struct {
	Task *task.Task
	Key  crypto.PrivKey // private key of the agent
	// Entropy is the source of differential-privacy noise: the Reader of crypto/rand.
	Entropy io.Reader
	// Unaccounted is the reason why the spent privacy budget of the node is unknown, for example
	// because a damaged journal was repaired. The node must then make no further DP release. It is
	// empty if the spent budget is known.
	Unaccounted string
	// EstimateAlone requests an estimate of the result that the node would have reached without
	// peers. Exchanges that cannot estimate it ignore the request. The estimate costs computation
	// time and is only displayed, so nodes set EstimateAlone and experiments do not.
	EstimateAlone bool
}

// Set holds the strategies that a program supports, each with a unique name. The first is the
// default of task files that name none.
type Set []Registration

// Check returns an error if the set is invalid. A set must contain at least one strategy, and
// each needs a unique name and the required fields.
func (s Set) Check() error {
	if len(s) == 0 {
		return errors.New("the set of strategies is empty")
	}
	for i, r := range s {
		first := slices.IndexFunc(s, func(other Registration) bool { return other.Name == r.Name })
		switch {
		case r.Name == "":
			return fmt.Errorf("registration %d has no name", i+1)
		case first < i:
			return fmt.Errorf("two registrations have the name %q, which must be of one", r.Name)
		case r.New == nil || r.Describe == nil:
			return fmt.Errorf("registration %q needs New and Describe", r.Name)
		case slices.ContainsFunc(r.Disclosures, func(d Disclosure) bool { return d.Exchanges == nil || d.Reveals == nil }):
			return fmt.Errorf("registration %q has a disclosure that needs Exchanges and Reveals", r.Name)
		case slices.ContainsFunc(r.Disclosures, func(d Disclosure) bool { return d.Rung.Content() == "" }):
			return fmt.Errorf("registration %q has a disclosure without a rung; expected one of %q", r.Name, Rungs())
		case slices.ContainsFunc(r.Disclosures, func(d Disclosure) bool { return (d.Release == nil) != (d.Debit == nil) }):
			return fmt.Errorf("registration %q has a disclosure with one of Release and Debit, which needs both", r.Name)
		case r.unreachable() >= 0:
			return fmt.Errorf("registration %q has two disclosures with share %q for the same tasks; each needs a word of its own, a Release or Applies", r.Name, r.Disclosures[r.unreachable()].Share)
		case !slices.Contains([]string{"", task.MechanismLocal, task.MechanismAggregate}, r.Mechanism):
			return fmt.Errorf("registration %q has the mechanism %q, expected %q, %q and none", r.Name, r.Mechanism, task.MechanismLocal, task.MechanismAggregate)
		}
	}
	return nil
}

// unreachable returns the index of the first disclosure that no task can select, since an earlier
// one fits all its tasks; It returns -1 if there is none.
func (r Registration) unreachable() int {
	for i, d := range r.Disclosures {
		if slices.ContainsFunc(r.Disclosures[:i], func(earlier Disclosure) bool {
			return earlier.Share == d.Share && (earlier.Release == nil) == (d.Release == nil) && earlier.Applies == nil
		}) {
			return i
		}
	}
	return -1
}

// Of returns the registration of a task's strategy. It includes the exchange that an extension of
// the task's surrogate adds. It returns an *UnknownError if the set lacks the strategy.
func (s Set) Of(t *task.Task) (Registration, error) {
	if err := s.Check(); err != nil {
		return Registration{}, err
	}
	if r, ok := s.Named(t.Strategy.Type); ok {
		return r.For(t), nil
	}
	return Registration{}, &UnknownError{t.Strategy.Type}
}

// UnknownError means that a task's strategy is not in the program's [Set]. Other programs may
// support it.
type UnknownError struct {
	Type string // type of the strategy, as in the task
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("strategy %q is unknown to this program", e.Type)
}

// Named returns the registration with this name.
func (s Set) Named(name string) (r Registration, ok bool) {
	for _, r := range s {
		if r.Name == name {
			return r, true
		}
	}
	return Registration{}, false
}

// Parse reads a task file whose strategy is one of the set. See task.Parse for the format and
// the errors.
func (s Set) Parse(file string, data []byte) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.Parse(file, data, s.types()) })
}

// ParseBeside parses a task file in a folder, like Parse. If the file names a table of designs,
// ParseBeside reads the table from the same folder (see task.ParseBeside).
func (s Set) ParseBeside(folder fs.FS, file string, data []byte) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.ParseBeside(folder, file, data, s.types()) })
}

// ParseCanonical parses the canonical form of a task, which Task.Canonical returns. Another program
// may have written it. The error is an *UnknownError if the set lacks the strategy. If the task
// lists its designs in a table, the parsed Listing is Absent. Such a task suffices to store and
// forward shares, but not to choose designs.
func (s Set) ParseCanonical(file string, data []byte) (*task.Task, error) {
	var form struct{ Strategy struct{ Type string } }
	if err := json.Unmarshal(data, &form); err == nil && form.Strategy.Type != "" {
		if _, ok := s.Named(form.Strategy.Type); !ok {
			return nil, &UnknownError{form.Strategy.Type}
		}
	}
	return s.Parse(file, data)
}

// NewTask returns the task that Parse returns for a file with the same content as spec.
func (s Set) NewTask(spec task.Spec) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.New(spec, s.types()) })
}

// make checks the set and calls f. It returns a panic of a strategy's Settings as an error.
func (s Set) make(f func() (*task.Task, error)) (*task.Task, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return recoverpanic.Call("the reading of the settings", f)
}

func (s Set) types() []task.StrategyType {
	types := make([]task.StrategyType, len(s))
	for i, r := range s {
		types[i] = r.StrategyType
	}
	return types
}
