package baseline

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// meanVariance is the prior variance of the unknown mean in package gp.
const meanVariance = 1

// known holds the observations and the model of one member. It is immutable.
type known struct {
	spec gp.Spec
	x    [][]float64
	raw  []float64 // outputs in the task's units; larger is better
	y    []float64 // standardised by the member
	h    gp.Hyperparameters

	// process returns the member's posterior as a type of package gp. It equals the surrogate's,
	// and can also return the mean alone.
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

// best returns the largest standardised output.
func (k *known) best() float64 { return slices.Max(k.y) }

// at returns the joint posterior of the function's values at the points, as mean and covariance
// (Rasmussen and Williams, equations 2.25 and 2.26).
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

// covariance returns the prior covariance of the function's values at the points.
func covariance(spec gp.Spec, points [][]float64, h gp.Hyperparameters) *mat.SymDense {
	k := gp.Covariance(spec, points, h.Lengthscales)
	for i := range points {
		for j := i; j < len(points); j++ {
			k.SetSym(i, j, k.At(i, j)+meanVariance)
		}
	}
	return k
}

// noisy factorises the sum of k and the noise on its diagonal. It does not change k.
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
