package tsampling

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// RegisterFTS registers federated Thompson sampling.
func RegisterFTS() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "fts", Settings: readSettings, Mechanism: task.MechanismLocal},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			return NewFTS(t, features), nil
		},
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			sharing, err := NewSharing(env.Task, env.Entropy)
			if err != nil {
				return nil, err
			}
			if private, ok := sharing.(*dprelease.Exchange); ok {
				private.Disown(env.Unaccounted)
			}
			return []strategy.Exchange{sharing}, nil
		},
		Describe: describe,
		Reveals:  reveals,
		Outdated: outdated,
		Debit:    debit,
		Forge:    forge,
	}
}

func describe(t *task.Task) string {
	f := settingsOf(t)
	sharing := "a share after every " + sanitize.Count(f.ShareEvery, "observation")
	if f.ShareEvery == 1 {
		sharing = "a share after every observation"
	}
	if f.Mode == OneShot {
		sharing = "one share, after " + sanitize.Count(f.ShareAfter, "observation")
	}
	return fmt.Sprintf("federated Thompson sampling, %s, schedule %s; %s", f.Mode, f.Schedule, sharing)
}

func reveals(t *task.Task) string {
	if p := t.Privacy; p != nil {
		return fmt.Sprintf("Peers get samples of what this node's model believes, with noise that promises (ε = %g, δ = %g) over %s.",
			p.Epsilon, p.Delta, sanitize.Count(p.Releases, "share"))
	}
	return "Peers get samples of what this node's model believes, from which some of its results can be computed; without added noise that is no privacy."
}

func outdated(t *task.Task) string {
	if settingsOf(t).Mode == OneShot {
		return ""
	}
	return "strategy fts follows the samples of nodes that are there; with mode: one-shot it would follow those of all"
}

func debit(exchange string, note []byte) []byte {
	if exchange != protocol.WeightsKind {
		return nil
	}
	return note
}

// forge replaces the weights of a draw by ones drawn from the prior, or by the largest.
func forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	weights, err := protocol.DecodeWeights(payload, t.Surrogate.Features)
	if err != nil {
		return nil, err
	}
	for i := range weights.Values {
		weights.Values[i] = attack.Rand.NormFloat64()
		if attack.Extreme {
			weights.Values[i] = math.Copysign(protocol.MaxWeight, weights.Values[i])
		}
	}
	return weights.Encode()
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
