package baseline

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// meanVariance is the prior variance of a process's unknown mean in package gp.
const meanVariance = 1

// known is what one member has learned. It is immutable.
type known struct {
	spec gp.Spec
	x    [][]float64
	raw  []float64 // outputs in the task's units, larger being better
	y    []float64 // standardised by the member
	h    gp.Hyperparameters

	// process is the member's posterior in the form of package gp, which is the same as its
	// surrogate's and also returns the mean alone.
	process func() (*gp.Posterior, error)
}

func newKnown(spec gp.Spec, obs surrogate.Observations, posterior surrogate.Posterior) (*known, error) {
	y, _, err := surrogate.Standardise(obs)
	if err != nil {
		return nil, err
	}
	k := &known{spec: spec, raw: slices.Clone(obs.Y), y: y, h: posterior.Hyperparameters().Process()}
	for _, x := range obs.X {
		k.x = append(k.x, slices.Clone(x))
	}
	k.process = sync.OnceValues(func() (*gp.Posterior, error) { return gp.NewPosterior(spec, k.x, k.y, k.h) })
	return k, nil
}

// best is the largest output.
func (k *known) best() float64 { return slices.Max(k.y) }

// at returns the joint posterior of the function's values at the points: mean
// and covariance (Rasmussen and Williams, equations 2.25 and 2.26).
func (k *known) at(points [][]float64) (*gaussian, error) {
	n, m := len(k.x), len(points)
	prior := covariance(k.spec, slices.Concat(k.x, points), k.h)
	chol, err := noisy(prior.SliceSym(0, n).(*mat.SymDense), k.h.Noise)
	if err != nil {
		return nil, err
	}
	cross := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			cross.Set(i, j, prior.At(i, n+j))
		}
	}
	var solved, explained mat.Dense
	if err := chol.SolveTo(&solved, cross); err != nil {
		return nil, err
	}
	explained.Mul(cross.T(), &solved)
	g := &gaussian{mean: mat.NewVecDense(m, nil), covariance: mat.NewSymDense(m, nil)}
	g.mean.MulVec(solved.T(), mat.NewVecDense(n, k.y))
	for i := range m {
		for j := i; j < m; j++ {
			g.covariance.SetSym(i, j, prior.At(n+i, n+j)-explained.At(i, j))
		}
	}
	return g, nil
}

// covariance is that of the function's values under the prior.
func covariance(spec gp.Spec, points [][]float64, h gp.Hyperparameters) *mat.SymDense {
	k := gp.Covariance(spec, points, h.Lengthscales)
	for i := range points {
		for j := i; j < len(points); j++ {
			k.SetSym(i, j, k.At(i, j)+meanVariance)
		}
	}
	return k
}

// noisy factorises a covariance with noise on its diagonal. It leaves k alone.
func noisy(k *mat.SymDense, noise float64) (*mat.Cholesky, error) {
	n := k.SymmetricDim()
	sum := mat.NewSymDense(n, nil)
	sum.CopySym(k)
	for i := range n {
		sum.SetSym(i, i, sum.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(sum) {
		return nil, gp.ErrNotPositiveDefinite
	}
	return &chol, nil
}
