package gp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrNotFinite reports that an observation, or a matrix computed from observations, contains NaN or
// an infinity.
var ErrNotFinite = errors.New("not finite")

// ErrNotPositiveDefinite reports that a covariance matrix could not be factorised, even with the
// largest jitter.
var ErrNotPositiveDefinite = errors.New("covariance is not positive definite")

const (
	firstJitter = 1e-8 // in units of the mean of the diagonal
	jitterTries = 5
)

// factorise returns the Cholesky factor of k. It adds jitter to the diagonal only if the
// factorisation fails without, and reports whether it did. It may change k.
func factorise(k *mat.SymDense) (chol *mat.Cholesky, jittered bool, err error) {
	n := k.SymmetricDim()
	mean := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			if v := k.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, false, ErrNotFinite
			}
		}
		mean += k.At(i, i) / float64(n)
	}
	chol = new(mat.Cholesky)
	if chol.Factorize(k) {
		return chol, false, nil
	}
	added, jitter := 0.0, firstJitter
	for range jitterTries {
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+(jitter-added)*mean)
		}
		if chol.Factorize(k) {
			return chol, true, nil
		}
		added, jitter = jitter, 10*jitter
	}
	return nil, false, ErrNotPositiveDefinite
}
