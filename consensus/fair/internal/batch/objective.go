package batch

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// objective is the value of a batch as a function of all its coordinates, one design after the
// other. The utility determines which party gets which design.
type objective struct {
	problem Problem
	utility *utility
}

func (o *objective) split(x []float64) [][]float64 {
	dim := o.problem.Space.Dim()
	designs := make([][]float64, len(x)/dim)
	for i := range designs {
		designs[i] = x[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return designs
}

// Value returns the value at x.
func (o *objective) Value(x []float64) float64 {
	joint := o.problem.Posterior.Joint(o.split(x))
	root, ok := precision(joint.Covariance(), o.problem.Noise)
	if !ok {
		return math.Inf(-1)
	}
	return o.utility.of(joint.Mean(), nil) + o.problem.exploration(root.LogDet()/2)
}

// Gradient fills grad with the derivatives of Value at x, and returns the value.
//
// Let Σ be the posterior covariance of the designs, k the posterior covariance function and P =
// (σ²I + Σ)⁻¹. The differential of the information is ½ tr(P dΣ). A move of design i changes row
// and column i of Σ, and the variance changes twice as fast as the covariance with a fixed copy. So
// the gradient of the information with respect to design i is that of Σ_j P_ij k(x, x_j) at x =
// x_i, with the x_j fixed.
func (o *objective) Gradient(grad, x []float64) float64 {
	designs := o.split(x)
	joint := o.problem.Posterior.Joint(designs)
	n, dim := len(designs), o.problem.Space.Dim()
	root, ok := precision(joint.Covariance(), o.problem.Noise)
	if !ok {
		clear(grad)
		return math.Inf(-1)
	}
	slopes := make([]float64, n)
	exploration := o.problem.exploration(root.LogDet() / 2)
	value := o.utility.of(joint.Mean(), slopes) + exploration
	var inverse mat.SymDense
	if exploration > 0 {
		if err := root.InverseTo(&inverse); err != nil { // nearly singular; the gradient then ignores the information
			exploration = 0
		}
	}
	row, byInformation := make([]float64, n), make([]float64, dim)
	for i, design := range designs {
		part := grad[i*dim : (i+1)*dim]
		o.problem.Posterior.MeanGradient(part, design)
		if exploration > 0 {
			for j := range n {
				row[j] = inverse.At(i, j) / o.problem.Noise
			}
			joint.CrossGradient(byInformation, row, design)
		}
		for k := range part {
			part[k] *= slopes[i]
			if exploration > 0 {
				part[k] += o.problem.Alpha / (2 * exploration) * byInformation[k]
			}
		}
	}
	return value
}
