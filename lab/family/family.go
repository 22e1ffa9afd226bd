package family

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// MaxAgents is the largest number of members of a federation.
const MaxAgents = 100_000

// Objective is the objective of one agent.
type Objective struct {
	// Value returns the objective without noise at a design of the federation's space, in the
	// task's units. It always returns the same value for the same design, and is safe for
	// concurrent use.
	Value func(d task.Design) float64

	// Curve returns the values of an evaluation by step. The last step is that of the outcome, whose
	// value is that of Value. It is nil for families without learning curves. Steps have no noise
	// beside that in the data.
	Curve func(d task.Design) []curves.Step
	// Steps is the number of values of the longest curve; 0 without curves.
	Steps int

	// Noise is the standard deviation of the independent normal noise that an
	// evaluation adds; 0 or more.
	Noise float64

	// Optimum is the best value in the space: the largest or the smallest, depending on the
	// federation's goal, and with constraints the best among designs that satisfy them. It is as
	// exact as the kind of family allows. It is NaN for members that do not count, and if no design
	// satisfies the constraints.
	Optimum float64

	// Deviation is the standard deviation of the value over the space, if the family knows it. 0
	// means unknown; the experiment then estimates it from some hundred designs.
	Deviation float64

	// Range is the largest minus the smallest value, at 4096 points that fill the space or at the
	// designs of a search. It is the regret that counts while a member has no feasible design. It
	// is 0 in federations without constraints, and NaN for members that do not count.
	Range float64
}

// Measure is the measurement of one constraint by one agent.
type Measure struct {
	// Value returns the measured output without noise, in the constraint's units; 1 for true and 0
	// for false. It always returns the same value for the same design, and is safe for concurrent
	// use.
	Value func(d task.Design) float64

	// Noise is the standard deviation of the independent normal noise that an
	// evaluation adds; 0 or more.
	Noise float64
}

// Member is one agent of a federation.
type Member struct {
	Objective   Objective
	Constraints []Measure // in the order of the federation's constraints
	Counts      bool      // its regret belongs to the result

	// Further are the objectives after the first, in the order of the federation's, and Hypervolume is the
	// largest that designs can reach. The regret is then the part of it that is missing.
	Further     []Measure
	Hypervolume float64

	// Name identifies the member across federations, if all federations are drawn from the same
	// members. It is "" if each federation has members of its own.
	Name string

	// Space, if not nil, is the part of the federation's space that the member can evaluate, made
	// by task.Space.Within. Objective and Constraints are defined for its designs only.
	Space *task.Space

	Cluster int  // members with the same number are similar
	Late    bool // it starts when all others have spent their budgets
	Forged  bool // the simulation replaces its shares by random weights or designs before they are sent
	Corner  bool // if Forged: all designs are the corner where numbers are largest, instead of random ones
	Extreme bool // if Forged: all numbers are the largest that shares can have, instead of random ones
}

// Federation is one draw of a family. At least one member counts.
type Federation struct {
	Space   *task.Space
	Goal    task.Goal
	Members []Member

	// Objectives are those of the task if it has several. Each has a reference.
	Objectives []task.ObjectiveGoal

	// Constraints are the limits of the task that all members work on.
	Constraints []task.Constraint

	// MaxMoves is that of the task: 0 unless the space has a graph.
	MaxMoves int

	// Infeasible is true if no design satisfies the constraints of a member that counts. There are
	// no optima then.
	Infeasible bool
}

// DrawFunc draws a federation of 1 to MaxAgents agents. It is safe for concurrent use.
type DrawFunc func(seed random.Seed, agents int) (Federation, error)

// Family is a distribution of federations, made by [Catalogue.Parse]. It is immutable and safe for
// concurrent use.
type Family struct {
	// Name is a text that Parse turns into this family. It is the same for all specs with the same
	// meaning: keys are in the order of the kind, and keys with default values are omitted.
	Name string

	// About describes the kind in a sentence.
	About string

	// Space is the space of all its federations.
	Space *task.Space

	// Objectives are the objectives of all its federations if there are several.
	Objectives []task.ObjectiveGoal

	// Constraints are the constraints of all its federations; most kinds have none.
	Constraints []task.Constraint

	// MaxMoves is that of all its federations; 0 for most kinds.
	MaxMoves int

	// Floor is a fraction of the objective's standard deviation. In ratios, smaller regrets count
	// as this. 0 leaves the choice to the experiment.
	Floor float64

	// Costly reports whether an evaluation trains a model or runs a program. Experiments then
	// compute nothing that needs values beyond those of the agents' designs and the optimum.
	Costly bool

	// Content is a digest of the files from which the family is read; "" without files.
	Content string

	// Forges reports whether each federation has members that are Forged.
	Forges bool

	draw DrawFunc
}

// Draw returns a federation of 1 to MaxAgents members. The same seed gives the same federation on
// every machine, except for the last bits of floats, and for optima that are searched and depend on
// these bits.
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
	all := Catalogue{gpKind(), cornerKind(), guideKind()}
	all = append(all, classicKinds()...)
	return append(append(all, limitsKind(), gramacyKind(), conditionalKind()), severalKinds()...)
}
