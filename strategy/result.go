package strategy

import (
	"github.com/libp2p/go-libp2p/core/peer"
)

// What the value of a Result may be too, so that a node can show it,
// or its agent learn by it.
type (
	// Spender tells what has been spent of the task's promise of privacy.
	Spender interface{ Account() PrivacySpent }

	// SumCounter tells how rounds of private sums ended.
	SumCounter interface{ CountSums() Sums }

	// FactorSource tells what peers state of a process in common, in no particular order. The
	// agent's posterior of the objective rests on it ([surrogate.Listener]).
	FactorSource interface{ Statements() []FactorStatement }
	// PriorSource tells the prior that peers make for the hyperparameters of the objective; nil
	// while they make none. The agent fits them by it. Prior may take long and is called
	// beside the agent. HyperparameterPeers counts those peers.
	PriorSource interface {
		Prior() *HyperPrior
		HyperparameterPeers() int
	}

	// RewardReporter reports the rewards of parties.
	RewardReporter interface{ Rewards() []Reward }
)

// Reward is the cumulative reward of one party, in the objective's units. Those that
// failed, or were made before or elsewhere, do not count.
type Reward struct {
	Party       peer.ID `json:"party"`
	Evaluations int     `json:"evaluations"`
	Sum         float64 `json:"sum"`
	Best        float64 `json:"best"` // of them; 0 without any
	// RelativeToMean is how much better than average its results were, all together: larger is
	// better whatever the goal.
	RelativeToMean float64 `json:"relative_to_mean"`
	// Alone is what the party would have got by itself; nil where nobody has estimated it.
	Alone *Estimate `json:"alone,omitempty"`
}

// Estimate is what a party would have got by itself, as a model of the objective says, in
// the objective's units.
type Estimate struct {
	Evaluations int     `json:"evaluations"` // the party's first ones, which it is about
	Sum         float64 `json:"sum"`
	Best        float64 `json:"best"`       // of them
	ActualSum   float64 `json:"actual_sum"` // the sum of as many outcomes of the party
}

// Estimator is what an Exchange may be too: one that can estimate what the node would have
// got by itself. That costs computations and serves people alone, so it happens where it
// was asked for, before Start: a node asks, an experiment does not.
type Estimator interface{ EstimateAlone() }

// Sums counts how rounds of private sums ended.
type Sums struct {
	Known  int    `json:"known"`            // of all runs
	Failed int    `json:"failed"`           // in this run, without a sum
	Reason string `json:"reason,omitempty"` // of the latest of these
}
