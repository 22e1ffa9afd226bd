package audit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of 2,000 audits of normal noise at distance 1.3 the bound exceeds the truth in no
// more than a thousandth, but for chance: of 2 expected, more than 9 come once in
// 20,000 times. And it is not idle: 500 runs in each world show half of it.
func TestDistanceIsALowerBound(t *testing.T) {
	const truth, audits, runs = 1.3, 2000, 500
	source := rand.New(rand.NewPCG(1, 2))
	exceeded, mean := 0, 0.0
	for range audits {
		var wrong [2]int
		for world, centre := range []float64{-truth / 2, truth / 2} {
			for range runs {
				if (source.NormFloat64()+centre > 0) != (world == 1) {
					wrong[world]++
				}
			}
		}
		shown := Distance(wrong, runs)
		mean += shown / audits
		if shown > truth {
			exceeded++
		}
	}
	if exceeded > 9 || mean < truth/2 {
		t.Errorf("%d of %d bounds are too high; on average %.3f is shown of %g", exceeded, audits, mean, truth)
	}
}

func TestDistanceAtExtremeCounts(t *testing.T) {
	if d := Distance([2]int{10, 10}, 10); !math.IsInf(d, -1) {
		t.Errorf("always wrong: %g", d)
	}
	// No error in 1000 runs: both rates are below 0.00757, and Φ⁻¹ of that is -2.43.
	if d := Distance([2]int{0, 0}, 1000); math.Abs(d-4.857) > 0.01 {
		t.Errorf("never wrong: %g", d)
	}
	for _, c := range []struct{ distance, delta, want, tolerance float64 }{
		{1, 0.126936, 1, 1e-4}, // Dong, Roth, Su 2019
		{0.1, 0.00875176814581, 0.1, 1e-9},
		{-1, 1e-5, 0, 0}, {0, 1e-5, 0, 0},
	} {
		if got := Epsilon(c.distance, c.delta); math.Abs(got-c.want) > c.tolerance {
			t.Errorf("ε of %g at %g is %g, want %g", c.distance, c.delta, got, c.want)
		}
	}
}

// failures counts the errors of a test.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Errorf(string, ...any) { f.count++ }

// With all of the noise that ε = 4 needs, 400 runs show less than 4, and with half of it more. A
// blind attack shows nothing.
func TestCheckFindsTooLittleNoise(t *testing.T) {
	const due = 1.3931 // the distance of ε = 4 at δ = 0.005
	for _, c := range []struct {
		name     string
		distance float64
		kept     bool
		failures int
	}{
		{"all of the noise", due, true, 0},
		{"all of the noise, expected to be half", due, false, 1},
		{"half of the noise", 2 * due, false, 0},
		{"half of the noise, expected to be all", 2 * due, true, 1},
		{"a blind attack", 0, true, 1},
		{"a blind attack, expected to find a fault", 0, false, 2},
	} {
		source := rand.New(rand.NewPCG(3, 4))
		g, f := Guarantee{Epsilon: 4, Delta: 0.005}, &failures{TB: t}
		g.Check(f, c.name, g.Shown(400, func(world int) int {
			if source.NormFloat64()+(float64(world)-0.5)*c.distance > 0 {
				return 1
			}
			return 0
		}), c.kept, 0.25)
		if f.count != c.failures {
			t.Errorf("%s: %d failures, expected %d", c.name, f.count, c.failures)
		}
	}
}
