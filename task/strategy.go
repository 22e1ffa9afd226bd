package task

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	defaultInitialDesigns = 3
	maxInitialDesigns     = 1000

	typeKey           = "type"
	initialDesignsKey = "initial_designs"
)

// StrategyType defines a type of strategy for task files. The package of the strategy provides the
// value.
type StrategyType struct {
	Name string // value of the key type: letters and hyphens

	// Settings reads the type's own keys from the section strategy and reports all errors to it. It
	// is nil if the type has no keys of its own.
	Settings func(s *Section) StrategySettings

	// Mechanism is the privacy mechanism that the type supports: one of this package's constants,
	// or "" for none. If Private is set, tasks of this type must use it.
	Mechanism string
	Private   bool

	// Constraints means that the type supports tasks with constraints.
	Constraints bool

	// Objectives means that the type supports tasks with several objectives.
	Objectives bool

	// Straight means that the surrogate does not bend bad outcomes. It is for types that average the
	// predictions of several agents in the objective's units: an average of bent values has its maximum
	// elsewhere.
	Straight bool

	// ForConstraints means that the type is the default of tasks with constraints.
	ForConstraints bool

	// Moves means that the type supports tasks with MaxMoves. Each design that it chooses is then
	// at most that number of moves from the node's last design.
	Moves bool

	// Exact means that the type needs a surrogate of type exact.
	Exact bool
	// Joint means that the type needs a surrogate that predicts several designs jointly. An
	// extension by the key type gives a surrogate that cannot.
	Joint bool

	// Extensions lists the extensions of the surrogate that the type supports.
	Extensions []SurrogateExtension
}

// Has reports whether the type accepts the key in a section strategy that has no other key.
func (s StrategyType) Has(key string) bool {
	if s.Settings == nil {
		return false
	}
	alone := newDecoder("", []StrategyType{s}).absent("strategy", position{})
	s.Settings(alone)
	return slices.Contains(alone.accepted, key)
}

// StrategySettings holds the settings of a strategy from a task file.
type StrategySettings interface {
	// Keys returns the settings as keys and values of the task file. It contains all defaults, and
	// omits keys that do not apply. The result is part of the task's ID.
	Keys() map[string]any
}

// Releaser is an interface of StrategySettings for types with a Mechanism.
type Releaser interface {
	// Release returns the description of the vector that each node of the task releases. All other
	// sections of the task except privacy have been read before, and its Space is not nil.
	Release(t *Task) Release
}

// Release describes the vector to which a mechanism of privacy adds noise.
type Release struct {
	Numbers int     // length of the vector
	Of      string  // parts that add up to this length, such as "4 cells times 256 features"
	Norm    float64 // typical norm of a vector without clipping; the default of the key clip
	Once    string  // setting with which a node makes only one DP release; empty: it makes as many as planned
	Place   bool    // the vector is a design, in fractions of the parameters' ranges; Norm is then the largest possible norm
	Needs   string  // setting that privacy requires in addition, such as "share: best"; empty: none
}

// Release returns the description of the vector that each node of the task releases. If the
// strategy has no mechanism of privacy, or the parameters have errors, ok is false.
func (t *Task) Release() (r Release, ok bool) {
	releaser, ok := t.Strategy.Settings.(Releaser)
	if !ok || t.Space == nil {
		return Release{}, false
	}
	return releaser.Release(t), true
}

func strategySection() section {
	return section{key: "strategy", parse: parseStrategy, canonical: canonicalStrategy}
}

func parseStrategy(m *Section, t *Task) {
	names := m.d.strategyNames("")
	s := &t.Strategy
	s.Type = m.Word(typeKey, m.d.defaultStrategy(t), names...)
	for _, known := range m.d.strategies {
		if known.Name != s.Type {
			continue
		}
		m.d.chosen, s.Straight = known, known.Straight
		if t.Constrained() && !known.Constraints {
			m.Errorf("type", "type %s takes no constraints, which the task has%s; those that do: %s", known.Name, t.whichBound(), strings.Join(m.d.takingConstraints(), ", "))
		}
		if t.Several() && !known.Objectives {
			m.Errorf("type", "type %s takes one objective, and the task has %d; those that take several: %s", known.Name, len(t.Objectives), m.d.takingObjectives())
		}
		if t.MaxMoves > 0 && !known.Moves {
			m.Errorf("type", "type %s goes to any design at once, and nodes of this task move along a graph (designs: max_moves); %s", known.Name, m.d.moving())
		}
		switch word := t.Surrogate.Word(); {
		case known.Exact && word != exact && word != "": // an empty word means that an error about the surrogate was already reported
			m.Errorf("type", "type %s needs surrogate type %s, not %s", known.Name, exact, word)
		case known.Joint && t.Surrogate.Extension.Key == typeKey:
			m.Errorf("type", "type %s needs surrogate type %s or %s, not %s", known.Name, exact, rff, word)
		case t.Surrogate.Extended() && !slices.Contains(known.Extensions, t.Surrogate.Extension):
			m.Errorf("type", "type %s does not take surrogate %s", known.Name, t.Surrogate.Extension)
		}
		if known.Settings != nil {
			s.Settings = known.Settings(m)
		}
		s.InitialDesigns = m.Whole(initialDesignsKey, defaultInitialDesigns, 1, maxInitialDesigns)
		m.finish()
	}
}

// whichBound returns a text that names the key failures if it is the only reason why the task is
// constrained, else "".
func (t *Task) whichBound() string {
	if len(t.Constraints) == 0 {
		return " by failures: " + string(ConstrainFailures)
	}
	return ""
}

// defaultStrategy returns the name of the first type that supports the task. For a task with
// constraints, a type with ForConstraints has priority.
func (d *decoder) defaultStrategy(t *Task) string {
	name := ""
	for _, s := range d.strategies {
		takes := (s.Constraints || !t.Constrained()) && (s.Moves || t.MaxMoves == 0) && (s.Objectives || !t.Several())
		if takes && (name == "" || t.Constrained() && s.ForConstraints) {
			name = s.Name
		}
	}
	return cmp.Or(name, d.strategies[0].Name)
}

// moving returns a text that names the types that support max_moves.
func (d *decoder) moving() string {
	var names []string
	for _, s := range d.strategies {
		if s.Moves {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "no known type does"
	}
	return "those that do: " + strings.Join(names, ", ")
}

func (d *decoder) takingConstraints() (names []string) {
	for _, s := range d.strategies {
		if s.Constraints {
			names = append(names, s.Name)
		}
	}
	return names
}

// strategyNames returns the names of the types that support a mechanism, or of all types for "".
func (d *decoder) strategyNames(mechanism string) (names []string) {
	for _, s := range d.strategies {
		if mechanism == "" || s.Mechanism == mechanism {
			names = append(names, s.Name)
		}
	}
	return names
}

func canonicalStrategy(t *Task) any {
	form := map[string]any{typeKey: t.Strategy.Type, initialDesignsKey: t.Strategy.InitialDesigns}
	if t.Strategy.Settings != nil {
		maps.Copy(form, t.Strategy.Settings.Keys())
	}
	return form
}
