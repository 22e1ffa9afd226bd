package normal

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The rise is the integral of Φ, and the other two are those of φ and -zφ, divided by it. Simpson's
// rule integrates them relative to Φ or φ at the upper bound, in both tails and for narrow and wide
// intervals.
func TestRiseIsTheIntegral(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Float64Range(-60, 12).Draw(rt, "a")
		width := math.Exp(rapid.Float64Range(math.Log(1e-9), math.Log(8)).Draw(rt, "log width"))
		b := a - width
		width = a - b
		const steps = 2000
		reach := min(width, 40/max(1, -a)) // Φ is negligible beyond
		top, _ := LogCDF(a)
		var sums [3]float64
		for i := range steps + 1 {
			weight := 2.0 + 2*float64(i%2)
			if i == 0 || i == steps {
				weight = 1
			}
			z := a - reach*float64(i)/steps
			value, ratio := LogCDF(z)
			cumulative := weight * reach / (3 * steps) * math.Exp(value-top)
			sums[0] += cumulative
			sums[1] += cumulative * ratio
			sums[2] -= cumulative * ratio * z
		}
		h, _, _ := LogExcess(a)
		got := RiseOf(TailOf(b), TailOf(a))
		for name, pair := range map[string][2]float64{
			"factor":  {got.Factor, sums[0] * math.Exp(top-h)},
			"between": {got.Between, sums[1] / sums[0]},
			"drop":    {got.Drop, sums[2] / sums[0]},
		} {
			if math.Abs(pair[0]-pair[1]) > 3e-7*(math.Abs(pair[1])+1e-3) {
				rt.Fatalf("from %g to %g: %s %g, by integration %g", b, a, name, pair[0], pair[1])
			}
		}
	})
}

// The rise from -∞ is h itself.
func TestRiseFromFarBelow(t *testing.T) {
	for _, z := range []float64{-30, -2, 0, 3} {
		a := TailOf(z)
		got := RiseOf(TailOf(z-60), a)
		if math.Abs(got.Factor-1) > 1e-12 || math.Abs(got.Between-a.CumulativeRatio) > 1e-9 || math.Abs(got.Drop-a.DensityRatio) > 1e-6 {
			t.Errorf("at %g: %+v; expected 1, %g, %g", z, got, a.CumulativeRatio, a.DensityRatio)
		}
	}
}
