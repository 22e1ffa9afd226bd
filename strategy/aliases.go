package strategy

import (
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// The aliases below name types of internal packages that occur in the interfaces of this package,
// so that other modules can use them.
type (
	// Seed derives named streams of random numbers. All random decisions of a strategy come from
	// them.
	Seed = random.Seed
	// Posterior is a model of one output, conditioned on observations.
	Posterior = surrogate.Posterior
	// Constraint is the posterior of a constraint's output, with its bounds.
	Constraint = surrogate.Constraint
	// Observations are encoded designs and the values of one output.
	Observations = surrogate.Observations
	// Units convert between an agent's measured outputs and standardised outputs.
	Units = surrogate.Units
	// Model is a surrogate. PeerModel is a Model that also learns from peers' shares. Process is
	// the exact Gaussian process.
	Model     = surrogate.Model
	PeerModel = surrogate.PeerModel
	Process   = surrogate.Process
	// Step is the value of the objective at a step of an evaluation, in the task's units. Curve has
	// the steps of one evaluation in ascending order. EarlyStop is the decision to stop one.
	Step      = curves.Step
	Curve     = curves.Curve
	EarlyStop = curves.Stop
	// CurveOfTrial is a curve, and the outcome if the evaluation ran to its end.
	CurveOfTrial = curves.Trial
	// PrivacySpent is the privacy budget that a node has spent on a task.
	PrivacySpent = ledger.State
)

// NewSeed returns an unpredictable seed.
func NewSeed() Seed { return random.New() }

// SeedOf returns the seed that is determined by n.
func SeedOf(n uint64) Seed { return random.SeedOf(n) }
