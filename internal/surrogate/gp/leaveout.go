package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// LeaveOut returns one residual for each observation: its signed distance from the posterior mean
// given all observations of other groups, divided by the predictive standard deviation of an
// observation. groups has the group of each observation, a number from 0. With nil each observation
// is a group of its own.
//
// With α = (K+Σ)⁻¹y and S = (K+Σ)⁻¹, where Σ is the diagonal matrix of noise, the distances of the
// group with indices G are Vα_G with V = (S_GG)⁻¹, which is their covariance. For groups of one
// observation these are equations 5.11 and 5.12 of Rasmussen and Williams (2006). It costs O(t³).
func (p *Posterior) LeaveOut(groups []int) []float64 {
	if len(p.y) == 0 {
		return nil
	}
	var inverse mat.SymDense
	_ = p.chol.InverseTo(&inverse) // an error means a badly conditioned matrix; the inverse is set nevertheless
	z := slices.Clone(p.y)
	p.solve(z)
	if groups == nil {
		for i := range z {
			z[i] /= math.Sqrt(inverse.At(i, i))
		}
		return z
	}
	members := make([][]int, slices.Max(groups)+1)
	for i, group := range groups {
		members[group] = append(members[group], i)
	}
	for _, group := range members {
		leaveGroupOut(z, group, &inverse)
	}
	return z
}

// leaveGroupOut replaces α by the residuals at the indices of a group.
func leaveGroupOut(z []float64, group []int, inverse *mat.SymDense) {
	n := len(group)
	if n == 0 {
		return
	}
	block, alpha := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range group {
		alpha.SetVec(a, z[i])
		for b := a; b < n; b++ {
			block.SetSym(a, b, inverse.At(i, group[b]))
		}
	}
	var c mat.Cholesky
	var distances mat.VecDense
	var covariance mat.SymDense
	known := c.Factorize(block)
	if known {
		_ = c.SolveVecTo(&distances, alpha) // as above, errors mean a bad condition
		_ = c.InverseTo(&covariance)
	}
	for a, i := range group {
		z[i] = 0 // rounding leaves no evidence
		if known {
			z[i] = distances.AtVec(a) / math.Sqrt(covariance.At(a, a))
		}
	}
}
