package peerprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// What the key share may say.
const (
	Coarse = coarsen.Share // coarsely where the node believes the optimum to be
	Exact  = "exact"       // the mean of its posterior, and where it knows how much
)

// Settings are the keys of a task file for strategy peer-prior.
type Settings struct {
	Share string // Coarse or Exact
}

// readSettings returns the settings of a file. The canonical form of a task, which has every other
// key, leaves out exact shares.
func readSettings(s *task.Section) task.StrategySettings {
	share := Coarse
	if s.Complete() {
		share = Exact
	}
	return Settings{Share: s.Word("share", share, Coarse, Exact)}
}

// Keys implements task.StrategySettings. It leaves out Exact, see readSettings.
func (s Settings) Keys() map[string]any {
	if s.Share == Exact {
		return nil
	}
	return map[string]any{"share": s.Share}
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }

// Register registers the strategy.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "peer-prior", Settings: readSettings, Constraints: true},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			if settingsOf(t).Share == Coarse {
				return NewCoarse(t, features)
			}
			return New(t, features)
		},
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			if settingsOf(env.Task).Share == Coarse {
				coarse, err := optprior.NewCoarse(env, spread)
				return []strategy.Exchange{coarse}, err
			}
			return []strategy.Exchange{NewSharing(env.Task), optprior.NewExact(env.Task, nearby)}, nil
		},
		Describe: func(t *task.Task) string {
			does := "expected improvement over experts who believe the peers or do not, as own results bear them out, toward where peers believe the optimum to be; "
			if settingsOf(t).Share == Coarse {
				return does + "a share holds that place, coarsely, and how many results it rests on"
			}
			return does + "a share holds the node's own mean and where it knows how much, from which all its results can be computed"
		},
		Reveals: func(t *task.Task) string {
			if settingsOf(t).Share == Coarse {
				return coarsen.Reveals(t.Space)
			}
			return "Peers get this node's model of its results. Whoever knows the task can compute all results from it, designs and values: they are as good as published to all who can take part (docs/privacy.md says which strategies avoid that)."
		},
		Forge: forge,
	}
}

// forge replaces the weights of a mean by ones drawn from the prior or by the largest, and a
// place by one of the lie.
func forge(t *task.Task, kind string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	if kind == optprior.Kind {
		return optprior.Forge(t, payload, attack)
	}
	mean, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
	if err != nil {
		return nil, err
	}
	for i := range mean.Values {
		mean.Values[i] = attack.Rand.NormFloat64()
		if attack.Extreme {
			mean.Values[i], mean.ExplainedWeights[i] = math.Copysign(protocol.MaxWeight, mean.Values[i]), protocol.MaxWeight
		}
	}
	if attack.Extreme {
		mean.Observations, mean.Explained, mean.Level, mean.Scale = math.MaxInt32, 1, protocol.MaxUnit, protocol.MaxUnit
	}
	return mean.Encode()
}
