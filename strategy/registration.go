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

// Registration is all that a program needs to know of a type of strategy. Its package
// defines it, and a [Set] names it. What is nil is not there.
type Registration struct {
	// StrategyType is what a task file says of it.
	task.StrategyType

	// New makes the strategy of a task. It is immutable, so that agents of one process
	// may share it.
	New func(t *task.Task) (Strategy, error)

	// Describe returns in a line, for `task check`, how designs are chosen.
	Describe func(t *task.Task) string

	// Disclosures are the ways in which nodes share information, of which each task has one.
	// Without them agents on the task share nothing.
	Disclosures []Disclosure

	// PriorDesigns says that the strategy uses View.PriorDesigns.
	PriorDesigns bool

	// Roster says that its section of the task file lists who takes part, as peer IDs
	// under the key roster.
	Roster bool

	extensions []SurrogateExtension // of the surrogate: see Set.With
}

// Shares reports whether the strategy shares anything.
func (r Registration) Shares() bool { return len(r.Disclosures) > 0 }

// Disclosure returns the disclosure of a task, the zero value if the strategy shares nothing.
func (r Registration) Disclosure(t *task.Task) Disclosure { return DisclosureOf(r.Disclosures, t) }

// NewStrategy makes the strategy of a task.
func (r Registration) NewStrategy(t *task.Task) (Strategy, error) {
	if d := r.Disclosure(t); d.New != nil {
		return d.New(t)
	}
	return r.New(t)
}

// Summary returns in a line, for `task check`, how designs are chosen and what a share holds.
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

// Forgery is the source of a forged share's content: designs come from Design, all else from Rand.
type Forgery struct {
	Rand    *rand.Rand
	Corner  bool // every design is the one where all numbers are largest, and not a random one
	Extreme bool // the same, and what else the share says as large as it can be
}

// Design returns a design of the space: a random one, or always the same corner. Of categories
// the corner has the last choices.
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

// Env is what an agent gives to its exchanges.
type Env struct {
	Task *task.Task
	Key  crypto.PrivKey // the agent's own
	// Entropy is the Reader of crypto/rand, for the noise of a promise of privacy.
	Entropy io.Reader
	// Unaccounted says why it is not known what the node has spent of a promise of privacy,
	// as after the repair of a damaged journal: then it must release nothing more. Empty
	// when it is known.
	Unaccounted string
	// EstimateAlone asks for an estimate of what the node would have reached without peers, from
	// exchanges that can make one. It costs computations and is for people only: a node asks for
	// it, an experiment does not.
	EstimateAlone bool
}

// Set is the strategies that a program knows, each with a name of its own. The first
// is the one that a task file gets which names none.
type Set []Registration

// Check returns what is wrong with the set: it must name a strategy, each by a name of
// its own, with what a program cannot do without.
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
		case slices.ContainsFunc(r.Disclosures, func(d Disclosure) bool { return (d.Release == nil) != (d.Debit == nil) }):
			return fmt.Errorf("registration %q has a disclosure with one of Release and Debit, which needs both", r.Name)
		case !slices.Contains([]string{"", task.MechanismLocal, task.MechanismAggregate}, r.Mechanism):
			return fmt.Errorf("registration %q has the mechanism %q, accepted are %q, %q and none", r.Name, r.Mechanism, task.MechanismLocal, task.MechanismAggregate)
		}
	}
	return nil
}

// Of returns the registration of a task's strategy, with the exchange that an extension of the task's
// surrogate adds, or an *UnknownError.
func (s Set) Of(t *task.Task) (Registration, error) {
	if err := s.Check(); err != nil {
		return Registration{}, err
	}
	if r, ok := s.Named(t.Strategy.Type); ok {
		return r.For(t), nil
	}
	return Registration{}, &UnknownError{t.Strategy.Type}
}

// UnknownError says that a task has a strategy that the program does not know. Another
// program may, which has added it to its [Set].
type UnknownError struct {
	Type string // of the strategy, as the task has it
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("strategy %q is unknown to this program", e.Type)
}

// Named returns the registration of this name.
func (s Set) Named(name string) (r Registration, ok bool) {
	for _, r := range s {
		if r.Name == name {
			return r, true
		}
	}
	return Registration{}, false
}

// Parse reads a task file whose strategy is one of the set: task.Parse has the format
// and the errors.
func (s Set) Parse(file string, data []byte) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.Parse(file, data, s.types()) })
}

// ParseBeside is Parse of a task file in a folder, from which a table of designs that it
// names is read: see task.ParseBeside.
func (s Set) ParseBeside(folder fs.FS, file string, data []byte) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.ParseBeside(folder, file, data, s.types()) })
}

// ParseCanonical reads what Task.Canonical has written, perhaps in another program. For
// a strategy that is not one of the set the error is an *UnknownError. Of a task with
// listed designs the listing is Absent: whoever reads it so can keep and pass on what
// others share, and cannot choose designs.
func (s Set) ParseCanonical(file string, data []byte) (*task.Task, error) {
	var form struct{ Strategy struct{ Type string } }
	if err := json.Unmarshal(data, &form); err == nil && form.Strategy.Type != "" {
		if _, ok := s.Named(form.Strategy.Type); !ok {
			return nil, &UnknownError{form.Strategy.Type}
		}
	}
	return s.Parse(file, data)
}

// NewTask returns the task that Parse makes of a file with the same content.
func (s Set) NewTask(spec task.Spec) (*task.Task, error) {
	return s.make(func() (*task.Task, error) { return task.New(spec, s.types()) })
}

// make calls what makes a task by the set. A panic of a strategy's Settings is an error.
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
