package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Constants of the Epanechnikov kernel, which turns the distance of two rankings into a weight.
const (
	kernelPeak = 0.75
	bandwidth  = 0.5
)

// taf is the transfer acquisition function.
type taf struct {
	search search.Search
	pool   *Pool
	self   int
}

var _ strategy.Strategy = taf{}

// NewTAF returns the transfer acquisition function for the agent that is member self of the pool.
// It is a weighted average of the agent's expected improvement over its best output, and of one
// term per peer. The term of a peer is the amount by which the mean of its posterior exceeds its
// largest value at the agent's own points. The weight of a peer falls with the share of pairs of
// the agent's observations that its mean orders wrongly, and is 0 from one half on.
//
// This is the form of the published reference code. It does not need the peers' best values, which
// the form in the comparison of Dai, Low and Jaillet transmits. The time of a suggestion is
// proportional to the number of peers.
func NewTAF(t *task.Task, pool *Pool, self int) strategy.Strategy {
	return taf{search: search.New(t), pool: pool, self: self}
}

// Suggest implements strategy.Strategy.
func (s taf) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	own, err := s.pool.own(view)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	f := &transfer{own: acquisition.EI(view.Posterior, own.best())}
	informed := peerInput{}
	for _, p := range s.pool.now().peers(s.self) {
		process, err := p.process()
		if err != nil {
			return strategy.Suggestion{}, fmt.Errorf("the model of member %d: %w", p.member, err)
		}
		if source, ok := newSource(process, own); ok {
			f.sources = append(f.sources, source)
			informed.to(p)
		}
	}
	var function acquisition.Function = f
	if len(f.sources) == 0 { // log EI has the same maximiser, without plateaus
		function = acquisition.LogEI(view.Posterior, own.best())
	}
	return s.search.Maximise(ctx, view, trial, seed, function, informed.why())
}

// source is a peer with a positive weight.
type source struct {
	process *gp.Posterior
	weight  float64
	reached float64 // largest mean at the target's own points
}

// newSource returns a peer as a source. ok is false if its weight is 0.
func newSource(process *gp.Posterior, own *known) (source, bool) {
	s := source{process: process, reached: math.Inf(-1)}
	means := make([]float64, len(own.x))
	for i, x := range own.x {
		means[i] = process.Mean(x)
		s.reached = max(s.reached, means[i])
	}
	s.weight = rankWeight(means, own.y)
	return s, s.weight > 0
}

// rankWeight returns ¾(1 − (κ/ρ)²)₊ with ρ = bandwidth. κ is the share of pairs that means and
// outputs order differently; a tie counts half. A single output has no pairs and is no evidence for
// a peer, so it gives 0.
func rankWeight(means, y []float64) float64 {
	n := len(y)
	if n < 2 {
		return 0
	}
	kappa := float64(discordant(means, y)) / float64(n*(n-1))
	return kernelPeak * max(1-(kappa/bandwidth)*(kappa/bandwidth), 0)
}

// transfer is the acquisition function.
type transfer struct {
	own     acquisition.Function // has the weight kernelPeak
	sources []source
}

func (f *transfer) total() float64 {
	total := kernelPeak
	for _, s := range f.sources {
		total += s.weight
	}
	return total
}

// Value implements acquisition.Function.
func (f *transfer) Value(x []float64) float64 {
	value := kernelPeak * f.own.Value(x)
	for _, s := range f.sources {
		value += s.weight * max(s.process.Mean(x)-s.reached, 0)
	}
	return value / f.total()
}

// Gradient implements acquisition.Function.
func (f *transfer) Gradient(grad, x []float64) float64 {
	value, total := kernelPeak*f.own.Gradient(grad, x), f.total()
	for i := range grad {
		grad[i] *= kernelPeak / total
	}
	var dMean, dVariance []float64
	for _, s := range f.sources {
		mean := s.process.Mean(x)
		if !(mean > s.reached) {
			continue
		}
		if dMean == nil {
			dMean, dVariance = make([]float64, len(x)), make([]float64, len(x))
		}
		s.process.PredictGradient(dMean, dVariance, x)
		value += s.weight * (mean - s.reached)
		for i := range grad {
			grad[i] += s.weight / total * dMean[i]
		}
	}
	return value / total
}
