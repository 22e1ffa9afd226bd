package surrogate

import "github.com/fbo-node/fbo/rff"

// Mean projects the mean of the process without its constant part.
func (p *exactPosterior) Mean() (level float64, weights []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	level = p.process.Constant()
	values := make([]float64, projection.Len())
	p.process.Means(values, projection.Flat())
	for i := range values {
		values[i] -= level
	}
	return level, projection.Project(values)
}

func (p *exactPosterior) Explained() (average float64, weights []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	return explained(p, projection)
}

// explained takes the varying part of the function for the prior: the constant
// part, which every sample has, says nothing about where it is large.
func explained(p Posterior, projection *rff.Projection) (average float64, weights []float64) {
	parts := make([]float64, projection.Len())
	for i := range parts {
		_, variance := p.Predict(projection.Point(i))
		parts[i] = min(max(1-variance/priorVariance, 0), 1)
		average += parts[i] / float64(len(parts))
	}
	for i := range parts {
		parts[i] -= average
	}
	return average, projection.Project(parts)
}
