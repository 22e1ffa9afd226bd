package surrogate

import (
	"math"

	"github.com/fbo-node/fbo/rff"
)

// The mean is useful to peers where its author has evaluated designs, and most of all around the
// best one. With six parameters that is so small a part of the space that a projection nearly
// misses it: on Hartmann's function a newcomer's regret after eight evaluations was half as large
// again. docs/experiments.md has the figures.
const (
	aroundBest   = 20
	detailWeight = 40.0 // of each observed or surrounding design, in points of the projection
)

// Mean returns the projection of the process's mean without its constant part.
func (p *exactPosterior) Mean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	return level, projection.Project(values)
}

// DetailedMean gives weight to the observed designs, and to some around the best of them.
func (p *exactPosterior) DetailedMean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	refined, err := projection.Refine(values, detailWeight)
	if err != nil {
		panic(err) // the weight is positive
	}
	add := func(x []float64) float64 {
		mean := p.process.Mean(x)
		_ = refined.Add(x, mean-level) // Add refuses values that are not finite, which would not help
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
	if weights, err = refined.Weights(); err != nil { // rounding makes the further points unusable
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

// explained turns variances at the projection's points, in place, into the parts by which they are
// below the prior's. It counts only the varying part of the function as the prior: the constant
// part, which every sample has, carries no information about where the function is large.
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
