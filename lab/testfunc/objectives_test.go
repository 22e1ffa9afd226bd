package testfunc

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/random"
)

// By hand.
func TestValuesOfObjectives(t *testing.T) {
	for _, c := range []struct {
		o    Objectives
		x    []float64
		want []float64
	}{
		{BraninCurrin(), []float64{0.5, 0.5}, []float64{branin([]float64{2.5, 7.5}), -math.Expm1(-1) * 1868.5 / 159.5}},
		{BraninCurrin(), []float64{0, 0}, []float64{308.12909601160663, 3}},
		{ZDT1(3), []float64{0.25, 0, 0}, []float64{0.25, 0.5}},
		{ZDT1(3), []float64{0.4, 1, 1}, []float64{0.4, 10 * (1 - 0.2)}},
		{ZDT2(2), []float64{0.5, 1}, []float64{0.5, 10 * (1 - 0.0025)}},
		{ZDT3(2), []float64{0.25, 0}, []float64{0.25, 1 - 0.5 - 0.25}},
		{DTLZ2(4), []float64{1, 0.3, 0.5, 0.5}, []float64{0, 0, 1}},
		{DTLZ2(3), []float64{0, 0.5, 1}, []float64{1.25 / math.Sqrt2, 1.25 / math.Sqrt2, 0}},
	} {
		for k, got := range c.o.Value(c.x) {
			if math.Abs(got-c.want[k]) > 1e-6 {
				t.Errorf("%s at %v: objective %d is %.9g; expected %.9g", c.o.Name, c.x, k, got, c.want[k])
			}
		}
	}
}

func TestObjectivesAreWellFormed(t *testing.T) {
	for _, o := range AllObjectives() {
		design := o.Space.Decode(make([]float64, o.Space.Dim()))
		if got := o.At(design); len(got) != o.Count || len(o.Reference) != o.Count {
			t.Errorf("%s: %d values and a reference of %d; expected %d", o.Name, len(got), len(o.Reference), o.Count)
		}
	}
	for name, f := range map[string]func(){"ZDT1": func() { ZDT1(1) }, "DTLZ2": func() { DTLZ2(2) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepts too few floats", name)
				}
			}()
			f()
		}()
	}
}

// below integrates max(top - lowest(t), 0) from low to high, where lowest is the least second
// objective of designs whose first one is at most t. With t = low + s², square roots at low are
// smooth. steps is even.
func below(low, high, top float64, steps int, lowest func(t float64) float64) float64 {
	last := math.Sqrt(high - low)
	sum := 0.0
	for i := range steps + 1 {
		weight := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			weight = 1
		}
		s := last * float64(i) / float64(steps)
		sum += weight * 2 * s * max(top-lowest(low+s*s), 0)
	}
	return sum * last / float64(3*steps)
}

// leastCurrin returns the least value of Currin's function where Branin's is at most t. Currin's
// function decreases in x2, and Branin's is a square in x2 plus a rest. So for each x1 the best x2
// has a closed form. Over x1, the least value lies inside or at an edge of the feasible part.
// Golden sections and bisections start at a grid.
func leastCurrin(t float64) float64 {
	at := func(u float64) float64 {
		a := 15*u - 5
		middle := 5.1/(4*math.Pi*math.Pi)*a*a - 5/math.Pi*a + 6
		root := math.Sqrt(t - branin([]float64{a, middle})) // NaN if Branin's function is above t
		if !(middle-root <= 15 && middle+root >= 0) {
			return math.Inf(1)
		}
		return currin([]float64{u, min((middle+root)/15, 1)})
	}
	const step = 0.2 / 400 // beyond 0.2 Currin's function is above the reference
	least := math.Inf(1)
	for i := range 400 {
		low, high := step*float64(i), step*float64(i+1)
		first, middle, last := at(max(low-step, 0)), at(low), at(high)
		least = min(least, middle)
		if math.IsInf(middle, 1) != math.IsInf(last, 1) {
			for range 50 {
				if centre := (low + high) / 2; math.IsInf(at(centre), 1) == math.IsInf(middle, 1) {
					low = centre
				} else {
					high = centre
				}
			}
			least = min(least, at(low), at(high))
		} else if middle <= first && middle <= last {
			const ratio = 0.6180339887498949
			low = max(low-step, 0)
			for range 60 {
				left, right := high-ratio*(high-low), low+ratio*(high-low)
				if at(left) <= at(right) {
					high = right
				} else {
					low = left
				}
			}
			least = min(least, at(low))
		}
	}
	return least
}

// The largest hypervolumes agree with integrals over the front, whose steps are halved to estimate
// their error.
func TestMaximalHypervolumes(t *testing.T) { checkMaximalHypervolumes(t, 600, 3e-5) }

func checkMaximalHypervolumes(t *testing.T, steps int, tolerance float64) {
	optimum := Branin().Optimum
	check := func(o Objectives, integral func(steps int) float64) {
		coarse, fine := integral(steps/2), integral(steps)
		t.Logf("%s: %.9f, with half of the steps %.9f", o.Name, fine, coarse)
		if math.Abs(fine-o.Hypervolume) > tolerance {
			t.Errorf("%s: %.9f by integration, with half of the steps %.9f; expected %.9f", o.Name, fine, coarse, o.Hypervolume)
		}
	}
	check(BraninCurrin(), func(steps int) float64 {
		return below(optimum, 18, 6, steps, leastCurrin)
	})
	front := map[string]func(f float64) float64{
		"zdt1-6": func(f float64) float64 { return 1 - math.Sqrt(f) },
		"zdt2-6": func(f float64) float64 { return 1 - f*f },
		"zdt3-6": func(f float64) float64 { return 1 - math.Sqrt(f) - f*math.Sin(10*math.Pi*f) },
	}
	for _, o := range AllObjectives() {
		curve, ok := front[o.Name]
		if !ok {
			continue
		}
		check(o, func(steps int) float64 {
			running := math.Inf(1)
			within := below(0, 1, 11, 100*steps, func(f float64) float64 {
				running = min(running, curve(f))
				return running
			})
			return within + 10*(11-running)
		})
	}
}

// A grid of the front of DTLZ2 reaches nearly its largest hypervolume from below. The gap of a grid
// of n×n is of the order 1/n.
func TestHypervolumeOfDTLZ2(t *testing.T) {
	o := DTLZ2(3)
	gap := func(n int) float64 {
		var points [][]float64
		for i := range n + 1 {
			for j := range n + 1 {
				points = append(points, negated(o.Value([]float64{float64(i) / float64(n), float64(j) / float64(n), 0.5})))
			}
		}
		return o.Hypervolume - pareto.Hypervolume(points, negated(o.Reference))
	}
	coarse, fine := gap(20), gap(40)
	if !(fine > 0) || math.Abs(coarse/fine-2) > 0.1 {
		t.Errorf("gaps %g and %g of grids of 20 and 40; expected the second to be half of the first", coarse, fine)
	}
}

// The hypervolume of 2,000 designs is below the largest.
func TestNoDesignExceedsTheHypervolume(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	for _, o := range AllObjectives() {
		var points [][]float64
		for range 2000 {
			x := make([]float64, o.Space.Len())
			for i := range x {
				x[i] = rng.Float64()
				if i >= o.Count-1 && o.Name != "branincurrin" && rng.IntN(2) == 0 {
					x[i] = 0
				}
			}
			points = append(points, negated(o.Value(x)))
		}
		if got := pareto.Hypervolume(points, negated(o.Reference)); got <= 0 || got >= o.Hypervolume {
			t.Errorf("%s: hypervolume %g; expected one between 0 and %g", o.Name, got, o.Hypervolume)
		}
	}
}

func negated(v []float64) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = -v[i]
	}
	return w
}
