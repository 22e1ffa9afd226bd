package modelview

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// ErrNoModel means that there is no posterior yet.
var ErrNoModel = errors.New("there is no model yet")

// Interval is the probability with which the objective lies between Low and High of a Slice.
const Interval = 0.95

// deviations is the distance of Low and High from the mean in standard deviations, for a
// standardised objective.
const deviations = 1.959964

// Slice is the posterior of the objective along one parameter, with all other parameters fixed at a
// design. All slices have the length of Values.
type Slice struct {
	Parameter string
	Values    []task.Value // ascending numbers, or the choices in their order

	// Mean is the posterior mean. Low and High are the bounds between which the objective lies with
	// probability Interval, without the noise of an observation. All are in the objective's units.
	Mean, Low, High []float64

	Feasible []float64 // probability that all constraints are satisfied; nil if the task has none
}

// Contour is the posterior of the objective over two parameters, with all others fixed at a design.
type Contour struct {
	X, Y            string
	Xs, Ys          []task.Value
	Mean, Deviation [][]float64 // in the objective's units; one row for each of Ys, with one number for each of Xs
}

// View computes slices, contours and importance from the posterior of one strategy.View. It is
// immutable.
type View struct {
	view  strategy.View
	units surrogate.Units
	sign  float64
	space *task.Space // the task's space without its listing
}

// New returns a View of a strategy.View whose posterior includes all of its outcomes. Without a
// posterior the error is ErrNoModel.
func New(view strategy.View) (*View, error) {
	if view.Posterior == nil {
		return nil, ErrNoModel
	}
	_, units, err := surrogate.Outputs(view.Task, view.Observed(task.Objective))
	if err != nil {
		return nil, err
	}
	return &View{view, units, view.Task.Goal.Sign(), view.Task.Space.Unlisted()}, nil
}

// Slices returns one slice for each parameter that is active in the design and not fixed, with all
// other parameters fixed at the design. Parameters that become inactive or active with a value are
// imputed. Values with which a constraint among parameters is violated are left out. Otherwise a slice
// has all values of its parameter if these are choices or at most points, which must be at least
// two. Otherwise it has points values, evenly spaced on the parameter's scale. The error is that of
// ctx.
func (p *View) Slices(ctx context.Context, through task.Design, points int) ([]Slice, error) {
	var all []Slice
	center := p.view.Task.Space.Encode(through)
	for i, parameter := range p.space.Parameters() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if through.Value(parameter.Name) != (task.Value{}) && !p.fixed(i) {
			all = append(all, p.slice(center, i, parameter.Name, points))
		}
	}
	return all, nil
}

// fixed reports whether a parameter has only one value.
func (p *View) fixed(parameter int) bool {
	block := p.space.Blocks()[parameter]
	return block.Kind == task.Categorical && block.Len == 1
}

func (p *View) slice(center []float64, parameter int, name string, points int) Slice {
	s := Slice{Parameter: name}
	for _, x := range p.along(center, parameter, points) {
		if !p.space.Settle(x) {
			continue
		}
		mean, low, high := p.predict(x)
		s.Values = append(s.Values, p.space.ValueAt(parameter, x))
		s.Mean, s.Low, s.High = append(s.Mean, mean), append(s.Low, low), append(s.High, high)
		if len(p.view.Constraints) > 0 {
			s.Feasible = append(s.Feasible, search.Feasibility(p.view, x))
		}
	}
	return s
}

// Contour returns the contour of two different parameters, with all others fixed at a design. The
// numbers of values are those of Slices, before values are left out: a contour includes designs that
// violate constraints among parameters. A parameter that is inactive in the design is an error.
func (p *View) Contour(ctx context.Context, through task.Design, x, y string, points int) (Contour, error) {
	c := Contour{X: x, Y: y}
	across, err := p.index(x)
	if err != nil {
		return Contour{}, err
	}
	up, err := p.index(y)
	if err != nil {
		return Contour{}, err
	}
	if across == up {
		return Contour{}, fmt.Errorf("parameter %q twice: expected two different ones", x)
	}
	for _, name := range []string{x, y} {
		if through.Value(name) == (task.Value{}) {
			return Contour{}, fmt.Errorf("parameter %q is inactive in the design %s: expected active ones", name, through)
		}
	}
	center := p.view.Task.Space.Encode(through)
	for _, at := range p.along(center, across, points) {
		c.Xs = append(c.Xs, p.space.ValueAt(across, at))
	}
	for _, row := range p.along(center, up, points) {
		if err := ctx.Err(); err != nil {
			return Contour{}, err
		}
		c.Ys = append(c.Ys, p.space.ValueAt(up, row))
		var means, widths []float64
		for _, at := range p.along(row, across, points) {
			p.space.Settle(at)
			mean, low, high := p.predict(at)
			means, widths = append(means, mean), append(widths, (high-low)/(2*deviations))
		}
		c.Mean, c.Deviation = append(c.Mean, means), append(c.Deviation, widths)
	}
	return c, nil
}

func (p *View) index(name string) (int, error) {
	i := slices.IndexFunc(p.space.Parameters(), func(q task.Parameter) bool { return q.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("the task has no parameter %.80q", name)
	}
	return i, nil
}

// along returns encoded designs that differ from center only in one parameter. Its values are
// evenly spaced on the parameter's scale. There are fewer than points if several of them would be
// the same int.
func (p *View) along(center []float64, parameter, points int) (all [][]float64) {
	block := p.space.Blocks()[parameter]
	add := func(set func(x []float64)) {
		x := slices.Clone(center)
		clear(x[block.Start : block.Start+block.Len])
		set(x)
		all = append(all, x)
	}
	switch block.Kind {
	case task.Categorical:
		for choice := range block.Len {
			add(func(x []float64) { x[block.Start+choice] = 1 })
		}
	case task.Int:
		last := int64(-1) // number of the last value added
		for k := range min(block.Count, int64(points)) {
			number, share := k, float64(k)/float64(points-1)
			switch {
			case block.Count <= int64(points):
			case p.space.Parameters()[parameter].Scale == task.Log:
				number = p.space.Number(parameter, share)
			default:
				number = int64(math.Round(share * float64(block.Count-1)))
			}
			if number > last {
				last = number
				add(func(x []float64) { x[block.Start] = p.space.Place(parameter, number) })
			}
		}
	default:
		for k := range points {
			add(func(x []float64) { x[block.Start] = float64(k) / float64(points-1) })
		}
	}
	return all
}

// predict returns the posterior mean of an encoded design and the bounds of Slice, in the
// objective's units. It converts both bounds, because the conversion is not linear in the tail of
// bad outcomes, so their distances from the mean differ.
func (p *View) predict(x []float64) (mean, low, high float64) {
	mean, variance := p.view.Posterior.Predict(x)
	sd := math.Sqrt(max(variance, 0))
	in := func(standardised float64) float64 {
		return min(max(p.sign*p.units.Output(standardised), -math.MaxFloat64), math.MaxFloat64)
	}
	low, high = in(mean-deviations*sd), in(mean+deviations*sd)
	return in(mean), min(low, high), max(low, high)
}
