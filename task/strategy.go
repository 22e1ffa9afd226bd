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

// StrategyType defines a type of strategy for task files. The package of the strategy defines its
// value.
type StrategyType struct {
	Name string // its name in a task file, of letters and hyphens

	// Settings reads the type's own keys of the section strategy and reports all errors to
	// the section. It is nil if the type has no keys.
	Settings func(s *Section) StrategySettings

	// Mechanism is that of the section privacy with which the type goes, one of this
	// package's constants, or "" for none. With Private it cannot be left out.
	Mechanism string
	Private   bool

	// Constraints means that the type supports tasks with constraints.
	Constraints bool

	// ForConstraints means that the type is the default of tasks with constraints.
	ForConstraints bool

	// Moves means that the type supports tasks with MaxMoves: each design that it chooses is within
	// that number of moves of the node's last one.
	Moves bool

	// Exact means that the type needs the surrogate of type exact.
	Exact bool
	// Joint means that the type needs a surrogate with joint predictions at several designs. A
	// surrogate of another type by an extension does not have them.
	Joint bool

	// Extensions has the extensions of the surrogate that the type supports.
	Extensions []SurrogateExtension
}

// Has reports whether the type reads a key of the section strategy if that is the only key.
func (s StrategyType) Has(key string) bool {
	if s.Settings == nil {
		return false
	}
	alone := newDecoder("", []StrategyType{s}).absent("strategy", position{})
	s.Settings(alone)
	return slices.Contains(alone.accepted, key)
}

// StrategySettings holds the settings that a type of strategy has read from a task file.
type StrategySettings interface {
	// Keys returns the settings in the form of the task file, with all defaults and without
	// keys that do not apply. They are part of the task's ID.
	Keys() map[string]any
}

// Releaser is implemented by the StrategySettings of a type that has a Mechanism.
type Releaser interface {
	// Release returns the vector that a node of the task releases. The task's parameters,
	// constraints, surrogate and strategy have been read; its Space is not nil.
	Release(t *Task) Release
}

// Release describes the vector to which a mechanism adds noise.
type Release struct {
	Numbers int     // its length
	Of      string  // the parts of that length, such as "4 cells times 256 features"
	Norm    float64 // approximate norm of vectors without clipping: the default of clip
	Once    string  // the setting by which a node releases only once; empty: as planned
	Place   bool    // the vector is a design, in parts of the parameters' ranges: Norm is the largest norm
	Needs   string  // the setting that privacy additionally requires, such as "share: best"; empty: none
}

// Release returns the vector that a node of the task releases. ok is false if its strategy has no
// mechanism of privacy, or if its parameters could not be read.
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
		m.d.chosen = known
		if t.Constrained() && !known.Constraints {
			m.Errorf("type", "type %s takes no constraints, which the task has%s; those that do: %s", known.Name, t.whichBound(), strings.Join(m.d.takingConstraints(), ", "))
		}
		if t.MaxMoves > 0 && !known.Moves {
			m.Errorf("type", "type %s goes to any design at once, and nodes of this task move along a graph (designs: max_moves); %s", known.Name, m.d.moving())
		}
		switch word := t.Surrogate.Word(); {
		case known.Exact && word != exact && word != "": // an unknown word was reported
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

// whichBound names the key by which the task has a constraint, unless that is constraints.
func (t *Task) whichBound() string {
	if len(t.Constraints) == 0 {
		return " by failures: " + string(ConstrainFailures)
	}
	return ""
}

// defaultStrategy returns the first type that supports the task. With constraints it prefers the type
// with ForConstraints.
func (d *decoder) defaultStrategy(t *Task) string {
	name := ""
	for _, s := range d.strategies {
		takes := (s.Constraints || !t.Constrained()) && (s.Moves || t.MaxMoves == 0)
		if takes && (name == "" || t.Constrained() && s.ForConstraints) {
			name = s.Name
		}
	}
	return cmp.Or(name, d.strategies[0].Name)
}

// moving names the types that support tasks with max_moves.
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

// strategyNames returns the types that support a mechanism, and all types for "".
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
