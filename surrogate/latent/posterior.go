package latent

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Posterior is an agent's function given its own observations and what others say. It is
// immutable and safe for concurrent use.
type Posterior struct {
	spec   Spec
	h      Hyperparameters
	belief *belief
	x      [][]float64
	spread *mat.Dense    // the covariances of the observations with v
	root   *mat.Cholesky // of the covariance of the observations; nil without any
	alpha  *mat.VecDense // its inverse times what they are beyond their mean
}

// Condition returns the function given the product of others' statements and any number of
// own observations, which are copied.
func (s Spec) Condition(said *Gathered, h Hyperparameters, x [][]float64, y []float64) (*Posterior, error) {
	if err := errors.Join(s.checkObservations(x, y), h.validate(s)); err != nil {
		return nil, err
	}
	b, err := s.believe(said, h.Latent)
	if err != nil {
		return nil, err
	}
	p := &Posterior{spec: s, h: h, belief: b, x: linalg.Clone(x)}
	if len(x) == 0 {
		return p, nil
	}
	w := timesTransposedInverse(s.withValues(h, x), b.lower)
	c := s.rest(h, x, w)
	p.spread = mat.NewDense(len(x), s.size(), nil)
	p.spread.Mul(w, b.variance)
	p.alpha = mat.NewVecDense(len(x), nil)
	for i := range x {
		for j := i; j < len(x); j++ {
			c.SetSym(i, j, c.At(i, j)+linalg.Dot(p.spread.RawRowView(i), w.RawRowView(j)))
		}
		p.alpha.SetVec(i, y[i]-linalg.Dot(w.RawRowView(i), b.mean.RawVector().Data))
	}
	if s.Own {
		p.spread.Sub(p.spread, w)
	}
	p.root = new(mat.Cholesky)
	if !p.root.Factorize(c) {
		return nil, errNotDefinite
	}
	if err := p.root.SolveVecTo(p.alpha, p.alpha); err != nil && !isCondition(err) {
		return nil, errNotDefinite
	}
	return p, nil
}

// Hyperparameters returns those that it was conditioned with.
func (p *Posterior) Hyperparameters() Hyperparameters { return p.h }

// Predict returns the mean and the variance of the function at x, without the noise of an
// observation.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	w := p.values(x)
	ofMean := p.belief.mean.RawVector().Data
	mean = linalg.Dot(w, ofMean)
	variance = p.spec.ofLatents(p.h, x, x) + p.spec.ofOwn(p.h, x, x) - linalg.Dot(w, w)
	v := mat.NewVecDense(len(w), w)
	variance += mat.Inner(v, p.belief.variance, v)
	if p.root == nil {
		return mean, variance
	}
	c, solved := p.covariances(w, x), mat.NewVecDense(len(p.x), nil)
	if err := p.root.SolveVecTo(solved, c); err != nil && !isCondition(err) {
		return mean, variance // cannot be: the factor is there
	}
	return mean + mat.Dot(c, p.alpha), max(variance-mat.Dot(c, solved), 0)
}

// values are the covariances of the function at x with v.
func (p *Posterior) values(x []float64) []float64 {
	return timesTransposedInverse(p.spec.withValues(p.h, [][]float64{x}), p.belief.lower).RawRowView(0)
}

// covariances are those of the function at x with the observations, given what others say.
func (p *Posterior) covariances(w, x []float64) *mat.VecDense {
	c := mat.NewVecDense(len(p.x), nil)
	for i, at := range p.x {
		value := linalg.Dot(p.spread.RawRowView(i), w)
		if p.spec.Own {
			value += p.spec.ofLatents(p.h, x, at) + p.spec.ofOwn(p.h, x, at)
		}
		c.SetVec(i, value)
	}
	return c
}
