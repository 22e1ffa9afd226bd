package gp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrNotFinite says that an observation, or a matrix made of them, holds a NaN
// or an infinity.
var ErrNotFinite = errors.New("gp: not finite")

// ErrNotPositiveDefinite says that a covariance matrix could not be factorised
// with the largest jitter tried.
var ErrNotPositiveDefinite = errors.New("gp: covariance is not positive definite")

const (
	firstJitter = 1e-8 // in units of the mean diagonal
	jitterTries = 5
)

// factorise returns the Cholesky factor of k, with a little added to the
// diagonal only if it is needed. It may alter k.
func factorise(k *mat.SymDense) (*mat.Cholesky, error) {
	n := k.SymmetricDim()
	mean := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			if v := k.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, ErrNotFinite
			}
		}
		mean += k.At(i, i) / float64(n)
	}
	var chol mat.Cholesky
	if chol.Factorize(k) {
		return &chol, nil
	}
	added, jitter := 0.0, firstJitter
	for range jitterTries {
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+(jitter-added)*mean)
		}
		if chol.Factorize(k) {
			return &chol, nil
		}
		added, jitter = jitter, 10*jitter
	}
	return nil, ErrNotPositiveDefinite
}

// solve ignores gonum's warning about the condition: the solution is computed
// all the same, and the noise on the diagonal bounds its error.
func solve(chol *mat.Cholesky, dst, b *mat.VecDense) {
	err := chol.SolveVecTo(dst, b)
	var condition mat.Condition
	if err != nil && !errors.As(err, &condition) {
		panic(err)
	}
}
