package surrogate

import (
	"math"

	"github.com/fbo-node/fbo/rff"
)

// The posterior mean helps peers where its author has evaluated designs, above all near the best
// design. With six parameters this region is so small a part of the space that a projection fitted
// on average over the space nearly misses it. Without the constants below, a newcomer's regret on
// Hartmann's function after eight evaluations was half as large again. docs/experiments.md has the
// figures.
const (
	aroundBest   = 20
	detailWeight = 40.0 // weight of each observed or surrounding design; a point of the projection has weight 1
)

// Mean returns the projection of the posterior mean. level is the constant part of the mean, and
// the weights represent the difference from it.
func (p *exactPosterior) Mean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	return level, projection.Project(values)
}

// DetailedMean returns the same as Mean, but fits the observed designs, and aroundBest designs near
// the one with the best mean, with the additional weight detailWeight.
func (p *exactPosterior) DetailedMean() (level float64, weights []float64) {
	projection, level, values := p.meanValues()
	refined, err := projection.Refine(values, detailWeight)
	if err != nil {
		panic(err) // the weight is positive
	}
	add := func(x []float64) float64 {
		mean := p.process.Mean(x)
		_ = refined.Add(x, mean-level) // the error means that a value is not finite; the point is then left out
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
	if weights, err = refined.Weights(); err != nil { // rounding errors prevent the use of the additional points
		return level, projection.Project(values)
	}
	return level, weights
}

// meanValues returns the posterior mean at the points of the projection, minus its level.
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

// explained converts variances at the projection's points, in place, to the fractions of the prior
// variance that observations have removed. It returns the average fraction, and weights of the
// difference from the average. The prior variance counts only the varying part of the function. The
// constant part carries no information about where the function is large.
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
