package rff

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Projection finds the weights whose function is nearest to given values at
// fixed points: w = (PhiᵀPhi + ridge I)⁻¹ Phiᵀ values, which minimises
// |Phi w - values|² + ridge |w|². A larger ridge gives a shorter w, which a
// privacy clip cuts less, and a poorer fit. A Projection is immutable and safe
// for concurrent use.
type Projection struct {
	points [][]float64
	phi    *mat.Dense // points×M
	dual   bool
	chol   *mat.Cholesky
}

// NewProjection factorises its matrix once; with n the smaller of points and M
// that costs O(points·M·n). points
// has rows of d coordinates and is copied; ridge is positive.
func NewProjection(m *Map, points [][]float64, ridge float64) (*Projection, error) {
	if len(points) == 0 {
		return nil, errors.New("rff: projection needs at least one point")
	}
	if !(ridge > 0) || math.IsInf(ridge, 1) {
		return nil, fmt.Errorf("rff: ridge %g: must be positive and finite", ridge)
	}
	if err := checkObservations(m, points, make([]float64, len(points))); err != nil {
		return nil, err
	}
	p := &Projection{phi: m.matrix(points), points: clonePoints(points), dual: len(points) < m.features}
	var err error
	if p.chol, err = factorise(gram(p.phi, p.dual), ridge); err != nil {
		return nil, err
	}
	return p, nil
}

// Points returns a copy of the points at which Project expects values.
func (p *Projection) Points() [][]float64 { return clonePoints(p.points) }

// Len returns the number of points.
func (p *Projection) Len() int { return len(p.points) }

// Point returns the i-th point, of d coordinates, which must not be altered.
func (p *Projection) Point(i int) []float64 { return p.points[i] }

// Project returns the weights (length M) nearest to the function with these
// values at the points, one value each. Panics on a wrong length. Values that
// are not finite give weights that are not.
func (p *Projection) Project(values []float64) []float64 {
	if len(values) != len(p.points) {
		panic(fmt.Sprintf("rff: %d values: the projection has %d points", len(values), len(p.points)))
	}
	_, features := p.phi.Dims()
	target, w := mat.NewVecDense(len(values), values), mat.NewVecDense(features, nil)
	var between mat.VecDense
	if p.dual {
		must(solve(p.chol, &between, target))
		w.MulVec(p.phi.T(), &between)
	} else {
		between.MulVec(p.phi.T(), target)
		must(solve(p.chol, w, &between))
	}
	return w.RawVector().Data
}

func clonePoints(points [][]float64) [][]float64 {
	clone := make([][]float64, len(points))
	for i, x := range points {
		clone[i] = append([]float64(nil), x...)
	}
	return clone
}
