package testfunc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

const (
	maxShift  = 0.25 // largest shift, in units of a parameter's range
	clearance = 0.05 // smallest distance of the minimizer from a bound, in units of a float's range
)

// Shifted returns f shifted at random, g(x) = f(x - s), in the same space. The optimum has the same
// value at another place.
//
// One minimizer of f, chosen at random, stays in the space. Each float is shifted by a fraction of
// its range, uniform within ±1/4. The minimizer does not come nearer to a bound than 1/20 of the
// range, unless it was nearer before. Each int is shifted by a whole number, uniform among those
// within ±1/4 of the range that keep the minimizer inside. The choices of a categorical are
// permuted.
//
// Nothing is wrapped or reflected, which would add kinks and copies of valleys. Parts that move
// into the space from outside have the values of f's formula there. Reach guarantees that these are
// not below the optimum. Shifted panics if Reach is less than 1/4, or if a scale is not linear.
func Shifted(f Function, rng *rand.Rand) Function {
	if f.Reach < maxShift {
		panic(fmt.Sprintf("testfunc: %s reaches %g of its range outside the space; a shift needs %g", f.Name, f.Reach, maxShift))
	}
	parameters := f.Space.Parameters()
	anchor := f.Minimizers[rng.IntN(len(f.Minimizers))]
	moves := make([]move, len(parameters))
	for i, p := range parameters {
		moves[i] = randomMove(f.Name, p, anchor[i], rng)
	}
	g := f
	g.Name = f.Name + "-shifted"
	g.Reach = f.Reach - maxShift
	g.Value = func(x []float64) float64 {
		back := make([]float64, len(x))
		for i := range x {
			back[i] = moves[i].back(x[i])
		}
		return f.Value(back)
	}
	g.Minimizers = nil
	for _, old := range f.Minimizers {
		moved := make([]float64, len(old))
		for i := range old {
			moved[i] = moves[i].forth(old[i])
		}
		if _, err := g.Design(moved); err == nil {
			g.Minimizers = append(g.Minimizers, moved)
		}
	}
	return g
}

// move is the change of one coordinate: a number is added, or the choices are permuted.
type move struct {
	by     float64
	places []int // new index of each choice; nil for floats and ints
}

func (m move) forth(v float64) float64 {
	if m.places != nil {
		return float64(m.places[int(v)])
	}
	return v + m.by
}

func (m move) back(v float64) float64 {
	if m.places != nil {
		return float64(slices.Index(m.places, int(v)))
	}
	return v - m.by
}

func randomMove(name string, p task.Parameter, anchor float64, rng *rand.Rand) move {
	if p.Kind == task.Categorical {
		return move{places: rng.Perm(len(p.Choices))}
	}
	if p.Scale == task.Log {
		panic(fmt.Sprintf("testfunc: %s: parameter %s has a log scale; a shift needs linear ones", name, p.Name))
	}
	width := p.High - p.Low
	if p.Kind == task.Int {
		most := math.Floor(maxShift * width)
		low, high := max(-most, p.Low-anchor), min(most, p.High-anchor)
		return move{by: low + float64(rng.IntN(int(high-low)+1))}
	}
	low := max(-maxShift*width, -max(0, anchor-p.Low-clearance*width))
	high := min(maxShift*width, max(0, p.High-anchor-clearance*width))
	return move{by: low + (high-low)*rng.Float64()}
}
