package testfunc

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// A shifted function keeps its optimum and has it at a design of the same space;
// nothing in the space, and nothing that moved in, is below it.
func TestShiftKeepsTheOptimum(t *testing.T) {
	all := everything()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all).Draw(t, "function")
		rng := random.SeedOf(rapid.Uint64().Draw(t, "seed")).Stream("shift", 0)
		g := Shifted(f, rng)
		if g.Space != f.Space || g.Optimum != f.Optimum {
			t.Fatalf("%s: space or optimum has changed", f.Name)
		}
		if !(g.Reach >= 0) || g.Reach > f.Reach {
			t.Fatalf("%s: reach %g of a function that reached %g", f.Name, g.Reach, f.Reach)
		}
		checkShiftedMinimizers(t, g)
		for range 50 {
			if x := anywhere(g, 0, rng); g.Value(x) < g.Optimum-1e-9 {
				t.Errorf("%s at %v is %g, below the optimum %g", g.Name, x, g.Value(x), g.Optimum)
			}
		}
	})
}

// checkShiftedMinimizers allows for the rounding of the translation, which a
// steep function magnifies.
func checkShiftedMinimizers(t *rapid.T, g Function) {
	if len(g.Minimizers) == 0 {
		t.Fatalf("%s has lost its minimizers", g.Name)
	}
	for _, x := range g.Minimizers {
		design, err := g.Design(x)
		if err != nil {
			t.Fatalf("%s: minimizer %v: %v", g.Name, x, err)
		}
		if above := g.At(design) - g.Optimum; math.Abs(above) > 1e-9 {
			t.Errorf("%s at minimizer %v is %g above the optimum", g.Name, x, above)
		}
	}
}

// Over many shifts the minimizer is spread over the whole allowed range: for a
// minimizer in the middle the extremes of 400 uniform draws are within 5 % of
// ±1/4 except with probability 4·0.95^400 (fixed seed).
func TestShiftUsesItsRange(t *testing.T) {
	f := Levy(2)
	seed := random.SeedOf(3)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range uint64(400) {
		x := Shifted(f, seed.Stream("shift", i)).Minimizers[0][0]
		low, high = min(low, x), max(high, x)
	}
	const centre, most = 1.0, 0.25 * 20
	if low < centre-most || low > centre-0.9*most || high > centre+most || high < centre+0.9*most {
		t.Errorf("minimizer within [%g, %g], want about [%g, %g]", low, high, centre-most, centre+most)
	}
}

func TestShiftKeepsClearOfBounds(t *testing.T) {
	seed := random.SeedOf(4)
	for _, f := range everything() {
		for i := range uint64(50) {
			g := Shifted(f, seed.Stream(f.Name, i))
			found := false
			for _, moved := range g.Minimizers {
				for _, old := range f.Minimizers {
					found = found || staysClear(f, old, moved)
				}
			}
			if !found {
				t.Errorf("%s: no minimizer of %v keeps clear of the bounds", g.Name, g.Minimizers)
			}
		}
	}
}

func staysClear(f Function, old, moved []float64) bool {
	for i, p := range f.Space.Parameters() {
		width := p.High - p.Low
		before, after := min(old[i]-p.Low, p.High-old[i]), min(moved[i]-p.Low, p.High-moved[i])
		if p.Kind == task.Float && after < min(before, clearance*width)-1e-9*width {
			return false
		}
	}
	return true
}

func TestShiftRenamesChoicesAndMovesInts(t *testing.T) {
	seed := random.SeedOf(5)
	choices, ints := map[float64]bool{}, map[float64]bool{}
	for i := range uint64(200) {
		x := Shifted(Mixed(), seed.Stream("shift", i)).Minimizers[0]
		choices[x[3]], ints[x[2]] = true, true
	}
	if len(choices) != 4 {
		t.Errorf("the best choice is one of %v", choices)
	}
	// ±3 around 7: a quarter of the range 15, rounded down.
	for n := 4.0; n <= 10; n++ {
		if !ints[n] {
			t.Errorf("the best int is never %g", n)
		}
	}
	if len(ints) != 7 {
		t.Errorf("the best int is one of %v", ints)
	}
}

func TestSameStreamSameShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
		a, b := Shifted(Mixed(), seed.Stream("shift", 0)), Shifted(Mixed(), seed.Stream("shift", 0))
		x := anywhere(a, 0, seed.Stream("points", 0))
		if a.Value(x) != b.Value(x) {
			t.Errorf("values %g and %g at %v", a.Value(x), b.Value(x), x)
		}
	})
}

// The mean of 10,000 values is within 4 standard errors of the function and
// their variance within 6 % (4 standard errors) of the stated one, which a
// correct noise misses once in 15,000 seeds each; a wrong sd by 6 % or more
// shows with probability above 1/2, by 10 % nearly always.
func TestNoiseHasMeanZeroAndItsDeviation(t *testing.T) {
	const draws, sd = 10000, 0.3
	f := Branin()
	noisy := Noisy(f, sd, random.SeedOf(6).Stream("noise", 0))
	x := []float64{1, 2}
	sum, squares := 0.0, 0.0
	for range draws {
		deviation := noisy.Value(x) - f.Value(x)
		sum += deviation
		squares += deviation * deviation
	}
	if mean := sum / draws; math.Abs(mean) > 4*sd/math.Sqrt(draws) {
		t.Errorf("mean error %g", mean)
	}
	if ratio := squares / draws / (sd * sd); math.Abs(ratio-1) > 0.06 {
		t.Errorf("variance is %g times the stated one", ratio)
	}
	if noisy.Optimum != f.Optimum {
		t.Error("noise has changed the optimum")
	}
}
