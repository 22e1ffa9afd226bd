package ftsde

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of federated Thompson sampling with distributed exploration.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "fts-de", Settings: readSettings, Mechanism: task.MechanismAggregate, Private: true},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			return New(t, features)
		},
		Describe:    describe,
		Disclosures: disclosures(),
	}
}

// disclosures returns one disclosure for sums of posterior means and one for sums of samples. A
// mean is shorter than a draw of the prior.
func disclosures() []strategy.Disclosure {
	return []strategy.Disclosure{discloseSums(shareMean, "the nodes' means", 0.5), discloseSums(shareSample, "samples, one of each node,", 1)}
}

// discloseSums returns the disclosure in which nodes share private sums. `of` describes the summed
// vectors, and norm is their usual norm relative to that of a draw of the prior.
func discloseSums(share, of string, norm float64) strategy.Disclosure {
	return strategy.Disclosure{
		Share:     share,
		Rung:      strategy.RungDP,
		Every:     true,
		Forecasts: func(t *task.Task) bool { return settingsOf(t).Weights == weightsEvidence },
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			sums, err := NewExchange(env.Task, env.Key, env.Entropy)
			if err == nil && env.Unaccounted != "" {
				sums.disown(env.Unaccounted)
			}
			return []strategy.Exchange{sums}, err
		},
		Holds: func(t *task.Task) string {
			return "a sum of " + of + " after " + sanitize.Every(settingsOf(t).ShareEvery, "observation")
		},
		Reveals: func(t *task.Task) string {
			return fmt.Sprintf("Peers receive sums over %d nodes or more, never this node's contribution, with noise that guarantees (ε = %g, δ = %g) over %s.",
				t.Privacy.Aggregate.MinContributors, t.Privacy.Epsilon, t.Privacy.Delta, sanitize.Count(t.Privacy.Releases, "sum"))
		},
		Outdated: func(*task.Task) string {
			return "strategy fts-de sends its sums only to nodes that are connected when they are computed"
		},
		Release: func(t *task.Task) task.Release {
			cells := settingsOf(t).Cells
			return task.Release{
				Numbers: cells * t.Surrogate.Features,
				Of:      fmt.Sprintf("%d cells times %d features", cells, t.Surrogate.Features),
				Norm:    norm * math.Sqrt(float64(t.Surrogate.Features)),
			}
		},
		Sums: sumPlanOf,
		Debit: func(exchange string, note []byte) []byte {
			if exchange != protocol.AggregateKind {
				return nil
			}
			return Debit(note)
		},
	}
}

func describe(t *task.Task) string {
	f := settingsOf(t)
	text := "Thompson sampling around private sums, weighted by how well they predict own results"
	if f.Weights == weightsSchedule {
		text = "federated Thompson sampling with private sums, schedule " + f.Schedule.String()
	}
	if f.Cells > 1 {
		text += fmt.Sprintf("; %d cells, each explored by its own nodes at the start", f.Cells)
	}
	return text
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
