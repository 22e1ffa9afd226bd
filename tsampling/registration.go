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

// RegisterFTS returns the registration of federated Thompson sampling.
func RegisterFTS() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "fts", Settings: readSettings, Mechanism: task.MechanismLocal, Objectives: true},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			return NewFTS(t, features), nil
		},
		Describe: func(t *task.Task) string {
			f := settingsOf(t)
			text := fmt.Sprintf("federated Thompson sampling, %s, schedule %s", f.Mode, f.Schedule)
			if t.Several() {
				text += ", samples of random scalarisations"
			}
			if f.Peers.Kind != Uniform {
				text += ", peers by " + f.Peers.Kind
			}
			return text
		},
		Disclosures: disclosures(),
	}
}

func disclosures() []strategy.Disclosure {
	return []strategy.Disclosure{discloseExact(), discloseNoisy()}
}

// discloseExact returns the disclosure in which nodes share samples without noise.
func discloseExact() strategy.Disclosure {
	return strategy.Disclosure{
		Objectives: true,
		Rung:       strategy.RungExact, // several samples disclose inputs, see docs/privacy.md#attacks
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{NewSharing(env.Task)}, nil
		},
		Holds: func(t *task.Task) string {
			f := settingsOf(t)
			if f.Mode == OneShot {
				return "one share, after " + sanitize.Count(f.ShareAfter, "observation")
			}
			return "a share after " + sanitize.Every(f.ShareEvery, "observation")
		},
		Reveals: func(t *task.Task) string {
			if t.Several() {
				return "Peers receive samples of models of this node's scalarised objectives, from which some of its designs can be computed. This is no privacy guarantee."
			}
			return "Peers receive samples of this node's model, from which some of its results can be computed. This is no privacy guarantee."
		},
		Outdated: outdated,
		Forge:    forge,
	}
}

// discloseNoisy returns the disclosure in which nodes share samples with DP noise. Release.Norm,
// the norm of a sample before clipping, is estimated by that of a draw of the prior: the square
// root of the number of features.
func discloseNoisy() strategy.Disclosure {
	d := dprelease.Disclosure(discloseExact(), protocol.WeightsKind, newReleases, func(t *task.Task) task.Release {
		r := task.Release{Numbers: t.Surrogate.Features, Of: "the features", Norm: math.Sqrt(float64(t.Surrogate.Features))}
		if settingsOf(t).Mode == OneShot {
			r.Once = "mode: " + OneShot
		}
		return r
	})
	d.Reveals = func(t *task.Task) string {
		return fmt.Sprintf("Peers receive samples of this node's model, with noise that guarantees (ε = %g, δ = %g) over %s.",
			t.Privacy.Epsilon, t.Privacy.Delta, sanitize.Count(t.Privacy.Releases, "share"))
	}
	return d
}

func outdated(t *task.Task) string {
	if settingsOf(t).Mode == OneShot {
		return ""
	}
	return "strategy fts uses only samples of present nodes; with mode: one-shot it would use those of all"
}

// forge replaces the weights of a sample by a draw of the prior. With attack.Extreme it replaces
// them by the largest allowed weights with random signs.
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
