// Package audit bounds from below what a private mechanism gives away, by an attack on
// it that was played often. Tests of mechanisms import it.
//
// Somebody who guesses which of two worlds released something, and is wrong at rates
// a in the one and b in the other, shows that they are not closer than two normal
// distributions of deviation 1 at distance μ = Φ⁻¹(1−a) + Φ⁻¹(1−b): of those no test is
// better (Dong, Roth, Su, "Gaussian Differential Privacy", 2019, Section 2.2). With
// bounds on the rates by Clopper and Pearson that is a bound on μ, and through the ε of
// such distributions one on ε, as long as the mechanism's noise is normal (Nasr et al.,
// "Tight Auditing of Differentially Private Machine Learning", 2023). A threshold
// between the worlds serves every ε, and so needs far fewer runs than to show one ε by
// rare events.
package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of a Distance.
const Confidence = 0.999

// Distance returns the largest μ that is shown, at Confidence, by so
// many wrong guesses in each of the two worlds, each played runs times. It is negative
// when nothing is shown. Counts outside [0, runs] and runs below 1 panic.
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

// Epsilon returns the ε at delta of telling apart two normal distributions of deviation
// 1 at this distance (Balle, Wang 2018, Theorem 8); 0 when they are not apart. It does
// not use package privacy, whose figures it is to judge.
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
