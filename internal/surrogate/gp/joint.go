package gp

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/radial"
)

// Joint is the joint normal distribution of a Posterior's function at k points. It is immutable and
// safe for concurrent use.
type Joint struct {
	dim        int
	mean       []float64
	covariance *mat.SymDense
	centers    *radial.Centers // the observed points, followed by the k points
	along      [][]float64     // K⁻¹k(X, point), length t, for each of the k points
	offset     []float64       // for each of the k points, the constant part of its covariance with any point
}

// Joint returns the joint distribution of the function at k >= 1 points (rows of d), which it
// copies. It costs O(k·t² + k²·t) for t observations. It panics on a wrong length and if there are
// no points.
func (p *Posterior) Joint(points [][]float64) *Joint {
	if len(points) == 0 {
		panic("gp: a joint distribution of no points")
	}
	for _, x := range points {
		checkPoint(x, len(p.inverse))
	}
	k, constant := len(points), p.spec.meanVariance()
	j := &Joint{
		dim:        len(p.inverse),
		mean:       make([]float64, k),
		covariance: mat.NewSymDense(k, nil),
		centers:    p.centers.Append(points),
		along:      make([][]float64, k),
		offset:     make([]float64, k),
	}
	// U⁻ᵀk(X, point) for each point. The covariance is the prior covariance minus inner products of
	// these vectors. Its diagonal then equals the variance that Predict returns.
	halves := make([][]float64, k)
	for i, x := range points {
		halves[i] = p.covariances(nil, x)
	}
	p.halfAll(halves)
	for i := range points {
		j.along[i] = slices.Clone(halves[i])
	}
	p.otherHalfAll(j.along)
	prior := radial.NewCenters(p.spec.Kernel, p.inverse, points)
	row := make([]float64, k)
	for i, x := range points {
		j.mean[i] = p.Mean(x)
		j.offset[i] = constant * (1 - sum(j.along[i]))
		prior.Kernel(row, x)
		for other := range i {
			j.covariance.SetSym(other, i, row[other]+constant-linalg.Dot(halves[other], halves[i]))
		}
		j.covariance.SetSym(i, i, max(p.spec.priorVariance()-linalg.Dot(halves[i], halves[i]), 0))
	}
	return j
}

// Mean returns a copy of the k means.
func (j *Joint) Mean() []float64 { return slices.Clone(j.mean) }

// Covariance returns a copy of the k×k covariance of the function at the points, without the noise
// of an observation.
func (j *Joint) Covariance() *mat.SymDense {
	c := mat.NewSymDense(len(j.mean), nil)
	c.CopySym(j.covariance)
	return c
}

// Cross fills dst (length k) with the covariances between the function at x (length d) and at each
// of the k points, in O(k·t). It panics on wrong lengths.
func (j *Joint) Cross(dst, x []float64) {
	j.check(dst, x)
	kernel := make([]float64, j.centers.Len())
	j.centers.Kernel(kernel, x)
	observed := len(kernel) - len(dst)
	for i := range dst {
		dst[i] = kernel[observed+i] + j.offset[i] - linalg.Dot(j.along[i], kernel[:observed])
	}
}

// CrossGradient fills grad (length d) with the gradient at x of a weighted sum of the covariances
// that Cross returns. weights has length k. It costs O(k·t) and panics on wrong lengths.
func (j *Joint) CrossGradient(grad, weights, x []float64) {
	j.check(weights, x)
	all := make([]float64, j.centers.Len())
	observed := len(all) - len(weights)
	copy(all[observed:], weights)
	for i, w := range weights {
		for n, a := range j.along[i] {
			all[n] -= w * a
		}
	}
	j.centers.Sum(all).Gradient(grad, x)
}

func (j *Joint) check(perPoint, x []float64) {
	if len(perPoint) != len(j.mean) {
		panic(fmt.Sprintf("gp: %d numbers for %d points", len(perPoint), len(j.mean)))
	}
	checkPoint(x, j.dim)
}
