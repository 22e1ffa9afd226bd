// Package audit computes lower bounds on the privacy loss of a mechanism from repeated attacks on
// it. Tests of mechanisms import it.
//
// An attacker guesses from which of two worlds a release comes. Let a be the rate of wrong guesses in
// one world, and b that in the other. They give a distance μ = Φ⁻¹(1−a) + Φ⁻¹(1−b), where Φ is the
// standard normal distribution function. No test of two normal distributions of standard deviation 1
// at this distance has smaller rates. So the two worlds can be distinguished at least as well as these
// (Dong, Roth, Su, "Gaussian Differential Privacy", 2019, Section 2.2).
//
// Clopper-Pearson bounds on the rates give a lower bound on μ. If the noise of the mechanism is normal,
// the ε of such distributions is then a lower bound on ε. The method is that of Nasr et al., "Tight
// Auditing of Differentially Private Machine Learning", 2023. One threshold between the worlds serves
// every ε. It needs far fewer runs than rare events for a single ε.
package audit

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the confidence level of the bound that Distance returns.
const Confidence = 0.999

// Distance returns a lower bound on μ (see the package comment) with confidence Confidence. The
// argument wrong has the numbers of wrong guesses in the two worlds, each in the given number of
// runs. The bound is negative if the guesses show no privacy loss. Distance panics if a number is
// outside [0, runs] or runs is less than 1.
func Distance(wrong [2]int, runs int) float64 {
	distance := 0.0
	for _, errors := range wrong {
		if runs < 1 || errors < 0 || errors > runs {
			panic(fmt.Sprintf("audit: %d wrong guesses in %d runs", errors, runs))
		}
		most := 1.0
		if errors < runs {
			most = distuv.Beta{Alpha: float64(errors + 1), Beta: float64(runs - errors)}.Quantile(1 - (1-Confidence)/2)
		}
		distance -= distuv.UnitNormal.Quantile(most)
	}
	return distance
}

// Epsilon returns the ε at δ = delta of two normal distributions of standard deviation 1 whose
// means have the given distance (Balle, Wang 2018, Theorem 8). It is 0 if the distance is not
// positive. It does not use package privacy, because it serves to check that package.
func Epsilon(distance, delta float64) float64 {
	if distance <= 0 {
		return 0
	}
	low, high := 0.0, 100.0
	for range 60 {
		epsilon := (low + high) / 2
		if distuv.UnitNormal.CDF(-epsilon/distance+distance/2)-math.Exp(epsilon)*distuv.UnitNormal.CDF(-epsilon/distance-distance/2) > delta {
			low = epsilon
		} else {
			high = epsilon
		}
	}
	return low
}

// Guarantee is the (ε, δ) differential privacy that a mechanism claims.
type Guarantee struct{ Epsilon, Delta float64 }

// Shown returns a lower bound on ε at the guarantee's δ, from the given number of runs in each of
// the two worlds. The function guess runs the mechanism in a world, 0 or 1, and returns the world
// that the attacker guesses.
func (g Guarantee) Shown(runs int, guess func(world int) int) float64 {
	var wrong [2]int
	for world := range wrong {
		for range runs {
			if guess(world) != world {
				wrong[world]++
			}
		}
	}
	return Epsilon(Distance(wrong, runs), g.Delta)
}

// Check reports an error if the bound on ε contradicts kept. It must be at most ε for a mechanism
// that keeps the guarantee, and above ε for one that breaks it. Check also reports an error if the
// bound is less than power times ε, since such an audit could not detect a fault.
func (g Guarantee) Check(t testing.TB, mechanism string, shown float64, kept bool, power float64) {
	t.Helper()
	t.Logf("%s: ε ≥ %.2f, claimed %g", mechanism, shown, g.Epsilon)
	if (shown <= g.Epsilon) != kept {
		t.Errorf("%s: ε ≥ %.2f, expected a bound above %g: %t", mechanism, shown, g.Epsilon, !kept)
	}
	if shown < power*g.Epsilon {
		t.Errorf("%s: ε ≥ %.2f, expected at least %.2f: the audit has no power", mechanism, shown, power*g.Epsilon)
	}
}
