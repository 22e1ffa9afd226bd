package privacy

import "fmt"

// Promise is the privacy guarantee that a plan must give: all its releases together are (Epsilon,
// Delta)-private. Bound is the argument by which that is shown.
type Promise struct {
	Epsilon float64 // in [MinEpsilon, MaxEpsilon]
	Delta   float64 // in [MinDelta, MaxDelta]; 1e-5 is the usual value
	Bound   Bound   // the zero value is Renyi
}

// sigmaTolerance is the maximum relative difference between the result of Plan.Sigma and the
// smallest sufficient sigma.
const sigmaTolerance = 0x1p-20

// Sigma returns the noise scale, in grid units, with which every party keeps the promise. It
// exceeds the smallest sufficient scale by at most one unit or a part in 2^20, and is never below
// it. Sigma returns an error if no scale up to MaxSigma is sufficient.
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
	// Start from one sensitivity and extend outwards to a bracket, since the loss of small sigmas
	// takes long to compute.
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

// keeps reports whether the plan keeps the promise at sigma. It returns false if the loss at sigma
// cannot be computed.
func (p Plan) keeps(promise Promise, sigma int64) bool {
	loss, err := p.Loss(sigma)
	if err != nil {
		return false
	}
	epsilon, err := loss.Epsilon(promise.Delta, promise.Bound)
	return err == nil && epsilon <= promise.Epsilon
}
