package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Prior is a density of hyperparameters. The logarithm of each lengthscale, and last that of the
// noise, has an independent normal distribution.
type Prior struct {
	Location []float64 `json:"location"` // mean of each logarithm, at which its density is largest
	Spread   []float64 `json:"spread"`   // standard deviation of each logarithm, above 0
}

// StandardPrior returns the standard prior, under which Fit works, as a density of logarithms.
func StandardPrior(spec Spec) Prior {
	mode := PriorMode(spec)
	p := Prior{Location: mode.Logarithms()}
	for range mode.Lengthscales {
		p.Spread = append(p.Spread, lengthscaleSpread)
	}
	p.Spread = append(p.Spread, noiseSpread)
	return p
}

// equal reports whether two priors are the same; either may be nil.
func (p *Prior) equal(other *Prior) bool {
	if p == nil || other == nil {
		return p == other
	}
	return slices.Equal(p.Location, other.Location) && slices.Equal(p.Spread, other.Spread)
}

func (p *Prior) validate(spec Spec) error {
	if p == nil {
		return nil
	}
	want := spec.lengthscales() + 1
	if len(p.Location) != want || len(p.Spread) != want {
		return fmt.Errorf("a prior of %d locations and %d spreads: the process has %d hyperparameters", len(p.Location), len(p.Spread), want)
	}
	for i, at := range p.Location {
		if !(math.Abs(at) <= logLimit) || !(p.Spread[i] > 0) || math.IsInf(p.Spread[i], 1) {
			return fmt.Errorf("prior %d with location %g and spread %g: expected locations from %d to %d and positive, finite spreads", i, at, p.Spread[i], -logLimit, logLimit)
		}
	}
	return nil
}

// mode returns the hyperparameters with the largest density, raised to the floors of a fit if
// needed.
func (p *Prior) mode() Hyperparameters {
	last := len(p.Location) - 1
	h := Hyperparameters{Noise: max(math.Exp(p.Location[last]), NoiseFloor)}
	for _, at := range p.Location[:last] {
		h.Lengthscales = append(h.Lengthscales, max(math.Exp(at), lengthscaleFloor))
	}
	return h
}

// add returns the log density of h up to a constant. It adds the derivatives with respect to the
// logarithms to gradient.
func (p *Prior) add(gradient []float64, h Hyperparameters) (value float64) {
	for i, at := range h.Logarithms() {
		z := (at - p.Location[i]) / p.Spread[i]
		value -= 0.5 * z * z
		gradient[i] -= z / p.Spread[i]
	}
	return value
}

// Logarithms returns the logarithms of the lengthscales and, last, of the noise.
func (h Hyperparameters) Logarithms() []float64 {
	all := make([]float64, 0, len(h.Lengthscales)+1)
	for _, l := range h.Lengthscales {
		all = append(all, math.Log(l))
	}
	return append(all, math.Log(h.Noise))
}

// FitUnder is Fit with the given prior, which the result contains, and with the variance of the error
// of each output besides the noise. A nil prior means the standard prior, nil variances mean none.
func FitUnder(ctx context.Context, spec Spec, prior *Prior, x [][]float64, y, extra []float64, starts []Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	if err := checkExtra(spec, x, y, extra); err != nil {
		return Hyperparameters{}, err
	}
	if prior != nil {
		if err := prior.validate(spec); err != nil {
			return Hyperparameters{}, err
		}
	}
	points, err := startingPoints(spec, starts, rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	e := newUnequalEvidence(spec, x, y, extra, maxFitted, rng)
	if prior != nil {
		e.prior, points = prior, append(points, encode(prior.mode()))
	}
	h, err := climb(ctx, e, points)
	h.Prior = prior
	return h, err
}
