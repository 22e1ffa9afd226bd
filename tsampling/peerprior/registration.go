package peerprior

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of the strategy peer-prior.
func Register() strategy.Registration {
	shared := newReferences()
	return strategy.Registration{
		StrategyType: task.StrategyType{
			Name:        "peer-prior",
			Settings:    func(s *task.Section) task.StrategySettings { return strategy.ReadChoice(s, disclosures(shared)) },
			Constraints: true,
			Objectives:  true,
		},
		New: func(t *task.Task) (strategy.Strategy, error) { return shared.made(t, New) },
		Describe: func(t *task.Task) string {
			if t.Several() {
				return "expected improvement of the hypervolume, weighted by densities around the peers' Pareto fronts as far as own results agree with them"
			}
			switch strategy.ChoiceOf(t).Share {
			case results.Share:
				return "expected improvement averaged over a model of own results and one of all nodes' results, weighted by how well each predicted own results"
			case sums.Share:
				return "expected improvement averaged over models with and without the sums of peers' results, each weighted by how well it predicts own results"
			}
			return "expected improvement averaged over models with and without peers' information, each weighted by how well it predicts own results, with a prior at the peers' estimated optima"
		},
		Disclosures: disclosures(shared),
	}
}

// made calls make with a task and its shared features. The strategy uses the cache r.
func (r *references) made(t *task.Task, make func(t *task.Task, features *rff.Map) (*Strategy, error)) (strategy.Strategy, error) {
	features, err := surrogate.SharedMap(t)
	if err != nil {
		return nil, err
	}
	s, err := make(t, features)
	if err != nil {
		return nil, err
	}
	s.references = r
	return s, nil
}

func disclosures(shared *references) []strategy.Disclosure {
	return []strategy.Disclosure{discloseCoarse(shared), discloseExact(), discloseResults(), discloseSum(shared)}
}

// discloseCoarse returns the disclosure in which a node shares the grid cell of its estimated
// optimum.
func discloseCoarse(shared *references) strategy.Disclosure {
	d := optprior.CoarseDisclosure(func(*task.Task) float64 { return spread })
	d.New = func(t *task.Task) (strategy.Strategy, error) {
		if t.Several() {
			return newFront(t), nil
		}
		return shared.made(t, NewCoarse)
	}
	d.Forecasts = func(t *task.Task) bool { return !t.Several() }
	d.Holds = func(t *task.Task) string {
		if t.Several() {
			return fmt.Sprintf("a share holds coarse locations of up to %d designs on the Pareto front, and the number of results", optprior.FrontComponents)
		}
		return "a share holds a coarse location of the estimated optimum, and the number of results"
	}
	return d
}

// discloseExact returns the disclosure in which a node shares the mean and the explained variance
// of its posterior, and its estimated optimum.
func discloseExact() strategy.Disclosure {
	return strategy.Disclosure{
		Share:     "exact",
		Rung:      strategy.RungExact,
		Implied:   true,
		Forecasts: forecasts,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{NewSharing(env.Task), optprior.NewExact(env.Task, nearby, 1)}, nil
		},
		Holds: func(*task.Task) string {
			return "a share holds the node's own mean and where it knows how much, from which all its results can be computed"
		},
		Reveals: func(*task.Task) string {
			return "Peers get this node's model of its results. All who know the task can compute all results from it, designs and values: in effect they are published to all nodes that can take part (docs/privacy.md says which strategies avoid that)."
		},
		Forge: forge,
	}
}

func forecasts(*task.Task) bool { return true }

// forge replaces an estimated optimum by a design of the attack, and a mean as [posteriormean.Forge]
// does.
func forge(t *task.Task, kind string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	if kind == protocol.DensityKind {
		return optprior.Forge(t, kind, payload, attack)
	}
	return posteriormean.Forge(t, payload, attack)
}
