package campaign

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Kinds of tasks.
const (
	taskDefault   = "default"   // peer-prior with coarse shares
	taskFTS       = "fts"       // federated Thompson sampling
	taskPrivate   = "private"   // the same with a privacy budget, mechanism local
	taskSpent     = "spent"     // the same with a budget that a run spends
	taskThreshold = "threshold" // constrained-gp, whose thresholds are compared in private
	taskSum       = "sum"       // peer-prior with sums over a roster
	taskFair      = "fair"      // fair batches for the parties of a roster
	taskAggregate = "aggregate" // fts-de with a privacy budget, mechanism aggregate
)

// Tasks returns the kinds of tasks.
func Tasks() []string {
	return []string{taskDefault, taskFTS, taskPrivate, taskSpent, taskThreshold, taskSum, taskAggregate, taskFair}
}

// rosterOf returns the number of members of a kind of task.
func rosterOf(kind string) int {
	switch kind {
	case taskSum:
		return 5
	case taskAggregate:
		return 4
	}
	return 3
}

// patienceOf returns the time after Calm within which exchanges make progress. Rounds of sums whose
// committee did not answer are repeated after a growing pause.
func patienceOf(kind string) time.Duration {
	switch kind {
	case taskSum, taskAggregate:
		return time.Hour
	}
	return 10 * time.Minute
}

const form = `
name: campaign
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 60}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {%s}
strategy: {%s}
%s`

// taskOf returns the task of a kind.
func taskOf(kind string, keys []crypto.PrivKey, strategies strategy.Set) (*task.Task, error) {
	ids := make([]string, len(keys))
	for i, key := range keys {
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			return nil, err
		}
		ids[i] = id.String()
	}
	roster := "roster: [" + strings.Join(ids, ", ") + "]"
	model, keysOf, rest := "type: rff, features: 8", "", ""
	switch kind {
	case taskDefault:
		model, keysOf = "features: 8", "type: peer-prior, initial_designs: 2"
	case taskFTS:
		keysOf = "type: fts, initial_designs: 2"
	case taskPrivate:
		keysOf, rest = "type: fts, initial_designs: 2", "privacy: {mechanism: local, epsilon: 8, releases: 60}"
	case taskSpent:
		keysOf, rest = "type: fts, initial_designs: 2", "privacy: {mechanism: local, epsilon: 8, releases: 4}"
	case taskThreshold:
		model, keysOf = "type: exact, features: 8", "type: constrained-gp, initial_designs: 2, threshold: private, comparisons_per_hour: 3600"
	case taskSum:
		model, keysOf = "features: 8", "type: peer-prior, initial_designs: 2, share: sum, share_every: 2, "+roster
	case taskAggregate:
		keysOf, rest = "type: fts-de, initial_designs: 2, share_every: 2", "privacy: {mechanism: aggregate, epsilon: 8, releases: 60, "+roster+"}"
	case taskFair:
		model = "features: 8, hyperparameters: fixed, lengthscales: [0.2, 0.2], mean: 0, signal_std: 1, noise_std: 0.05"
		keysOf = "type: fair, initial_designs: 1, " + roster
	}
	return strategies.Parse(kind, fmt.Appendf(nil, form, model, keysOf, rest))
}

// keysOf returns the keys of the members, which are the same in all runs.
func keysOf(members int) ([]crypto.PrivKey, error) {
	keys := make([]crypto.PrivKey, members)
	for i := range keys {
		std := ed25519.NewKeyFromSeed(fmt.Appendf(nil, "the key of member %14d", i))
		var err error
		if keys[i], _, err = crypto.KeyPairFromStdKey(&std); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func strategies() strategy.Set { return all.Strategies() }
