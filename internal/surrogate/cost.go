package surrogate

import "github.com/fbo-node/fbo/task"

// NewCost returns the model of the logarithm of the cost of an evaluation, the exact Gaussian process.
// Its posteriors are Scaled, with units that bend nothing, since no cost is bad: Snoek, Larochelle and
// Adams, "Practical Bayesian Optimization of Machine Learning Algorithms" (NeurIPS 2012), section 3.2.
func NewCost(t *task.Task) (Model, error) {
	shared, err := SharedMap(t)
	if err != nil {
		return nil, err
	}
	m := newExact(t, ConstraintSpec(t), shared)
	m.end = straight
	return m, nil
}
