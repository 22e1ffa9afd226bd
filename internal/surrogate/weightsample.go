package surrogate

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// A projection is the least-squares fit of the shared features to a sample path, over points of the
// space. Peers use only the location of the path's maximum, and with many parameters the projection
// loses that location. Therefore the fit gives a larger weight to three kinds of points: the path's
// maximum, points around it, and those maxima of the projection that wrongly exceed the path's. BenchmarkSharedBasis in package rff
// measures the effect.
const (
	aroundMaximum   = 30
	aroundDeviation = 0.1 // standard deviation of their distance in each coordinate
	correctedTops   = 4
	furtherWeight   = 10.0 // weight of one additional point; a point of the projection has weight 1
	shareSearches   = 24   // local searches for each maximum
)

// Weights returns the projection of a sample path without its average. The average carries no
// information about where the function is large, and features without the frequency zero represent
// a constant badly.
func (p *exactPosterior) Weights(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	projection, err := p.model.projection()
	if err != nil {
		return nil, err
	}
	path := p.process.Draw(drawFeatures, rng)
	values := make([]float64, projection.Len())
	path.Values(values, projection.Flat())
	level := 0.0
	for _, v := range values {
		level += v / float64(len(values))
	}
	for i := range values {
		values[i] -= level
	}
	refined, err := projection.Refine(values, furtherWeight)
	if err != nil {
		return nil, err
	}
	further := func(x []float64) {
		_ = refined.Add(x, path.Value(x)-level) // the error means that a value is not finite; the point is then left out
	}
	project := func() []float64 {
		weights, err := refined.Weights()
		if err != nil { // rounding errors prevent the use of the additional points
			return projection.Project(values)
		}
		return weights
	}
	maximizer := acquisition.Maximizer{Space: p.model.space, Searches: shareSearches, Workers: 1}
	top, _, err := maximizer.Maximize(ctx, path, nil, rng)
	if err != nil {
		return nil, err
	}
	further(top)
	for range aroundMaximum {
		further(near(p.model.space, top, rng))
	}
	for range correctedTops {
		top, _, err := maximizer.Maximize(ctx, p.model.shared.Function(project()), [][]float64{top}, rng)
		if err != nil {
			return nil, err
		}
		further(top)
	}
	return project(), nil
}

// WeightDraw learns the noise over the shared features as rff does, unless it is fixed.
func (p *exactPosterior) WeightDraw(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	x, y, noise := p.process.Points(), p.process.Outputs(), p.process.Hyperparameters().Noise
	if fixed := p.model.spec.Centred; !fixed {
		var err error
		if noise, err = fitNoise(ctx, p.model.shared, x, y); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	linear, err := rff.NewPosterior(p.model.shared, x, y, priorVariance, noise)
	if err != nil {
		return nil, err
	}
	return linear.Weights(rng), nil
}

// near returns a random design close to x.
func near(space *task.Space, x []float64, rng *rand.Rand) []float64 {
	moved := make([]float64, len(x))
	for k, v := range x {
		moved[k] = min(max(v+aroundDeviation*rng.NormFloat64(), 0), 1)
	}
	space.Snap(moved)
	return moved
}
