package surrogate

// Mean projects the mean of the process, without its constant part, as Weights
// does with a path.
func (p *exactPosterior) Mean() []float64 {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	values := make([]float64, projection.Len())
	level := 0.0
	for i := range values {
		values[i] = p.process.Mean(projection.Point(i))
		level += values[i] / float64(len(values))
	}
	for i := range values {
		values[i] -= level
	}
	return projection.Project(values)
}

func (p *exactPosterior) Explained() float64 {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	points := make([][]float64, explainedAt)
	for i := range points {
		points[i] = projection.Point(i)
	}
	return explained(p, points)
}

// explainedAt is the number of points over which Explained averages.
const explainedAt = 200

// explained takes the varying part of the function for the prior: the constant
// part, which every sample has, says nothing about where it is large.
func explained(p Posterior, points [][]float64) float64 {
	total := 0.0
	for _, x := range points {
		_, variance := p.Predict(x)
		total += min(max(1-variance/priorVariance, 0), 1)
	}
	return total / float64(len(points))
}
