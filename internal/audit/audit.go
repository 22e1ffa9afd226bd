// Package audit computes lower bounds on the privacy loss of a mechanism from repeated attacks on
// it. Tests of mechanisms import it.
//
// An attacker guesses which of two worlds a release comes from, and is wrong at rates a in one and b
// in the other. Then the worlds are at least as far apart as two normal distributions of standard
// deviation 1 at distance μ = Φ⁻¹(1−a) + Φ⁻¹(1−b), for which no test is better (Dong, Roth, Su,
// "Gaussian Differential Privacy", 2019, Section 2.2). Bounds on the rates by Clopper and Pearson
// give a bound on μ, and the ε of such distributions a bound on ε, if the noise of the mechanism
// is normal (Nasr et al., "Tight Auditing of Differentially Private Machine Learning", 2023). One
// threshold between the worlds serves every ε, with far fewer runs than rare events for one ε.
package audit

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the confidence of the bound that Distance returns.
const Confidence = 0.999

// Distance returns the lower bound on μ, at Confidence, from the counts of wrong guesses in each of
// the two worlds, each with the given number of runs. It is negative if the guesses show nothing.
// It panics on counts outside [0, runs] and runs below 1.
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

// Epsilon returns the ε at delta of two normal distributions of standard deviation 1 at this
// distance (Balle, Wang 2018, Theorem 8); 0 if the distance is not positive. It does not use
// package privacy, whose figures it checks.
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

// Shown returns the lower bound on ε at the guarantee's δ, from runs guesses in each of the two
// worlds. guess runs the mechanism in a world, 0 or 1, and returns the world that the attacker
// guesses.
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

// Check reports an error if the bound contradicts kept: above ε for a mechanism that keeps the
// guarantee, at most ε for one that breaks it. It also reports an error if the bound is below the
// share power of ε, with which the audit would not find such a fault.
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
