package surrogate

import (
	"math"

	"github.com/fbo-node/fbo/rff"
)

// What a mean is worth to others is decided where its author has looked, and most of
// all around the best that it has found. With six parameters that is so small a part
// of the space that a projection all but misses it: on Hartmann's function a newcomer's
// regret after eight evaluations was half as large again. docs/experiments.md has the figures.
const (
	aroundBest   = 20
	detailWeight = 40.0 // of each observed or surrounding design, in points of the projection
)

// Mean projects the mean of the process without its constant part.
func (p *exactPosterior) Mean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	return level, projection.Project(values)
}

// DetailedMean counts the observed designs, and some around the best of them.
func (p *exactPosterior) DetailedMean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	refined, err := projection.Refine(values, detailWeight)
	if err != nil {
		panic(err) // the weight is positive
	}
	add := func(x []float64) float64 {
		mean := p.process.Mean(x)
		_ = refined.Add(x, mean-level) // it refuses what is not finite, which is no help
		return mean
	}
	var best []float64
	highest := math.Inf(-1)
	for _, x := range p.process.Points() {
		if mean := add(x); best == nil || mean > highest {
			best, highest = x, mean
		}
	}
	if best != nil {
		rng := p.model.seed.Stream("around the best", uint64(p.process.Len()))
		for range aroundBest {
			add(near(p.model.space, best, rng))
		}
	}
	if weights, err = refined.Weights(); err != nil { // rounding makes the further points useless
		return level, projection.Project(values)
	}
	return level, weights
}

// meanValues returns the mean at the projection's points without the level.
func (p *exactPosterior) meanValues() (projection *rff.Projection, level float64, values []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	level = p.process.Constant()
	values = make([]float64, projection.Len())
	p.process.Means(values, projection.Flat())
	for i := range values {
		values[i] -= level
	}
	return projection, level, values
}

func (p *exactPosterior) Explained() (average float64, weights []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	variances := make([]float64, projection.Len())
	p.process.Variances(variances, projection.Flat())
	return explained(variances, projection)
}

// explained turns variances at the projection's points into what they leave of the
// prior's, in place. It takes the varying part of the function for the prior: the constant
// part, which every sample has, says nothing about where it is large.
func explained(parts []float64, projection *rff.Projection) (average float64, weights []float64) {
	for i, variance := range parts {
		parts[i] = min(max(1-variance/priorVariance, 0), 1)
		average += parts[i] / float64(len(parts))
	}
	for i := range parts {
		parts[i] -= average
	}
	return average, projection.Project(parts)
}
