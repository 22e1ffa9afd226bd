package peerprior

import (
	"context"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// FrontStrategy is the strategy peer-prior on one task with several objectives. It maximises
//
//	ln NEHVI(x) + (2/t)·w·ln((1/n) Σ_j π_j(x)).
//
// The first term is the improvement of the hypervolume ([alone.Engine.Volume]). The second attracts designs
// to the densities π_j of the n peers, each around the coarse places of designs of its Pareto front. Its
// weight w, at first .5, follows from the evidence of the own outcomes: how likely a design of the own
// Pareto set lies where the densities are large (package pooling, rules Alone and Arithmetic). t is the
// number of own feasible outcomes, at least 1.
//
// FrontStrategy is immutable.
type FrontStrategy struct {
	alone  alone.Engine
	search search.Search
	task   *task.Task
	layout *optprior.Layout
	evenly func() [][]float64 // uniform designs among which draws have their Pareto sets; computed once
}

var (
	_ strategy.Strategy        = (*FrontStrategy)(nil)
	_ strategy.SharesFromStart = (*FrontStrategy)(nil)
)

// NewFront returns the strategy of a task with several objectives.
func NewFront(t *task.Task) *FrontStrategy {
	return &FrontStrategy{
		alone:  alone.NewEngine(t),
		search: search.New(t),
		task:   t,
		layout: optprior.NewLayout(t.Space),
		evenly: sync.OnceValue(func() (x [][]float64) {
			rng := random.SeedOf(0).Stream("designs of fronts", 0)
			for range referencePoints {
				x = append(x, acquisition.Sample(t.Space, rng))
			}
			return x
		}),
	}
}

// UsesSharesFromStart implements strategy.SharesFromStart.
func (s *FrontStrategy) UsesSharesFromStart() bool { return true }

// Suggest implements strategy.Strategy. Without peers' shares it suggests exactly the designs of
// [alone.Engine].
func (s *FrontStrategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	var densities []acquisition.Function
	var centres [][]float64
	why, most := strategy.Why{Source: Source}, 0
	for _, d := range peerDensities(view, trial, seed) {
		m := optprior.NewMixture(s.layout, s.task.Space, d)
		densities, centres = append(densities, m), append(centres, m.Centres()...)
		why.PeerCount++
		why.Observations = strategy.AddObservations(why.Observations, d.Observations)
		most = max(most, d.Observations)
	}
	if len(densities) == 0 || s.search.Starting(view, trial) && most <= s.task.Strategy.InitialDesigns {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	informed := ", informed by " + sanitize.Count(why.PeerCount, "peer")
	factor := frontExponent / float64(max(s.search.CountFeasible(view), 1))
	if view.Objectives == nil {
		why.Phrase = "best guess" + informed
		return s.search.Maximise(ctx, view, trial, seed, pooling.New(densities, frontPrior(), factor), why)
	}
	f, own, err := s.alone.Volume(ctx, view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	designs := pooling.Candidates(s.layout, s.evenly(), centres, seed.Stream("candidates", trial))
	weights := pooling.Evidence(view, frontPrior(), densities, designs, seed.Stream("evidence", trial))
	why.Phrase = own.Phrase + informed
	return s.search.Maximise(ctx, view, trial, seed, acquisition.Sum(f, pooling.New(densities, weights, factor)), why)
}

// frontPrior returns the weights of the rules before the first outcome. Rules that take peers' fronts for
// independent evidence are left out: similar nodes have similar fronts.
func frontPrior() (w pooling.Weights) {
	w[pooling.Alone], w[pooling.Arithmetic] = 0.5, 0.5
	return w
}
