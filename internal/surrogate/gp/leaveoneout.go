package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// LeaveOneOut returns for each observation its signed distance from the mean of the process given
// all the others, in standard deviations of an observation. With α = (K+Σ)⁻¹y and S = (K+Σ)⁻¹ it is
// α_i/√S_ii (Rasmussen and Williams 2006, equations 5.11 and 5.12). It costs O(t³).
func (p *Posterior) LeaveOneOut() []float64 {
	if len(p.y) == 0 {
		return nil
	}
	var inverse mat.SymDense
	_ = p.chol.InverseTo(&inverse) // an error means that the matrix is badly conditioned; the inverse is set anyway
	z := slices.Clone(p.y)
	p.solve(z)
	for i := range z {
		z[i] /= math.Sqrt(inverse.At(i, i))
	}
	return z
}
