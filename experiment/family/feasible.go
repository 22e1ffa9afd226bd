package family

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

const (
	inside       = 1e-9 // by which a stated optimum keeps its limits
	tightenings  = 3    // the penalty's own error shrinks about a thousandfold with each
	restorations = 200  // steps back to what is feasible
	promising    = 16   // dense points from which the search for the best feasible one starts
)

// largestFeasible returns the largest value of f among the points of the space that
// keep all bounds; NaN when the search finds none that does.
func largestFeasible(space *task.Space, f acquisition.Function, bounds []acquisition.Bounded, seed random.Seed) float64 {
	best := math.NaN()
	take := func(x []float64) {
		if x, ok := onBorder(space, f, bounds, x); ok {
			if value := f.Value(x); !(value <= best) {
				best = value
			}
		}
	}
	near := bestDense(space, f, bounds)
	search := acquisition.Maximizer{Space: space, Workers: 1}
	for i := range rounds {
		x, _, err := search.Maximize(context.Background(), acquisition.Penalised(f, bounds...), near, seed.Stream("search", uint64(i)))
		if err != nil {
			panic(err) // this context never ends
		}
		take(x)
	}
	for _, x := range near {
		take(x)
	}
	return best
}

// bestDense returns the best feasible points of a dense set, best first.
func bestDense(space *task.Space, f acquisition.Function, bounds []acquisition.Bounded) (points [][]float64) {
	var values []float64
	for u := range slices.Chunk(dense(densePoints, space.Dim()), space.Dim()) {
		if acquisition.Violation(u, bounds...) > 0 {
			continue
		}
		value := f.Value(u)
		at, _ := slices.BinarySearchFunc(values, value, func(a, b float64) int { return cmp.Compare(b, a) })
		points, values = slices.Insert(points, at, u), slices.Insert(values, at, value)
		points, values = points[:min(len(points), promising)], values[:min(len(values), promising)]
	}
	return points
}

// onBorder climbs from x to a local maximum among what is feasible, and returns it if
// it keeps all bounds. The maximum of the penalised function lies beyond the border;
// moving the bounds inwards by how far it does leads to the border (the method of
// multipliers: Powell 1969, Hestenes 1969), up to what a climb resolves, and a step
// along the slopes of the bounds from there to within.
func onBorder(space *task.Space, f acquisition.Function, bounds []acquisition.Bounded, x []float64) ([]float64, bool) {
	low, high := make([]float64, len(bounds)), make([]float64, len(bounds)) // how far moved inwards
	moved := make([]acquisition.Bounded, len(bounds))
	climb := acquisition.Maximizer{Space: space, Candidates: 1, Searches: 1, Workers: 1}
	for range tightenings {
		for i, b := range bounds {
			value := b.Value(x)
			low[i], high[i] = max(0, low[i]+b.Low-value), max(0, high[i]+value-b.High)
			moved[i] = acquisition.Bounded{Function: b.Function, Low: b.Low + low[i], High: b.High - high[i]}
		}
		var err error
		x, _, err = climb.Maximize(context.Background(), acquisition.Penalised(f, moved...), [][]float64{x}, random.SeedOf(0).Stream("climb", 0))
		if err != nil {
			panic(err) // this context never ends
		}
	}
	return restored(bounds, x)
}

// restored moves x along the slopes of broken bounds, one after the other, until it
// keeps all.
func restored(bounds []acquisition.Bounded, x []float64) ([]float64, bool) {
	grad := make([]float64, len(x))
	for range restorations {
		broken := false
		for _, b := range bounds {
			value := b.Gradient(grad, x)
			over := max(value-b.High, 0) - max(b.Low-value, 0)
			if over == 0 {
				continue
			}
			broken = true
			over += math.Copysign(inside, over)
			square := 0.0
			for i, g := range grad {
				if x[i] <= 0 && g*over > 0 || x[i] >= 1 && g*over < 0 {
					grad[i] = 0 // the step would leave the cube
				}
				square += grad[i] * grad[i]
			}
			if square == 0 {
				return nil, false
			}
			for i, g := range grad {
				x[i] = min(1, max(0, x[i]-over*g/square))
			}
		}
		if !broken {
			return x, true
		}
	}
	return nil, false
}
