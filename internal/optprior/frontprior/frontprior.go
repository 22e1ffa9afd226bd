// Package frontprior chooses designs on tasks with several objectives: by the improvement of the
// hypervolume, attracted to densities around designs of peers' Pareto fronts. The strategies peer-prior and
// density use it.
package frontprior

import (
	"context"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	maxPeers       = 20  // maximum number of peers whose densities one suggestion uses
	uniformDesigns = 128 // designs among which draws have their Pareto sets
	priorSpread    = 0.2 // standard deviation of the density around a prior design, in the unit cube
)

// Settings define how peers' densities affect designs.
type Settings struct {
	// Source is the source of designs (Why.Source).
	Source strategy.Source
	// Beta is the factor of the term for peers' densities, divided by the number of own feasible
	// observations.
	Beta float64
	// Rules has the weights of the rules of package pooling before the first outcome.
	Rules pooling.Weights
	// Learned means that the weights follow from the evidence of own outcomes ([pooling.Evidence]).
	Learned bool
}

// Evidence returns the Settings in which own outcomes decide between peers' densities by rule Arithmetic
// and none, with equal weights at first. Rules that take peers' fronts for independent evidence are left
// out: similar nodes have similar fronts.
func Evidence(source strategy.Source, beta float64) Settings {
	s := Settings{Source: source, Beta: beta, Learned: true}
	s.Rules[pooling.Alone], s.Rules[pooling.Arithmetic] = 0.5, 0.5
	return s
}

// Strategy is a strategy on one task with several objectives. It maximises
//
//	ln NEHVI(x) + (β/t)·Σ_h w_h·g_h(x).
//
// The first term is the improvement of the hypervolume ([alone.Engine.Volume]). The second attracts designs
// to the densities of the peers, each around designs of its Pareto front, and of prior designs. g_h is their
// pool by rule h of package pooling. Its weight w_h may follow from the evidence of the own outcomes: how
// likely a design of the own Pareto set lies where the density is large. t is the number of own feasible
// outcomes, at least 1.
//
// Strategy is immutable.
type Strategy struct {
	settings Settings
	alone    alone.Engine
	search   search.Search
	task     *task.Task
	layout   *optprior.Layout
	evenly   func() [][]float64 // uniform designs among which draws have their Pareto sets; computed once
}

var (
	_ strategy.Strategy        = (*Strategy)(nil)
	_ strategy.SharesFromStart = (*Strategy)(nil)
)

// New returns the strategy of a task with several objectives.
func New(t *task.Task, settings Settings) *Strategy {
	return &Strategy{
		settings: settings,
		alone:    alone.NewEngine(t),
		search:   search.New(t),
		task:     t,
		layout:   optprior.NewLayout(t.Space),
		evenly: sync.OnceValue(func() (x [][]float64) {
			rng := random.SeedOf(0).Stream("designs of fronts", 0)
			for range uniformDesigns {
				x = append(x, acquisition.Sample(t.Space, rng))
			}
			return x
		}),
	}
}

// UsesSharesFromStart implements strategy.SharesFromStart.
func (s *Strategy) UsesSharesFromStart() bool { return true }

// Suggest implements strategy.Strategy. Without peers' shares it suggests exactly the designs of
// [alone.Engine].
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	var densities []acquisition.Function
	var centres [][]float64
	add := func(m *optprior.Mixture) { densities, centres = append(densities, m), append(centres, m.Centres()...) }
	why, most := strategy.Why{Source: s.settings.Source}, 0
	for _, d := range peerDensities(view, trial, seed) {
		add(optprior.NewMixture(s.layout, s.task.Space, d))
		why.PeerCount++
		why.Observations = strategy.AddObservations(why.Observations, d.Observations)
		most = max(most, d.Observations)
	}
	for _, design := range view.PriorDesigns {
		add(optprior.Around(s.layout, priorSpread, s.task.Space.Encode(design)))
	}
	if len(densities) == 0 || s.search.Starting(view, trial) && most <= s.task.Strategy.InitialDesigns {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	informed := ", informed by " + sanitize.Count(why.PeerCount, "peer")
	if why.PeerCount == 0 {
		informed = ", informed by the prior designs"
	}
	factor := s.settings.Beta / float64(max(s.search.CountFeasible(view), 1))
	if view.Objectives == nil {
		why.Phrase = "best guess" + informed
		return s.search.Maximise(ctx, view, trial, seed, pooling.New(densities, s.settings.Rules, factor), why)
	}
	f, own, err := s.alone.Volume(ctx, view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	weights := s.settings.Rules
	if s.settings.Learned {
		designs := pooling.Candidates(s.layout, s.evenly(), centres, seed.Stream("candidates", trial))
		weights = pooling.Evidence(view, weights, densities, designs, seed.Stream("evidence", trial))
	}
	why.Phrase = own.Phrase + informed
	return s.search.Maximise(ctx, view, trial, seed, acquisition.Sum(f, pooling.New(densities, weights, factor)), why)
}

// peerDensities returns the densities of the peers that the agent uses in this trial.
func peerDensities(view strategy.View, trial uint64, seed strategy.Seed) []protocol.Density {
	var all []protocol.Density
	for _, d := range strategy.Shares[protocol.Density](view) {
		all = append(all, d)
	}
	return search.AtMost(maxPeers, all, seed.Stream("which places", trial))
}
