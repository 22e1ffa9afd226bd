package gp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Posterior is the process conditioned on observations. It is immutable and
// safe for concurrent use.
type Posterior struct {
	metric metric
	noise  float64
	x      [][]float64
	y      []float64
	chol   *mat.Cholesky // of K + noise I
	alpha  *mat.VecDense // (K + noise I)⁻¹ y
}

// NewPosterior conditions the process on outputs y (length t >= 1) at the
// points x (t rows). The inputs are copied. Equal points are allowed.
func NewPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters) (*Posterior, error) {
	if err := checkObservations(spec, x, y); err != nil {
		return nil, err
	}
	if err := h.validate(spec); err != nil {
		return nil, err
	}
	p := &Posterior{metric: newMetric(spec, h), noise: h.Noise, y: append([]float64(nil), y...)}
	for _, row := range x {
		p.x = append(p.x, append([]float64(nil), row...))
	}
	k := mat.NewSymDense(len(x), nil)
	for i := range x {
		k.SetSym(i, i, 1+h.Noise)
		for j := range i {
			value, _ := p.metric.between(x[i], x[j])
			k.SetSym(j, i, value)
		}
	}
	var err error
	if p.chol, err = factorise(k); err != nil {
		return nil, err
	}
	p.alpha = mat.NewVecDense(len(y), nil)
	solve(p.chol, p.alpha, mat.NewVecDense(len(y), p.y))
	return p, nil
}

// Predict returns the mean and the variance of the function at x (length d),
// without the noise of an observation. Panics on a wrong length.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	p.metric.checkPoint(x)
	cross := mat.NewVecDense(len(p.x), nil)
	for i, row := range p.x {
		k, _ := p.metric.between(x, row)
		cross.SetVec(i, k)
	}
	var solved mat.VecDense
	solve(p.chol, &solved, cross)
	return mat.Dot(cross, p.alpha), max(1-mat.Dot(cross, &solved), 0)
}

// Draw returns one sample path by Matheron's rule: a draw from the prior, as
// random Fourier features of the learned kernel, plus the kernel's correction
// towards the observations (Wilson et al. 2020). features is the
// even number of features, at least 2. They are fresh in every draw, so that
// over draws the mean and the covariance are exact for any number of them; more
// features make one draw nearer to a Gaussian process.
func (p *Posterior) Draw(features int, rng *rand.Rand) *Function {
	if features < 2 || features%2 != 0 {
		panic("gp: features of a draw must be even and at least 2")
	}
	f := &Function{metric: p.metric, x: p.x}
	f.drawPrior(features/2, rng)
	residual := mat.NewVecDense(len(p.x), nil)
	sd := math.Sqrt(p.noise)
	for i, x := range p.x {
		residual.SetVec(i, p.y[i]-f.Value(x)-sd*rng.NormFloat64())
	}
	update := make([]float64, len(p.x))
	solve(p.chol, mat.NewVecDense(len(p.x), update), residual)
	f.update = update
	return f
}
