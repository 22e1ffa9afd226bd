package strategy

import (
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// Types of the module's own packages that the interfaces of this package contain. The aliases
// let another module name them.
type (
	// Seed is the root of the named streams of random numbers from which a strategy takes its
	// decisions.
	Seed = random.Seed
	// Posterior is a model of one output, conditioned on observations.
	Posterior = surrogate.Posterior
	// Constraint is the posterior of a constraint's output, with its bounds.
	Constraint = surrogate.Constraint
	// Observations are encoded designs and the values of one output.
	Observations = surrogate.Observations
	// Units relate the outputs of an agent to standardised ones.
	Units = surrogate.Units
	// Model is a surrogate, PeerModel one that learns from peers' shares too, and Process the exact
	// Gaussian process.
	Model     = surrogate.Model
	PeerModel = surrogate.PeerModel
	Process   = surrogate.Process
	// PrivacySpent is the privacy budget that a node has spent on a task.
	PrivacySpent = ledger.State
)

// NewSeed returns an unpredictable seed.
func NewSeed() Seed { return random.New() }

// SeedOf returns the seed of a number: the same one for the same number.
func SeedOf(n uint64) Seed { return random.SeedOf(n) }
