package rff

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Joint is the joint normal distribution of the values of a Posterior's function at k points. It is
// immutable and safe for concurrent use.
type Joint struct {
	m          *Map
	mean       []float64
	covariance *mat.SymDense
	along      [][]float64 // covariance of the weights times phi(point), length M for each point
}

// Joint returns the joint distribution of phi(x)·w at k >= 1 points (rows of d). It does not keep
// points. It costs k times PredictGradient, and k² inner products of length t or M. It panics on a
// wrong length and if there are no points.
func (p *Posterior) Joint(points [][]float64) *Joint {
	if len(points) == 0 {
		panic("rff: a joint distribution of no points")
	}
	k := len(points)
	j := &Joint{m: p.m, mean: make([]float64, k), covariance: mat.NewSymDense(k, nil), along: make([][]float64, k)}
	phi, halves := make([][]float64, k), make([][]float64, k)
	for i, x := range points {
		phi[i] = p.m.Phi(nil, x)
		j.mean[i] = linalg.Dot(phi[i], p.mean)
		j.along[i], halves[i] = p.spread(phi[i])
		for other := range i + 1 {
			value := p.noise * linalg.Dot(halves[other], halves[i])
			if p.dual != nil {
				value = p.v * (linalg.Dot(phi[other], phi[i]) - linalg.Dot(halves[other], halves[i]))
			}
			if other == i {
				value = max(value, 0)
			}
			j.covariance.SetSym(other, i, value)
		}
	}
	return j
}

// spread returns along, the covariance of the weights times phi. It also returns half, phi
// multiplied by a triangular factor, from which inner products give the covariances of points.
func (p *Posterior) spread(phi []float64) (along, half []float64) {
	along = slices.Clone(phi)
	scale := p.noise
	if p.dual != nil {
		half = make([]float64, p.count)
		p.dual.products(half, phi)
		p.u.half(half)
		solved := slices.Clone(half)
		p.u.back(solved)
		p.dual.combine(along, -1, solved)
		scale = p.v
	} else {
		p.u.half(along)
		half = slices.Clone(along)
		p.u.back(along)
	}
	for i := range along {
		along[i] *= scale
	}
	return along, half
}

// Mean returns a copy of the k means.
func (j *Joint) Mean() []float64 { return slices.Clone(j.mean) }

// Covariance returns a copy of the k×k covariance of the function's values, without the noise of an
// observation.
func (j *Joint) Covariance() *mat.SymDense {
	c := mat.NewSymDense(len(j.mean), nil)
	c.CopySym(j.covariance)
	return c
}

// Cross fills dst (length k) with the covariances of the function at x (length
// d) with the function at the k points, in O(k·M). It panics on wrong lengths.
func (j *Joint) Cross(dst, x []float64) {
	j.check(dst)
	s := j.m.borrow(0)
	defer j.m.scratch.Put(s)
	j.m.Phi(s.phi, x)
	for i, along := range j.along {
		dst[i] = linalg.Dot(s.phi, along)
	}
}

// CrossGradient fills grad (length d) with the gradient at x of the weighted sum of the covariances
// that Cross returns. weights has length k. It costs O(k·M) and panics on wrong lengths.
func (j *Joint) CrossGradient(grad, weights, x []float64) {
	j.check(weights)
	s := j.m.borrow(0)
	defer j.m.scratch.Put(s)
	j.m.Phi(s.phi, x)
	clear(s.solved)
	for i, w := range weights {
		linalg.AddScaled(s.solved, w, j.along[i])
	}
	j.m.pullBack(grad[:j.m.dim], s.solved, s.phi, x)
}

func (j *Joint) check(perPoint []float64) {
	if len(perPoint) != len(j.mean) {
		panic(fmt.Sprintf("rff: %d numbers for %d points", len(perPoint), len(j.mean)))
	}
}
