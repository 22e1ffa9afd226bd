// Package frontprior contains the part of a strategy for several objectives in which peers share
// densities around designs of their Pareto fronts ([Strategy]).
package frontprior

import (
	"context"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Exponent is the usual factor β of the term for peers' fronts. With 2, dissimilar nodes lost more in
// simulations (docs/strategies/objectives.md).
const Exponent = 1

const (
	maxPeers = 20  // maximum number of densities of peers that one suggestion uses
	designs  = 400 // number of uniform designs among which draws have their Pareto sets
)

// Own chooses designs from own outcomes only, as alone.Engine does.
type Own interface {
	strategy.Strategy

	// Volume returns the logarithm of the expected improvement of the hypervolume, and the Why of its
	// maximiser. The view has the posteriors of all objectives.
	Volume(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (search.Function, strategy.Why, error)
}

// Spec describes a [Strategy].
type Spec struct {
	Own    Own
	Source strategy.Source // of designs that depend on densities
	Beta   float64         // β, at least 0

	// Weights are the weights of the rules that combine the densities.
	Weights pooling.Weights

	// Fixed means that Weights stay. Otherwise they follow from the evidence of the own outcomes.
	Fixed bool

	// PriorSpread is the deviation of a density around each prior design of the user. If it is 0, prior
	// designs are not used.
	PriorSpread float64
}

// EvidenceWeights returns the weights before the first outcome if evidence changes them: rules Alone and
// Arithmetic have 1/2 each. Rules that take peers' fronts for independent evidence are left out: similar
// nodes have similar fronts.
func EvidenceWeights() (w pooling.Weights) {
	w[pooling.Alone], w[pooling.Arithmetic] = 0.5, 0.5
	return w
}

// Strategy chooses designs on one task with several objectives. It maximises
//
//	ln NEHVI(x) + (β/t)·Σ_h w_h·g_h(x).
//
// The first term is the improvement of the hypervolume ([Own]). The second attracts designs to the
// densities of the peers, each around designs of its Pareto front: g_h is the logarithm of the density that
// rule h pools from them (package pooling). The weights w_h are those of [Spec], or follow from the evidence
// of the own outcomes: how likely a design of the own Pareto set lies where the densities are large. t is
// the number of own feasible outcomes, at least 1.
//
// Strategy is immutable.
type Strategy struct {
	spec   Spec
	search search.Search
	task   *task.Task
	layout *optprior.Layout
	evenly func() [][]float64 // uniform designs among which draws have their Pareto sets; computed once
}

var (
	_ strategy.Strategy        = (*Strategy)(nil)
	_ strategy.SharesFromStart = (*Strategy)(nil)
)

// New returns the strategy of a task with several objectives.
func New(t *task.Task, spec Spec) *Strategy {
	return &Strategy{
		spec:   spec,
		search: search.New(t),
		task:   t,
		layout: optprior.NewLayout(t.Space),
		evenly: sync.OnceValue(func() (x [][]float64) {
			rng := random.SeedOf(0).Stream("designs of fronts", 0)
			for range designs {
				x = append(x, acquisition.Sample(t.Space, rng))
			}
			return x
		}),
	}
}

// UsesSharesFromStart implements strategy.SharesFromStart.
func (s *Strategy) UsesSharesFromStart() bool { return true }

// Suggest implements strategy.Strategy. Without densities it suggests exactly the designs of Spec.Own. Own
// starting designs come first, unless a peer has more observations than they give.
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	p := s.priors(view, trial, seed)
	factor := s.spec.Beta / float64(max(s.search.CountFeasible(view), 1))
	if len(p.densities) == 0 || factor == 0 || s.search.Starting(view, trial) && p.most <= s.task.Strategy.InitialDesigns {
		return s.spec.Own.Suggest(ctx, view, trial, seed)
	}
	why := strategy.Why{Source: s.spec.Source, PeerCount: p.peers, Observations: p.observations}
	informed := ", informed by prior designs"
	if p.peers > 0 {
		informed = ", informed by " + sanitize.Count(p.peers, "peer")
	}
	if view.Objectives == nil {
		why.Phrase = "best guess" + informed
		return s.search.Maximise(ctx, view, trial, seed, pooling.New(p.densities, s.spec.Weights, factor), why)
	}
	f, own, err := s.spec.Own.Volume(ctx, view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	why.Phrase = own.Phrase + informed
	return s.search.Maximise(ctx, view, trial, seed, acquisition.Sum(f, pooling.New(p.densities, s.weights(view, p, trial, seed), factor)), why)
}

// weights returns the weights of the rules given the own outcomes.
func (s *Strategy) weights(view strategy.View, p priors, trial uint64, seed strategy.Seed) pooling.Weights {
	if s.spec.Fixed {
		return s.spec.Weights
	}
	among := pooling.Candidates(s.layout, s.evenly(), p.centres, seed.Stream("candidates", trial))
	return pooling.Evidence(view, s.spec.Weights, p.densities, among, seed.Stream("evidence", trial))
}

// priors holds the densities for one suggestion.
type priors struct {
	densities    []acquisition.Function
	centres      [][]float64
	peers        int
	observations int // of all peers
	most         int // largest number of observations of one peer
}

func (p *priors) add(m *optprior.Mixture) {
	p.densities, p.centres = append(p.densities, m), append(p.centres, m.Centres()...)
}

// priors returns the densities of at most maxPeers peers, and one around each prior design.
func (s *Strategy) priors(view strategy.View, trial uint64, seed strategy.Seed) (p priors) {
	for _, d := range optprior.Peers(view, maxPeers, seed.Stream("which places", trial)) {
		p.add(optprior.NewMixture(s.layout, s.task.Space, d))
		p.peers++
		p.observations = strategy.AddObservations(p.observations, d.Observations)
		p.most = max(p.most, d.Observations)
	}
	if s.spec.PriorSpread > 0 {
		for _, design := range view.PriorDesigns {
			p.add(optprior.Around(s.layout, s.spec.PriorSpread, s.task.Space.Encode(design)))
		}
	}
	return p
}
