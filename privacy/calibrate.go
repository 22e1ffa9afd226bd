package privacy

import "fmt"

// Promise is what a plan shall keep: (Epsilon, Delta)-privacy of all its releases
// together, by the argument named.
type Promise struct {
	Epsilon float64 // in [MinEpsilon, MaxEpsilon]
	Delta   float64 // in [MinDelta, MaxDelta]; 1e-5 unless there is a reason
	Bound   Bound   // Renyi unless set
}

// sigmaTolerance is how far above the least sufficient sigma Plan.Sigma may end.
const sigmaTolerance = 0x1p-20

// Sigma returns the noise scale, in grid units, with which every party keeps the promise: at most
// one unit or a part in 2^20 above the least that does, never below. It returns an error if none up
// to MaxSigma does.
func (p Plan) Sigma(promise Promise) (int64, error) {
	if !(promise.Epsilon >= MinEpsilon && promise.Epsilon <= MaxEpsilon) {
		return 0, fmt.Errorf("parameter %q: %g must lie in [%g, %g]", "Epsilon", promise.Epsilon, MinEpsilon, float64(MaxEpsilon))
	}
	if _, err := (Loss{}).Epsilon(promise.Delta, promise.Bound); err != nil {
		return 0, err
	}
	if err := p.Validate(); err != nil {
		return 0, err
	}
	if p.Rate < 1 && promise.Bound == Tight {
		return 0, ErrNoTight
	}
	if !p.keeps(promise, MaxSigma) {
		return 0, fmt.Errorf("parameter %q: %g cannot be kept for %d releases with noise of at most %d grid units; raise it, plan fewer releases or lower Bits",
			"Epsilon", promise.Epsilon, p.Releases, int64(MaxSigma))
	}
	// From one sensitivity, outwards to a bracket: small sigmas are dear to account.
	low, high := int64(0), int64(MaxSigma)
	for guess := p.Grid.Sensitivity(p.Adjacency); ; {
		if p.keeps(promise, guess) {
			high = guess
			if guess /= 2; guess <= low {
				break
			}
			continue
		}
		low = guess
		if guess *= 2; guess >= high {
			break
		}
	}
	for high-low > 1 && float64(high-low) > sigmaTolerance*float64(high) {
		if middle := low + (high-low)/2; p.keeps(promise, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// keeps reports whether the promise holds at sigma; a scale that cannot be accounted
// for keeps nothing.
func (p Plan) keeps(promise Promise, sigma int64) bool {
	loss, err := p.Loss(sigma)
	if err != nil {
		return false
	}
	epsilon, err := loss.Epsilon(promise.Delta, promise.Bound)
	return err == nil && epsilon <= promise.Epsilon
}
