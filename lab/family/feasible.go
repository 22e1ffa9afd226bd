package family

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

const (
	inside       = 1e-9 // margin by which a stated optimum satisfies its limits
	stiffer      = 1000 // factor of the penalty in the first climb
	tightenings  = 3    // iterations; each makes the penalty's error about a thousand times smaller
	restorations = 50   // largest number of steps back to a feasible point
	promising    = 16   // dense points from which the search for the best feasible point starts
	again        = 10   // largest number of further climbs from the best point
	worthwhile   = 1e-9 // smallest gain for which another climb follows
)

// largestFeasible returns the largest value of f among the points of the space that satisfy all
// bounds. It returns NaN if the search finds no such point.
func largestFeasible(space *task.Space, f acquisition.Function, bounds []acquisition.Bounded, seed random.Seed) float64 {
	s := feasibleSearch{f: f, bounds: bounds, best: math.NaN()}
	s.climber = acquisition.Maximizer{Space: space, Candidates: 1, Searches: 1, Workers: 1}
	near := s.bestDense()
	search := acquisition.Maximizer{Space: space, Workers: 1}
	for i := range rounds {
		s.polish(maximise(search, acquisition.Penalised(f, bounds...), near, seed.Stream("search", uint64(i))))
	}
	for _, x := range near {
		s.polish(x)
	}
	for range again { // continues from the end of the last climb, which has limited work
		if before := s.best; !math.IsNaN(before) {
			if s.polish(s.at); s.best-before < worthwhile {
				break
			}
		}
	}
	return s.best
}

func maximise(m acquisition.Maximizer, f acquisition.Function, near [][]float64, rng *rand.Rand) []float64 {
	x, _, err := m.Maximize(context.Background(), f, near, rng)
	if err != nil {
		panic(err) // this context never ends
	}
	return x
}

// feasibleSearch holds the best feasible value found so far.
type feasibleSearch struct {
	f       acquisition.Function
	bounds  []acquisition.Bounded
	climber acquisition.Maximizer // climbs from a single point
	at      []float64
	best    float64
}

// bestDense returns the best feasible points of a dense set, best first.
func (s *feasibleSearch) bestDense() (points [][]float64) {
	d := s.climber.Space.Dim()
	var values []float64
	for u := range slices.Chunk(dense(densePoints, d), d) {
		if acquisition.Violation(u, s.bounds...) > 0 {
			continue
		}
		value := s.f.Value(u)
		at, _ := slices.BinarySearchFunc(values, value, func(a, b float64) int { return cmp.Compare(b, a) })
		points, values = slices.Insert(points, at, u), slices.Insert(values, at, value)
		points, values = points[:min(len(points), promising)], values[:min(len(values), promising)]
	}
	return points
}

// polish climbs from x to a maximum among feasible points. A maximum of the penalised function lies
// slightly beyond the border. polish therefore moves the bounds inwards by this distance and climbs
// again (the method of multipliers: Powell 1969, Hestenes 1969). The first climb, with a stiffer
// penalty, determines the distance. It also keeps the later climbs out of parts where violating a
// flat bound pays.
func (s *feasibleSearch) polish(x []float64) {
	s.meet(x)
	x = maximise(s.climber, acquisition.Penalised(softer{s.f}, s.bounds...), [][]float64{x}, s.rng())
	s.meet(x)
	weight := float64(stiffer)
	low, high := make([]float64, len(s.bounds)), make([]float64, len(s.bounds)) // distances by which the bounds are moved
	moved := make([]acquisition.Bounded, len(s.bounds))
	for range tightenings {
		for i, b := range s.bounds {
			value := b.Value(x)
			low[i], high[i] = max(0, low[i]+weight*(b.Low-value)), max(0, high[i]+weight*(value-b.High))
			moved[i] = acquisition.Bounded{Function: b.Function, Low: b.Low + low[i], High: b.High - high[i]}
		}
		x = maximise(s.climber, acquisition.Penalised(s.f, moved...), [][]float64{x}, s.rng())
		s.meet(x)
		weight = 1
	}
}

// rng returns any stream: all candidates but one are near the given point, so it does not matter.
func (s *feasibleSearch) rng() *rand.Rand { return random.SeedOf(0).Stream("climb", 0) }

// softer is a function divided by stiffer, so that a penalty has more weight.
type softer struct{ acquisition.Function }

func (f softer) Value(u []float64) float64 { return f.Function.Value(u) / stiffer }

func (f softer) Gradient(grad, u []float64) float64 {
	value := f.Function.Gradient(grad, u)
	for i := range grad {
		grad[i] /= stiffer
	}
	return value / stiffer
}

// meet updates the best value with the value at x, or at the nearest feasible point that it finds.
func (s *feasibleSearch) meet(x []float64) {
	if x, ok := restored(s.bounds, x); ok {
		if value := s.f.Value(x); !(value <= s.best) {
			s.at, s.best = x, value
		}
	}
}

// restored moves a copy of x by shortest linear steps to a point that satisfies all bounds violated
// so far. It returns false if it finds no feasible point.
func restored(bounds []acquisition.Bounded, x []float64) ([]float64, bool) {
	x = slices.Clone(x)
	sides := make([]float64, len(bounds)) // 1 if High was violated, -1 if Low was
	for range restorations {
		var slopes, excess []float64
		broken := false
		for i, b := range bounds {
			grad := make([]float64, len(x))
			switch value := b.Gradient(grad, x); {
			case value > b.High:
				sides[i], broken = 1, true
			case value < b.Low:
				sides[i], broken = -1, true
			}
			if sides[i] == 0 {
				continue
			}
			limit := b.High
			if sides[i] < 0 {
				limit = b.Low
			}
			slopes, excess = append(slopes, grad...), append(excess, b.Value(x)-limit+sides[i]*inside)
		}
		if !broken {
			return x, true
		}
		if !stepBack(x, slopes, excess) {
			return nil, false
		}
	}
	return nil, false
}

// stepBack subtracts from x the shortest step that reduces linear functions with these slopes by
// the excess. It uses only coordinates along which the step does not leave the cube.
func stepBack(x, slopes, excess []float64) bool {
	free := make([]int, len(x))
	for i := range free {
		free[i] = i
	}
	for len(free) > 0 {
		a := mat.NewDense(len(excess), len(free), nil)
		for row := range excess {
			for column, i := range free {
				a.Set(row, column, slopes[row*len(x)+i])
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(a, mat.NewVecDense(len(excess), excess)); err != nil {
			return false // the slopes allow no such step
		}
		kept := free[:0:0]
		for column, i := range free {
			if moved := step.AtVec(column); !(x[i] <= 0 && moved > 0 || x[i] >= 1 && moved < 0) {
				kept = append(kept, i)
			}
		}
		if len(kept) == len(free) {
			for column, i := range free {
				x[i] = min(1, max(0, x[i]-step.AtVec(column)))
			}
			return true
		}
		free = kept
	}
	return false
}
