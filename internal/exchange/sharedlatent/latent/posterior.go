package latent

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Posterior is the posterior of an agent's function given its own observations and peers'
// statements. It is immutable and safe for concurrent use.
type Posterior struct {
	spec   Spec
	h      Hyperparameters
	belief *marginal
	x      [][]float64
	y      []float64
	spread *mat.Dense    // covariances of the observations with v, given peers' statements; with Spec.Own minus the prior covariances
	root   *mat.Cholesky // Cholesky factor of the covariance of the observations; nil if there are none
	mean   *expansion
}

// Condition returns the posterior given the product of peers' statements and the own observations.
// There may be no observations. They are copied.
func (s Spec) Condition(said *Gathered, h Hyperparameters, x [][]float64, y []float64) (*Posterior, error) {
	if err := errors.Join(s.checkObservations(x, y), h.validate(s)); err != nil {
		return nil, err
	}
	b, err := s.marginalOf(said, h.Latent)
	if err != nil {
		return nil, err
	}
	return s.given(b, h, x, y)
}

// given returns the posterior given the own observations. b is the distribution of v before these.
func (s Spec) given(b *marginal, h Hyperparameters, x [][]float64, y []float64) (*Posterior, error) {
	p := &Posterior{spec: s, h: h, belief: b, x: linalg.Clone(x), y: append([]float64(nil), y...)}
	if len(x) > 0 {
		w := timesTransposedInverse(s.withValues(h, x), b.lower)
		c := s.rest(h, x, w)
		p.spread = mat.NewDense(len(x), s.size(), nil)
		p.spread.Mul(w, b.variance)
		for i := range x {
			for j := i; j < len(x); j++ {
				c.SetSym(i, j, c.At(i, j)+linalg.Dot(p.spread.RawRowView(i), w.RawRowView(j)))
			}
		}
		if s.Own {
			p.spread.Sub(p.spread, w)
		}
		p.root = new(mat.Cholesky)
		if !p.root.Factorize(c) {
			return nil, errNotDefinite
		}
	}
	before := p.expand(b.mean.RawVector().Data, nil)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = y[i] - before.Value(x[i])
	}
	p.mean = p.update(before, rest)
	return p, nil
}

// Hyperparameters returns the hyperparameters of the posterior. Callers must not change them.
func (p *Posterior) Hyperparameters() Hyperparameters { return p.h }

// Predict returns the mean and the variance of the function at x, without the noise of an
// observation.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	variance, _, _ = p.variance(x)
	return p.mean.Value(x), variance
}

// PredictGradient returns the same as Predict. It fills ofMean and ofVariance, which must have the
// length of x, with the gradients of mean and variance.
func (p *Posterior) PredictGradient(ofMean, ofVariance, x []float64) (mean, variance float64) {
	variance, w, solved := p.variance(x)
	v := mat.NewVecDense(len(w), nil)
	v.MulVec(p.belief.variance, mat.NewVecDense(len(w), w))
	linalg.AddScaled(v.RawVector().Data, -1, w)
	for i := range solved {
		linalg.AddScaled(v.RawVector().Data, -solved[i], p.spread.RawRowView(i))
		solved[i] = -solved[i]
	}
	p.expand(v.RawVector().Data, solved).Gradient(ofVariance, x)
	for i := range ofVariance {
		ofVariance[i] *= 2
	}
	return p.mean.Gradient(ofMean, x), variance
}

// variance returns the variance at x and two vectors that lead to it. w are the covariances between
// the function at x and v. solved are the covariances with the observations times the inverse
// covariance of the observations.
func (p *Posterior) variance(x []float64) (variance float64, w, solved []float64) {
	s := p.spec
	w = timesTransposedInverse(s.withValues(p.h, [][]float64{x}), p.belief.lower).RawRowView(0)
	v := mat.NewVecDense(len(w), w)
	variance = s.ofLatents(p.h, x, x) + s.ofOwn(p.h, x, x) - linalg.Dot(w, w) + mat.Inner(v, p.belief.variance, v)
	if p.root == nil {
		return max(variance, 0), w, nil
	}
	c := make([]float64, len(p.x))
	for i, at := range p.x {
		c[i] = linalg.Dot(p.spread.RawRowView(i), w)
		if s.Own {
			c[i] += s.ofLatents(p.h, x, at) + s.ofOwn(p.h, x, at)
		}
	}
	solved = p.solve(c)
	return max(variance-linalg.Dot(c, solved), 0), w, solved
}

func (p *Posterior) solve(c []float64) []float64 {
	solved := mat.NewVecDense(len(c), nil)
	if err := p.root.SolveVecTo(solved, mat.NewVecDense(len(c), c)); err != nil && !isCondition(err) {
		panic(err) // the factor has a positive diagonal
	}
	return solved.RawVector().Data
}

// expand returns the function Σ w(x)·ofV + Σ ofObservations_i k(x, x_i). Here w(x) are the
// covariances of the function at x with v, and k is the prior covariance between the function and
// the observations.
func (p *Posterior) expand(ofV, ofObservations []float64) *expansion {
	e := &expansion{posterior: p, observations: ofObservations}
	values := mat.NewVecDense(len(ofV), append([]float64(nil), ofV...))
	if err := values.SolveVec(p.belief.lower.T(), values); err != nil && !isCondition(err) {
		panic(err)
	}
	e.values = values.RawVector().Data
	if p.spec.Own {
		for _, v := range ofObservations {
			e.constant += meanVariance * v
		}
	}
	return e
}

// update returns the function before plus the correction that conditions it on the observations.
// rest are the observations minus the values of before.
func (p *Posterior) update(before *expansion, rest []float64) *expansion {
	if p.root == nil {
		return before
	}
	solved := p.solve(rest)
	ofV := make([]float64, p.spec.size())
	for i, v := range solved {
		linalg.AddScaled(ofV, v, p.spread.RawRowView(i))
	}
	after := p.expand(ofV, solved)
	linalg.AddScaled(after.values, 1, before.values)
	after.constant += before.constant
	after.path = before.path
	return after
}

// expansion is a function that is a sum of covariances. It is immutable and safe for
// concurrent use.
type expansion struct {
	posterior    *Posterior
	path         *path // sample of the prior that is added; nil if there is none
	values       []float64
	observations []float64 // weights of the observations; used only with Spec.Own
	constant     float64
}

// Value returns the function at x.
func (e *expansion) Value(x []float64) float64 { return e.Gradient(nil, x) }

// Gradient returns the value at x. If grad is not nil, it must have the length of x and is filled
// with the gradient.
func (e *expansion) Gradient(grad, x []float64) float64 {
	p, s := e.posterior, e.posterior.spec
	clear(grad)
	value, none := e.constant, make([]float64, s.groups())
	if e.path != nil {
		value += e.path.gradient(grad, x)
	}
	for q, l := range p.h.Latent {
		smoothing, gain := p.h.Smoothing[q], p.h.Gains[q]
		for k, z := range s.Points {
			part := e.values[q*len(s.Points)+k] * gain * s.smoothed(l, smoothing, none, x, z, nil)
			value += part
			if grad != nil {
				for c, g := range s.Groups {
					grad[c] -= part * (x[c] - z[c]) / (l[g] + smoothing[g])
				}
			}
		}
		if !s.Own {
			continue
		}
		for i, weight := range e.observations {
			part := weight * gain * gain * s.covariance(l, smoothing, x, p.x[i], nil)
			value += part
			if grad != nil {
				for c, g := range s.Groups {
					grad[c] -= part * (x[c] - p.x[i][c]) / (l[g] + 2*smoothing[g])
				}
			}
		}
	}
	if !s.Own {
		return value
	}
	for i, weight := range e.observations {
		k, slope := s.ownKernel(p.h, x, p.x[i])
		value += weight * p.h.Own * k
		if grad != nil {
			for c, g := range s.Groups {
				grad[c] -= weight * p.h.Own * slope * (x[c] - p.x[i][c]) / (p.h.Lengthscales[g] * p.h.Lengthscales[g])
			}
		}
	}
	return value
}

// Function is a function over the space. It is safe for concurrent use.
type Function interface {
	Value(x []float64) float64
	Gradient(grad, x []float64) float64
}

// Mean returns the posterior mean.
func (p *Posterior) Mean() Function { return p.mean }

// Draw returns a sample of the posterior. It starts with a sample of the prior, with this number of
// waves for each process. It corrects the sample to values of v that are drawn given peers'
// statements, and then to the own observations (Matheron's rule, twice).
func (p *Posterior) Draw(waves int, rng *rand.Rand) (Function, error) {
	s := p.spec
	before, err := p.drawPath(waves, rng)
	if err != nil {
		return nil, err
	}
	v := s.valuesOf(before, p.belief.lower, rng)
	var root mat.Cholesky
	if !root.Factorize(p.belief.variance) {
		return nil, errNotDefinite
	}
	var lower mat.TriDense
	root.LTo(&lower)
	drawn, moved := mat.NewVecDense(len(v), nil), mat.NewVecDense(len(v), nil)
	for i := range v {
		drawn.SetVec(i, rng.NormFloat64())
	}
	moved.MulVec(&lower, drawn)
	moved.AddVec(moved, p.belief.mean)
	linalg.AddScaled(moved.RawVector().Data, -1, v)
	f := p.expand(moved.RawVector().Data, nil)
	f.path, f.constant = before, before.constant
	return p.update(f, p.differences(f, rng)), nil
}

// differences returns the observations minus noisy values of f, with noise drawn from rng.
func (p *Posterior) differences(f *expansion, rng *rand.Rand) []float64 {
	rest := make([]float64, len(p.x))
	for i, x := range p.x {
		rest[i] = p.y[i] - f.Value(x) - math.Sqrt(p.h.Noise)*rng.NormFloat64()
	}
	return rest
}
