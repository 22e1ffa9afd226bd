package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// LeaveOneOut returns one residual for each observation: its signed distance from the posterior
// mean given all other observations, divided by the predictive standard deviation of an
// observation. With α = (K+Σ)⁻¹y and S = (K+Σ)⁻¹, where Σ is the diagonal matrix of noise, the
// residual is α_i/√S_ii (Rasmussen and Williams 2006, equations 5.11 and 5.12). It costs O(t³).
func (p *Posterior) LeaveOneOut() []float64 {
	if len(p.y) == 0 {
		return nil
	}
	var inverse mat.SymDense
	_ = p.chol.InverseTo(&inverse) // an error means a badly conditioned matrix; the inverse is set nevertheless
	z := slices.Clone(p.y)
	p.solve(z)
	for i := range z {
		z[i] /= math.Sqrt(inverse.At(i, i))
	}
	return z
}
