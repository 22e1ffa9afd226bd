package rff

import (
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/internal/fourier"
	"github.com/fbo-node/fbo/internal/linalg"
)

// Extend returns the posterior given one more observation, y at x (length d). Up to rounding, the
// result equals NewPosterior with all observations. It costs O(t² + tM) in the dual form and O(M²)
// in the primal. When t reaches M, the change of the form costs O(M³). The caller need not pass the
// earlier observations. p does not change and remains valid.
func (p *Posterior) Extend(x []float64, y float64) (*Posterior, error) {
	if err := checkObservation(p.m, p.count, x, y); err != nil {
		return nil, err
	}
	next := *p
	next.count++
	phi := p.m.Phi(nil, x)
	if p.dual == nil {
		next.moment = slices.Clone(p.moment)
		linalg.AddScaled(next.moment, y, phi)
		next.u = p.u.add(phi)
		next.setMean()
		return &next, nil
	}
	next.dual = &dualForm{
		rows: append(slices.Clip(p.dual.rows), phi),
		y:    append(slices.Clip(p.dual.y), y),
	}
	err := next.extendFactor()
	if err != nil {
		return nil, err
	}
	next.setMean()
	return &next, nil
}

// extendFactor extends the factor by the last row, which is new.
func (p *Posterior) extendFactor() error {
	last := p.dual.rows[p.count-1]
	if p.count >= p.m.features {
		return p.toPrimal()
	}
	column := make([]float64, p.count)
	p.dual.products(column, last)
	column[p.count-1] += p.noise / p.v
	if u, ok := p.u.append(column); ok {
		p.u = u
		return nil
	}
	// The extension failed by rounding; a new factorisation may still succeed.
	u, err := factorise(between(slices.Concat(p.dual.rows...), p.count, p.m.features), p.count, p.noise/p.v)
	p.u = u
	return err
}

// toPrimal converts p from the dual form to the primal form.
func (p *Posterior) toPrimal() error {
	gram := among(p.count, p.m.features, func(phi []float64, i int) { copy(phi, p.dual.rows[i]) })
	u, err := factorise(gram, p.m.features, p.noise/p.v)
	if err != nil {
		return err
	}
	p.u, p.moment = u, make([]float64, p.m.features)
	p.dual.combine(p.moment, 1, p.dual.y)
	p.dual = nil
	return nil
}

// WithOutputs returns the posterior for other outputs y (length t) at the same points x (t rows of
// d, in the order in which they were added). Callers need it because each new observation changes
// the standardisation of all outputs. It keeps the factor and costs O(t² + tM) in the dual form. In
// the primal form it costs O(tM + M²), because it evaluates the features again instead of storing
// them. p does not change.
func (p *Posterior) WithOutputs(x [][]float64, y []float64) (*Posterior, error) {
	if err := checkObservations(p.m, x, y); err != nil {
		return nil, err
	}
	if len(y) != p.count {
		return nil, fmt.Errorf("%d outputs: the posterior has %d observations", len(y), p.count)
	}
	next := *p
	if p.dual != nil {
		next.dual = &dualForm{rows: p.dual.rows, y: slices.Clone(y)}
	} else {
		points := slices.Concat(x...)
		next.moment = p.m.gather(points, fourier.NewWaves(p.m.dim, points), y)
	}
	next.setMean()
	return &next, nil
}
