package constrainedgp

import (
	"math"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// averageImprovement is the logarithm of the expected improvement (EI) over best. The average is
// over samples g of the objective f at the k shared designs:
//
//	log mean_g EI(μ(x) + aᵀz_g, s²(x) - aᵀa),  a = L⁻¹c(x)
//
// Here μ and s² are the mean and variance of the posterior of f, c(x) is the vector of covariances
// of f(x) with f at the k designs, m the mean of f at the designs, LLᵀ its covariance, and z_g =
// L⁻¹(g - m). If all terms underflow, the average is computed from their logarithms, so that it has
// a gradient in that case too.
type averageImprovement struct {
	posterior surrogate.Posterior
	joint     surrogate.Joint
	condition condition
	samples   [][]float64 // z_g
	best      float64
	memory    sync.Pool
}

var _ acquisition.Function = (*averageImprovement)(nil)

// workspace holds the buffers of one evaluation.
type workspace struct {
	solved []float64 // a
	pull   []float64 // weights for CrossGradient
	terms  []term
	slopes []float64 // two gradients
}

// term is the expected improvement given one sample, or its logarithm. byMean and bySD are its
// derivatives with respect to the mean and the standard deviation.
type term struct{ value, byMean, bySD float64 }

// underflow is the largest sum of EI over the samples for which average computes with logarithms.
// The unit is the standard deviation of the objective given a sample.
const underflow = 1e-200

func (f *averageImprovement) borrow(dim int) *workspace {
	if w, ok := f.memory.Get().(*workspace); ok {
		return w
	}
	k := f.condition.k
	return &workspace{
		solved: make([]float64, k),
		pull:   make([]float64, k),
		terms:  make([]term, len(f.samples)),
		slopes: make([]float64, 2*dim),
	}
}

// Value implements acquisition.Function.
func (f *averageImprovement) Value(x []float64) float64 {
	w := f.borrow(len(x))
	defer f.memory.Put(w)
	mean, variance := f.posterior.Predict(x)
	value, _ := f.average(w, x, mean, variance)
	return value
}

// average returns the logarithm of the average, and the standard deviation of f(x) given a sample,
// which is the same for all samples. mean and variance are those of the posterior at x. average
// stores a in w.solved. It stores in w.terms the derivatives of the result with respect to the mean
// and the standard deviation of each term.
func (f *averageImprovement) average(w *workspace, x []float64, mean, variance float64) (value, sd float64) {
	f.joint.Cross(w.solved, x)
	f.condition.forward(w.solved)
	sd = math.Sqrt(max(variance-dot(w.solved, w.solved), 0))
	sum := 0.0
	for i, z := range f.samples {
		t := &w.terms[i]
		t.value, t.byMean, t.bySD = acquisition.Improvement(mean+dot(z, w.solved), sd, f.best)
		sum += t.value
	}
	if sum <= underflow*sd {
		return f.averageOfLogarithms(w, mean, sd), sd
	}
	for i := range w.terms {
		w.terms[i].byMean /= sum
		w.terms[i].bySD /= sum
	}
	return math.Log(sum / float64(len(w.terms))), sd
}

// averageOfLogarithms completes average from the logarithms of EI, if EI is too small for a
// float64.
func (f *averageImprovement) averageOfLogarithms(w *workspace, mean, sd float64) float64 {
	largest := math.Inf(-1)
	for i, z := range f.samples {
		t := &w.terms[i]
		t.value, t.byMean, t.bySD = acquisition.LogImprovement(mean+dot(z, w.solved), sd, f.best)
		largest = max(largest, t.value)
	}
	if math.IsInf(largest, -1) {
		return largest
	}
	sum := 0.0
	for _, t := range w.terms {
		sum += math.Exp(t.value - largest)
	}
	for i, t := range w.terms {
		share := math.Exp(t.value-largest) / sum
		if share == 0 {
			w.terms[i] = term{} // the derivatives of a term whose logarithm is -Inf are not finite
			continue
		}
		w.terms[i].byMean *= share
		w.terms[i].bySD *= share
	}
	return largest + math.Log(sum/float64(len(w.terms)))
}

// Gradient implements acquisition.Function. The gradient is 0 at designs where no sample allows an
// improvement.
func (f *averageImprovement) Gradient(grad, x []float64) float64 {
	w := f.borrow(len(x))
	defer f.memory.Put(w)
	byVarianceOf, cross := w.slopes[:len(x)], w.slopes[len(x):]
	mean, variance := f.posterior.PredictGradient(grad, byVarianceOf, x)
	value, sd := f.average(w, x, mean, variance)
	if math.IsInf(value, -1) {
		clear(grad)
		return value
	}
	byMean, byVariance := 0.0, 0.0
	clear(w.pull)
	for i, t := range w.terms {
		byMean += t.byMean
		if sd > 0 {
			byVariance += t.bySD / (2 * sd)
		}
		for j, z := range f.samples[i] {
			w.pull[j] += t.byMean * z
		}
	}
	for j, a := range w.solved {
		w.pull[j] -= 2 * byVariance * a
	}
	f.condition.backward(w.pull)
	f.joint.CrossGradient(cross, w.pull, x)
	for i := range grad {
		grad[i] = byMean*grad[i] + byVariance*byVarianceOf[i] + cross[i]
	}
	return value
}
