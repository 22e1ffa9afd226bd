package peerprior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// forecast predicts the objective at a design twice: with all experts, and with only the experts
// without peers, whose weights then sum to 1. It returns nil before the starting designs have
// outcomes, and while all outcomes are equal.
func (s *Strategy) forecast(view strategy.View, o *mixture, design task.Design) *strategy.Forecast {
	n := len(o.data.y)
	if n < s.task.Strategy.InitialDesigns {
		return nil
	}
	_, units, err := surrogate.Outputs(s.task, view.Observed(task.Objective))
	if err != nil || units.Scale == 0 {
		return nil
	}
	x := s.task.Space.Encode(design)
	covariance := gp.Covariance(s.spec, append(o.data.x[:n:n], x), o.data.h.Lengthscales)
	alone := experts(1, nil, nil, nil)
	for i, e := range o.alone {
		alone[i].root = e.root
	}
	weigh(alone, o.data)
	predict := func(all []*expert) (mixture []strategy.Component) {
		for _, e := range all {
			if e.weight == 0 {
				continue // its covariance could not be factored
			}
			c := e.predict(o.data, x, covariance)
			c.Weight = e.weight
			mixture = append(mixture, c)
		}
		return mixture
	}
	f := &strategy.Forecast{
		With:    predict(append(o.experts[:len(o.experts):len(o.experts)], o.alone...)),
		Without: predict(alone),
		Units:   units,
	}
	if len(f.With) == 0 || len(f.Without) == 0 {
		return nil
	}
	return f
}

// predict returns the predictive distribution of an output at x, noise included, given the
// observations. covariance is the kernel's covariance of the own designs and x, with x in the last
// row.
func (e *expert) predict(d *data, x []float64, covariance *mat.SymDense) strategy.Component {
	n := len(d.y)
	mean, deviation := 0.0, 1.0
	if e.around != nil {
		mean = e.size * e.around.function(1).Value(x)
		deviation, _ = e.around.deviation(e.around.left.Value(x))
	}
	cross := mat.NewVecDense(n, nil)
	for i := range n {
		cross.SetVec(i, e.size*e.size*deviation*e.deviationAt(i)*covariance.At(n, i)+e.levelVariance())
	}
	variance := e.size*e.size*deviation*deviation*covariance.At(n, n) + e.levelVariance() + d.h.Noise
	var known mat.VecDense
	if known.SolveVec(e.root, cross) != nil {
		return strategy.Component{Mean: math.NaN()}
	}
	return strategy.Component{Mean: mean + mat.Dot(cross, e.solved), Variance: variance - mat.Dot(&known, &known)}
}
