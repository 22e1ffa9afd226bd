package density

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	defaultBeta = 5 // a tenth of a budget of 50, as piBO takes it
	maxBeta     = 1000

	defaultComponents = 1
	maxComponents     = 16

	defaultSpread = 0.2
	minSpread     = 0.001
	maxSpread     = 10
)

// Settings are the keys of a task file for strategy density.
type Settings struct {
	// Share is feasibility.Best, Coarse or Feasibility. With the latter Components and Spread
	// are 0, and with Coarse there is one component.
	Share string
	// Beta is the exponent of the peers' densities times the trial number: 0 to 1000.
	Beta float64
	// Components is how many normals a density has, 1 (around the best design) or
	// up to 16 (fitted to where samples of the posterior have their maxima).
	Components int
	// Spread is the standard deviation of a density of one component, in the unit
	// cube: 0.001 to 10; 0 with more.
	Spread float64
	// ShareEvery is how many observations lie between two shares: 1 to
	// labels.MaxShareEvery, and 1 where Share is not labels.Best.
	ShareEvery int
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	d := Settings{
		Beta:  s.Within("beta", defaultBeta, 0, maxBeta),
		Share: feasibility.ReadShare(s, "components", "spread"),
	}
	d.ShareEvery = feasibility.ReadShareEvery(s, d.Share)
	if d.Share == feasibility.Feasibility {
		return d
	}
	d.Components = defaultComponents
	if d.Share == feasibility.Coarse {
		s.Refuse("components", "share: "+feasibility.Best)
	} else {
		d.Components = s.Whole("components", defaultComponents, 1, maxComponents)
	}
	if d.Components == 1 {
		d.Spread = s.Within("spread", defaultSpread, minSpread, maxSpread)
	} else {
		s.Refuse("spread", "components: 1")
	}
	return d
}

// Keys implements task.StrategySettings. It leaves out the default share, and the default interval.
func (s Settings) Keys() map[string]any {
	if s.Share == feasibility.Feasibility {
		return map[string]any{"beta": s.Beta, "share": s.Share}
	}
	if s.Share == feasibility.Coarse {
		return map[string]any{"beta": s.Beta, "share": s.Share, "spread": s.Spread}
	}
	keys := map[string]any{"beta": s.Beta, "components": s.Components}
	if s.Components == 1 {
		keys["spread"] = s.Spread
	}
	if s.ShareEvery > 1 {
		keys["share_every"] = s.ShareEvery
	}
	return keys
}

// Release implements task.Releaser: the centre of a density, whose spread is public.
func (s Settings) Release(t *task.Task) task.Release {
	r := designvector.Release(t.Space)
	switch {
	case s.Share != feasibility.Best:
		r.Needs = "share: " + feasibility.Best
	case s.Components != 1:
		r.Needs = "components: 1"
	}
	return r
}

// Register registers density sharing.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "density", Settings: readSettings, Mechanism: task.MechanismLocal, Constraints: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t), nil },
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			if s := settingsOf(env.Task); s.Share == feasibility.Coarse {
				coarse, err := optprior.NewCoarse(env, s.Spread)
				return []strategy.Exchange{coarse}, err
			}
			if env.Task.Privacy != nil {
				noisy, err := newReleases(env.Task, env.Entropy)
				if err != nil {
					return nil, err
				}
				noisy.Disown(env.Unaccounted)
				return []strategy.Exchange{noisy}, nil
			}
			return []strategy.Exchange{newSharing(env.Task)}, nil
		},
		Describe: func(t *task.Task) string {
			s := settingsOf(t)
			if s.Share == feasibility.Feasibility {
				return fmt.Sprintf("expected improvement weighed by where peers found designs feasible, to the power %g/t; a share holds up to %d designs and whether each was feasible",
					s.Beta, protocol.MaxLabels)
			}
			holds := sanitize.Count(s.Components, "normal")
			if s.Share == feasibility.Coarse {
				holds += ", coarsely placed"
			}
			if t.Privacy != nil {
				holds += ", placed with noise and wider by it"
			}
			if t.Privacy != nil || s.ShareEvery > 1 {
				holds += ", and comes " + feasibility.After(s.ShareEvery)
			}
			return fmt.Sprintf("expected improvement weighed by the densities of peers to the power %g/t; a share holds %s", s.Beta, holds)
		},
		Reveals: func(t *task.Task) string {
			if settingsOf(t).Share == feasibility.Feasibility {
				return feasibility.Reveals
			}
			if settingsOf(t).Share == feasibility.Coarse {
				return coarsen.Reveals(t.Space)
			}
			if t.Privacy != nil {
				return feasibility.NoisyReveals(t.Privacy)
			}
			return "Peers get designs of this node, which show where it looks and what it holds for good, never its results; that is not privacy."
		},
		PriorDesigns: true,
		Debit:        debit,
		Forge:        forge,
	}
}

// debit is the note itself: under a promise nothing else is noted.
func debit(exchange string, note []byte) []byte {
	if exchange != optprior.Kind {
		return nil
	}
	return note
}

// forge replaces the centres of a density by designs of the lie, and labels by others.
func forge(t *task.Task, kind string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	if kind == feasibility.Kind {
		return feasibility.Forge(t, payload, attack)
	}
	return optprior.Forge(t, payload, attack)
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
