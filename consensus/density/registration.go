package density

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/frontprior"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	defaultBeta = 5 // as in πBO: a tenth of the budget, here of 50 evaluations
	maxBeta     = 1000

	defaultComponents = 1
	maxComponents     = 16

	poolingEvidence = "evidence"
	poolingProduct  = "product"
	poolingMean     = "mean"

	defaultSpread = 0.2
	minSpread     = 0.001
	maxSpread     = 10
)

// Settings are the keys of a task file for strategy density.
type Settings struct {
	// Beta is β of the exponent γ_t = β/t of the peers' densities: 0 to 1000.
	Beta float64
	// Pooling selects how the densities of peers are combined: "evidence" (the default) by own
	// outcomes, "product" as in equation 8, "mean" by the geometric mean.
	Pooling string
	strategy.Choice
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	return Settings{
		Beta:    s.Within("beta", betaDefault(s), 0, maxBeta),
		Pooling: s.Word("pooling", poolingEvidence, poolingEvidence, poolingProduct, poolingMean),
		Choice:  strategy.ReadChoice(s, disclosures()),
	}
}

func betaDefault(s *task.Section) float64 {
	if s.Several() {
		return frontprior.Exponent
	}
	return defaultBeta
}

// Keys implements task.StrategySettings.
func (s Settings) Keys() map[string]any {
	keys := s.Choice.Keys()
	keys["beta"] = s.Beta
	if s.Pooling != poolingEvidence {
		keys["pooling"] = s.Pooling
	}
	return keys
}

// Release implements task.Releaser.
func (s Settings) Release(t *task.Task) task.Release { return strategy.ReleaseOf(disclosures(), t) }

// Shape has the keys that define the densities of a task's shares.
type Shape struct {
	// Components is the maximum number of normals in a density. With 1, the normal is around the
	// best design. With 2 to 16, normals are fitted to the maximisers of posterior samples.
	Components int
	// Spread is the standard deviation of the normal if Components is 1, in the unit cube: 0.001 to
	// 10. It is 0 with more components.
	Spread float64
	Coarse bool // share is coarse; the task then has no key components
	Front  bool // the task has several objectives, and no key components
}

// Keys implements task.StrategySettings.
func (s Shape) Keys() map[string]any {
	keys := map[string]any{}
	if !s.Coarse && !s.Front {
		keys["components"] = s.Components
	}
	if s.Components == 1 {
		keys["spread"] = s.Spread
	}
	return keys
}

// shapeOf returns the Shape of a task whose nodes share densities. For other tasks it returns the
// zero value.
func shapeOf(t *task.Task) Shape { return strategy.ChosenSettings[Shape](t) }

// Register returns the registration of the strategy density.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "density", Settings: readSettings, Mechanism: task.MechanismLocal, Constraints: true, Objectives: true},
		New: func(t *task.Task) (strategy.Strategy, error) {
			if t.Several() {
				return newFront(t), nil
			}
			return New(t), nil
		},
		Describe: func(t *task.Task) string {
			if t.Several() {
				return fmt.Sprintf("expected improvement of the hypervolume, weighted by densities around the peers' Pareto fronts to the power %g/t", settingsOf(t).Beta)
			}
			return fmt.Sprintf("expected improvement weighed by %s to the power %g/t", strategy.DisclosureOf(disclosures(), t).Uses, settingsOf(t).Beta)
		},
		Disclosures:  disclosures(),
		PriorDesigns: true,
	}
}

func disclosures() []strategy.Disclosure {
	return []strategy.Disclosure{
		discloseBest(),
		discloseNoisy(),
		discloseCoarse(),
		feasibility.Disclosure("where peers found designs feasible,"),
	}
}

// discloseBest returns the disclosure in which nodes share exact densities.
func discloseBest() strategy.Disclosure {
	return strategy.Disclosure{
		Share:      "best",
		Rung:       strategy.RungDesign,
		Implied:    true,
		Every:      true,
		Objectives: true,
		Settings: func(s *task.Section) task.StrategySettings {
			if s.Several() {
				s.Refuse("components", "one objective; with several a share holds up to "+sanitize.Count(optprior.FrontComponents, "design")+" of the front")
				return Shape{Components: 1, Spread: s.Within("spread", defaultSpread, minSpread, maxSpread), Front: true}
			}
			d := Shape{Components: s.Whole("components", defaultComponents, 1, maxComponents)}
			if d.Components == 1 {
				d.Spread = s.Within("spread", defaultSpread, minSpread, maxSpread)
			} else {
				s.Refuse("spread", "components: 1")
			}
			return d
		},
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			if env.Task.Several() {
				return []strategy.Exchange{optprior.NewExact(env.Task, shapeOf(env.Task).Spread, settingsOf(env.Task).ShareEvery)}, nil
			}
			return []strategy.Exchange{newSharing(env.Task)}, nil
		},
		Uses: "the densities of peers",
		Holds: func(t *task.Task) string {
			text := holds(t)
			if c := strategy.ChoiceOf(t); c.ShareEvery > 1 {
				text += c.Comes()
			}
			return text
		},
		Reveals: func(t *task.Task) string {
			if t.Several() {
				return fmt.Sprintf("Peers receive up to %d designs on this node's Pareto front, exactly as evaluated, but no results. This is no privacy guarantee.", optprior.FrontComponents)
			}
			return "Peers receive designs of this node, which show where it searches and which designs its model prefers, but no results. This is no privacy guarantee."
		},
		Forge: optprior.Forge,
	}
}

func holds(t *task.Task) string {
	if t.Several() {
		return fmt.Sprintf("a share holds up to %d normals around designs on the Pareto front", optprior.FrontComponents)
	}
	return "a share holds " + sanitize.Count(shapeOf(t).Components, "normal")
}

// discloseNoisy returns the disclosure in which nodes share the centre of a density with DP noise.
// The spread is public.
func discloseNoisy() strategy.Disclosure {
	d := dprelease.OfDesigns(discloseBest(), protocol.DensityKind, newReleases, func(t *task.Task) string {
		if shapeOf(t).Components != 1 {
			return "components: 1"
		}
		return ""
	})
	d.Holds = func(t *task.Task) string {
		return holds(t) + ", placed with noise and wider by it" + strategy.ChoiceOf(t).Comes()
	}
	return d
}

// discloseCoarse returns the disclosure in which nodes share the grid cell of the density's centre.
func discloseCoarse() strategy.Disclosure {
	d := optprior.CoarseDisclosure(func(t *task.Task) float64 { return shapeOf(t).Spread })
	d.Settings = func(s *task.Section) task.StrategySettings {
		return Shape{Components: 1, Spread: s.Within("spread", defaultSpread, minSpread, maxSpread), Coarse: true}
	}
	d.Uses = discloseBest().Uses
	d.Holds = func(t *task.Task) string { return holds(t) + ", coarsely placed" }
	return d
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
