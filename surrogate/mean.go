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
