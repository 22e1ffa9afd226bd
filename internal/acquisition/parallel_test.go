package acquisition

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/task"
)

// The result is the same, bit for bit, for any number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		f := wave(seed.Stream("f", 0), space.Dim(), rapid.Bool().Draw(rt, "holes"))
		near := [][]float64{Sample(space, seed.Stream("near", 0))}
		m := Maximizer{Space: space, Candidates: 100, Searches: 50, Workers: 1}
		x, value, _ := m.Maximize(t.Context(), f, near, seed.Stream("m", 0))
		for _, workers := range []int{0, 2, 4} {
			m.Workers = workers
			other, otherValue, _ := m.Maximize(t.Context(), f, near, seed.Stream("m", 0))
			if !slices.Equal(x, other) || math.Float64bits(value) != math.Float64bits(otherValue) {
				rt.Fatalf("one worker finds %v with %g, %d find %v with %g", x, value, workers, other, otherValue)
			}
		}
	})
}

func TestEachDoesAllOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8, 100} {
		counts := make([]atomic.Int64, 50)
		each(t.Context(), workers, len(counts), func(i int) { counts[i].Add(1) })
		for i := range counts {
			if n := counts[i].Load(); n != 1 {
				t.Errorf("%d workers: %d done %d times", workers, i, n)
			}
		}
	}
}

// A panic of the function can be recovered by who called Maximize.
func TestPanicsReachTheCaller(t *testing.T) {
	for _, workers := range []int{1, 4} {
		func() {
			defer func() {
				got := recover()
				if p, ok := got.(*recoverpanic.Panic); ok { // with the stack of its goroutine
					got = p.Value
				}
				if got != "broken" {
					t.Errorf("%d workers: recovered %v", workers, got)
				}
			}()
			f := analytic(func([]float64) float64 { panic("broken") })
			Maximizer{Space: floats(t, 2), Workers: workers}.Maximize(t.Context(), f, nil, random.SeedOf(1).Stream("t", 0))
		}()
	}
}

// watched keeps the largest value that it ever returned.
type watched struct {
	Function
	largest           float64
	values, gradients int
}

func (w *watched) Value(x []float64) float64 {
	value := w.Function.Value(x)
	w.values++
	w.largest = max(w.largest, finite(value))
	return value
}

func (w *watched) Gradient(grad, x []float64) float64 {
	w.gradients++
	return w.Function.Gradient(grad, x)
}

// The result is no worse than any starting point, nor than any neighbour that
// was looked at, and the work stays below what the documentation says.
func TestNeverBelowWhatWasSeen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		f := &watched{Function: wave(seed.Stream("f", 0), space.Dim(), rapid.Bool().Draw(rt, "holes")), largest: math.Inf(-1)}
		var near [][]float64
		for i := range rapid.IntRange(0, 3).Draw(rt, "near") {
			near = append(near, Sample(space, seed.Stream("near", uint64(i))))
		}
		_, value, _ := Maximizer{Space: space, Workers: 1}.Maximize(t.Context(), f, near, seed.Stream("m", 0))
		if finite(value) < f.largest {
			rt.Fatalf("%g returned, %g seen", value, f.largest)
		}
	})
}

// Spaces as large as a task may have stay within the documented work, here for
// the share that a rough function can force.
func TestWorkInLargeSpaces(t *testing.T) {
	var many, numbers []task.Parameter
	for i := range 100 {
		p := task.Parameter{Name: fmt.Sprintf("c%d", i), Kind: task.Categorical}
		for j := range 10 {
			p.Choices = append(p.Choices, fmt.Sprint(j))
		}
		many = append(many, p)
	}
	for i := range 50 {
		numbers = append(numbers, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	for name, test := range map[string]struct {
		space             *task.Space
		values, gradients int
	}{
		// 1,024 candidates, 8 searches of 900 neighbours, 8+4+2 and up to 20 for
		// the winner, and 4 times 2,048 pairs with 20 more rounds.
		"100 categories of 10": {newSpace(t, many...), 1024 + 34*900 + 4*(2048+900*20) + 10, 0},
		"50 floats":            {newSpace(t, numbers...), 1024 + 10, 128*(20+33) + 16*1200},
		"both":                 {newSpace(t, slices.Concat(many[:50], numbers)...), 1024 + 34*450 + 4*(2048+450*20) + 10, 8*(20+33) + 5*1200},
	} {
		rng := random.SeedOf(1).Stream("t", 0)
		f := &watched{Function: wave(rng, test.space.Dim(), false)}
		_, value, _ := Maximizer{Space: test.space, Workers: 1}.Maximize(t.Context(), f, nil, rng)
		if f.values > test.values || f.gradients > test.gradients {
			t.Errorf("%s: %d values and %d gradients, bounds %d and %d", name, f.values, f.gradients, test.values, test.gradients)
		}
		if value < 1.06 { // the maximum of a wave is 1.065, in any direction
			t.Errorf("%s: maximum %g found", name, value)
		}
	}
}

// inPlace is a function that itself does not allocate.
type inPlace struct{}

func (inPlace) Value(x []float64) float64 {
	sum := 0.0
	for _, u := range x {
		sum += math.Sin(7 * u)
	}
	return sum
}

func (f inPlace) Gradient(grad, x []float64) float64 {
	for i, u := range x {
		grad[i] = 7 * math.Cos(7*u)
	}
	return f.Value(x)
}

// Scoring and searching use the memory they were given.
func TestHotPathsDoNotAllocate(t *testing.T) {
	space := mixed(t)
	rng := random.SeedOf(1).Stream("t", 0)
	all, _ := candidates(space, 200, nil, rng)
	if n := testing.AllocsPerRun(20, func() { all.score(t.Context(), inPlace{}, 1) }); n > 0 {
		t.Errorf("scoring 200 candidates: %g allocations", n)
	}
	s := newSearch(newNeighbours(space), all.row(0), 0)
	if n := testing.AllocsPerRun(20, func() {
		s.ascent.start(all.row(1), all.values[1])
		s.done = false
		s.finish(t.Context(), inPlace{})
	}); n > 0 {
		t.Errorf("a local search: %g allocations", n)
	}
}
