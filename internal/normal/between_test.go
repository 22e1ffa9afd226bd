package normal

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The log probability of an interval and its slopes agree with the midpoint rule over
// the density, relative to its largest value, in both tails.
func TestLogBetweenIsTheIntegral(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Float64Range(-40, 40).Draw(rt, "a")
		width := math.Exp(rapid.Float64Range(math.Log(2e-6), math.Log(20)).Draw(rt, "log width"))
		b := a + width
		width = b - a
		const steps = 20000
		peak := 0.0 // where the density is largest
		if a > 0 {
			peak = a
		} else if b < 0 {
			peak = b
		}
		reach := min(width, 12) // farther from the peak is nothing
		from := min(max(peak-reach/2, a), b-reach)
		if peak == a {
			from = a
		} else if peak == b {
			from = b - reach
		}
		sum := 0.0
		for i := range steps {
			z := from + reach*(float64(i)+0.5)/steps
			sum += math.Exp((peak*peak - z*z) / 2)
		}
		want := math.Log(sum*reach/steps) - peak*peak/2 - halfLog2Pi
		got, byA, byB := LogBetween(a, b)
		if math.Abs(got-want) > 2e-4*(1+math.Abs(peak)/20) {
			rt.Fatalf("[%g, %g]: %g, by integration %g", a, b, got, want)
		}
		mirrored, byMinusB, byMinusA := LogBetween(-b, -a)
		if math.Abs(mirrored-got) > 1e-12*(1+math.Abs(got)) || math.Abs(byA+byMinusA) > 1e-9*(1+math.Abs(byA)) || math.Abs(byB+byMinusB) > 1e-9*(1+math.Abs(byB)) {
			rt.Fatalf("[%g, %g]: %g %g %g, mirrored %g %g %g", a, b, got, byA, byB, mirrored, byMinusB, byMinusA)
		}
		if byA > 0 || byB < 0 || math.IsNaN(byA) || math.IsInf(byB, 0) {
			rt.Fatalf("[%g, %g]: slopes %g and %g", a, b, byA, byB)
		}
	})
}

// Where both forms hold they agree: the parabola of narrow intervals against the
// difference in 200 bits.
func TestNarrowIntervals(t *testing.T) {
	for _, centre := range []float64{0, -0.3, -2, -8, -30} {
		width := 0.99 * narrowWidth / max(1, math.Abs(centre))
		got, _, _ := LogBetween(centre-width/2, centre+width/2)
		// Simpson's rule has an error of the fourth order in the width.
		at := func(z float64) *big.Float { return big.NewFloat(math.Exp((centre*centre - z*z) / 2)) }
		sum := new(big.Float).Add(at(centre-width/2), at(centre+width/2))
		sum.Add(sum, new(big.Float).Mul(big.NewFloat(4), at(centre)))
		simpson, _ := sum.Float64()
		want := math.Log(simpson*width/6) - centre*centre/2 - halfLog2Pi
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("around %g: %g, want %g", centre, got, want)
		}
	}
}
