package family

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// MaxAgents is the largest number of members of a federation.
const MaxAgents = 100_000

// Objective is what one agent evaluates.
type Objective struct {
	// Value is the objective without noise at a design of the federation's space,
	// in the task's units. It always returns the same for the same design, and is
	// safe for concurrent use.
	Value func(d task.Design) float64

	// Noise is the standard deviation of the independent normal noise that an
	// evaluation adds; 0 or more.
	Noise float64

	// Optimum is the best value in the space, the largest or smallest by the federation's goal, as
	// exactly as the family's kind can compute it; with constraints the best of a design that keeps
	// them. It is NaN for members that do not count, and where no design keeps the constraints.
	Optimum float64

	// Deviation is the standard deviation of the value over the space where the family knows it. 0
	// leaves its measurement to the experiment, which evaluates some hundred designs.
	Deviation float64

	// Range is the largest less the smallest value at 4096 points that fill the
	// space, or at those of a search: what it costs to have no feasible design. It is 0 in federations without
	// constraints, and NaN for members that do not count.
	Range float64
}

// Measure is what one agent measures of a constraint.
type Measure struct {
	// Value is the measured output without noise, in the constraint's units; 1 for true
	// and 0 for false. It
	// always returns the same for the same design, and is safe for concurrent use.
	Value func(d task.Design) float64

	// Noise is the standard deviation of the independent normal noise that an
	// evaluation adds; 0 or more.
	Noise float64
}

// Member is one agent of a federation.
type Member struct {
	Objective   Objective
	Constraints []Measure // in the order of the federation's
	Counts      bool      // its regret belongs to the result

	// Name identifies the member from federation to federation, where these are drawn
	// from the same members. It is "" where each federation has members of its own.
	Name string

	// Space, when not nil, is the part of the federation's space that the member can
	// evaluate, from its Within: its Objective and Constraints know no other designs.
	Space *task.Space

	Cluster int  // members with the same number are similar
	Late    bool // it starts when all others have spent their budgets
	Forged  bool // what it shares is replaced by random weights or designs before it is sent
	Corner  bool // if Forged, its designs are not random: all are the corner where numbers are largest
	Extreme bool // if Forged, its numbers are not random either: all are the largest that shares can have
}

// Federation is what a family draws. At least one member counts.
type Federation struct {
	Space   *task.Space
	Goal    task.Goal
	Members []Member

	// Constraints are the limits of the task that all members work on.
	Constraints []task.Constraint

	// MaxMoves is that of the task, 0 unless the space has a graph.
	MaxMoves int

	// Infeasible is true if no design satisfies the constraints of a member that counts, so that
	// there are no optima.
	Infeasible bool
}

// DrawFunc draws a federation of a number of agents that is 1 to MaxAgents. It is
// safe for concurrent use.
type DrawFunc func(seed random.Seed, agents int) (Federation, error)

// Family is a way of drawing federations, from [Catalogue.Parse]. It is immutable and
// safe for concurrent use.
type Family struct {
	// Name is the text that gives this family when it is parsed, and the same text
	// for all that mean the same: keys are in the order of the kind, and those with
	// their default values are left out.
	Name string

	// About describes the kind in a sentence.
	About string

	// Space is that of all its federations.
	Space *task.Space

	// Constraints are those of all its federations, none for most kinds.
	Constraints []task.Constraint

	// MaxMoves is that of all its federations, 0 for most kinds.
	MaxMoves int

	// Floor is the part of the objective's standard deviation below which a regret
	// counts as none in ratios; 0 leaves that to the judge.
	Floor float64

	// Content is a digest of files that the federations are made of, "" without any.
	Content string

	// Forges reports whether some members of each federation are Forged.
	Forges bool

	draw DrawFunc
}

// Draw returns a federation of 1 to MaxAgents members. The same seed gives the
// same federation on every machine, up to the last bits of floats and, where an
// optimum has to be searched, what these decide.
func (f Family) Draw(seed random.Seed, agents int) (Federation, error) {
	if f.draw == nil {
		return Federation{}, errors.New("this Family is not from Parse")
	}
	if agents < 1 || agents > MaxAgents {
		return Federation{}, fmt.Errorf("family %q: %d agents; accepted: 1 to %d", f.Name, agents, MaxAgents)
	}
	drawn, err := f.draw(seed, agents)
	drawn.MaxMoves = f.MaxMoves
	return drawn, err
}

// Kinds returns the kinds of this package.
func Kinds() Catalogue {
	all := Catalogue{gpKind(), cornerKind()}
	all = append(all, classicKinds()...)
	return append(all, limitsKind(), gramacyKind())
}
