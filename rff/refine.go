package rff

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Refined is a projection with additional points, which all have the same weight. E has one row of
// features for each additional point, and `also` holds the values there. The weights w minimise
//
//	|Phi w - values|² + weight |E w - also|² + ridge |w|²
//
// With many coordinates a projection fits a function on average but misses its maximum, which is
// the only part that a maximiser needs. Additional points correct that: the maximiser of the
// function, points around it, and in a few rounds the maximiser of the projection, where the
// projection is too high. Call loss the amount by which the function at the projection's maximiser
// is below its maximum. In BenchmarkSharedBasis the loss falls to about a third at six and at
// twenty coordinates, and to a fifth at twelve (M = 1000).
type Refined struct {
	p      *Projection
	weight float64
	base   []float64 // the weights without additional points
	points []furtherPoint
}

// furtherPoint is one row of E. A stands for PhiᵀPhi + ridge I.
type furtherPoint struct {
	phi      []float64
	along    []float64 // A⁻¹ phi
	products []float64 // inner products of along with the phi of all points up to this one
	rest     float64   // residual at this point of the projection without additional points
}

// Refine projects the values like Project. Call Add on the result to add points, each with this
// weight. Refine panics on a wrong length of values.
func (p *Projection) Refine(values []float64, weight float64) (*Refined, error) {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return nil, fmt.Errorf("weight %g of further points: must be positive and finite", weight)
	}
	return &Refined{p: p, weight: weight, base: p.Project(values)}, nil
}

// Add adds the point x (length d) and the value there; it stores only the features of x. It costs
// one solve, which is O(M²) if the projection has at least M points.
func (r *Refined) Add(x []float64, value float64) error {
	if err := checkObservations(r.p.m, [][]float64{x}, []float64{value}); err != nil {
		return err
	}
	phi := r.p.m.Phi(nil, x)
	added := furtherPoint{phi: phi, along: slices.Clone(phi), rest: value - linalg.Dot(phi, r.base)}
	r.p.solve(added.along)
	for _, other := range r.points {
		added.products = append(added.products, linalg.Dot(other.phi, added.along))
	}
	added.products = append(added.products, linalg.Dot(phi, added.along))
	r.points = append(r.points, added)
	return nil
}

// Weights returns the weights (length M), in O(k³ + kM) for k additional points. By the Woodbury
// identity they are base + A⁻¹Eᵀ (EA⁻¹Eᵀ + I/weight)⁻¹ rest. Weights returns an error if rounding
// errors prevent the factorisation.
func (r *Refined) Weights() ([]float64, error) {
	k := len(r.points)
	if k == 0 {
		return slices.Clone(r.base), nil
	}
	gram, rest := make([]float64, k*k), make([]float64, k)
	for i, p := range r.points {
		for j, v := range p.products {
			gram[j*k+i] = v
		}
		rest[i] = p.rest
	}
	u, err := factorise(gram, k, 1/r.weight)
	if err != nil {
		return nil, errors.Join(err, errors.New("further points too heavy for the ridge"))
	}
	u.solve(rest)
	w := slices.Clone(r.base)
	for i, v := range rest {
		linalg.AddScaled(w, v, r.points[i].along)
	}
	return w, nil
}

// solve multiplies v (length M) by (PhiᵀPhi + ridge I)⁻¹ in place.
func (p *Projection) solve(v []float64) {
	if p.u.n == p.m.features {
		p.u.solve(v)
		return
	}
	inner := make([]float64, p.Len())
	p.m.Function(v).Values(inner, p.points)
	p.u.solve(inner)
	for i, g := range p.m.gather(p.points, p.waves, inner) {
		v[i] = (v[i] - g) / p.ridge
	}
}
