package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is the information about an output that was not measured as a number: the output lies
// from Low to High. One of the two may be infinite. The output is the function plus the noise of an
// observation.
type Interval struct{ Low, High float64 }

// Side returns the interval of a boolean output: above 0 for true, below 0 for false. With such
// intervals the process is a classifier with the probit likelihood and the noise of
// Hyperparameters. A process with noise 1 and a larger variance would be equivalent.
func Side(above bool) Interval {
	if above {
		return Interval{0, math.Inf(1)}
	}
	return Interval{math.Inf(-1), 0}
}

// maxIntervals limits the observations of FitIntervals, as maxFitted does for Fit. It is smaller,
// because a step of expectation propagation costs as much as several steps of Fit.
const maxIntervals = 150

// NewIntervalPosterior conditions the process on intervals of outputs (length t >= 1) at the points
// x (t rows), by expectation propagation (Rasmussen and Williams, section 3.6). The posterior is
// the normal distribution whose mean and variance at each point match the moments that the point's
// interval implies, given all other intervals. It costs several times O(t³).
func NewIntervalPosterior(spec Spec, x [][]float64, within []Interval, h Hyperparameters) (*Posterior, error) {
	if err := checkIntervals(spec, x, within); err != nil {
		return nil, err
	}
	if err := h.validate(spec); err != nil {
		return nil, err
	}
	e := newEvidence(spec, x, make([]float64, len(x)))
	e.fillCovariance(Hyperparameters{Lengthscales: h.Lengthscales})
	ep := newPropagation(within)
	if err := ep.run(e.symmetric(make([]float64, e.t*e.t)), h.Noise); err != nil {
		return nil, err
	}
	outputs, noise := ep.observations()
	return NewUnequalPosterior(spec, x, outputs, h, noise)
}

// Within returns the posterior given also that the outputs at the points x (k >= 1 rows) lie within
// the given intervals. It uses expectation propagation with p as the prior. p does not change.
func (p *Posterior) Within(x [][]float64, within []Interval) (*Posterior, error) {
	if err := checkIntervals(p.spec, x, within); err != nil {
		return nil, err
	}
	joint := p.Joint(x)
	mean, covariance := joint.Mean(), joint.Covariance()
	centred, k := make([]Interval, len(x)), make([]float64, len(x)*len(x))
	for i := range x {
		centred[i] = Interval{within[i].Low - mean[i], within[i].High - mean[i]}
		for j := i; j < len(x); j++ {
			k[i*len(x)+j] = covariance.At(i, j)
		}
	}
	ep := newPropagation(centred)
	if err := ep.run(k, p.h.Noise); err != nil {
		return nil, err
	}
	outputs, noise := ep.observations()
	for i := range outputs {
		outputs[i] += mean[i]
	}
	return NewUnequalPosterior(p.spec, append(slices.Clone(p.x), x...), append(slices.Clone(p.y), outputs...),
		p.h, append(slices.Clone(p.noise), noise...))
}

// FitIntervals is Fit for intervals of outputs. It uses the evidence of expectation propagation.
// With more than 150 intervals it uses a random subset of 150.
func FitIntervals(ctx context.Context, spec Spec, x [][]float64, within []Interval, starts []Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	if err := checkIntervals(spec, x, within); err != nil {
		return Hyperparameters{}, err
	}
	points, err := startingPoints(spec, starts, rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	x, within = choose(x, within, maxIntervals, rng)
	return climb(ctx, newIntervalEvidence(spec, x, within), points)
}

func checkIntervals(spec Spec, x [][]float64, within []Interval) error {
	if len(x) != len(within) {
		return fmt.Errorf("%d points but %d intervals", len(x), len(within))
	}
	for i, w := range within {
		if !(w.Low < w.High) {
			return fmt.Errorf("interval %d is %g to %g: the first must be below the second", i, w.Low, w.High)
		}
	}
	return checkSome(spec, x, make([]float64, len(x)))
}

// IntervalEvidence returns the log probability that the outputs lie within the intervals, estimated
// by expectation propagation. It costs as much as NewIntervalPosterior.
func IntervalEvidence(spec Spec, x [][]float64, within []Interval, h Hyperparameters) (float64, error) {
	if err := checkIntervals(spec, x, within); err != nil {
		return 0, err
	}
	if err := h.validate(spec); err != nil {
		return 0, err
	}
	e := newIntervalEvidence(spec, x, within)
	e.fillCovariance(Hyperparameters{Lengthscales: h.Lengthscales})
	if err := e.ep.run(e.symmetric(e.prior), h.Noise); err != nil {
		return 0, err
	}
	value, _ := e.ep.logEvidence()
	return value, nil
}

// intervalEvidence computes the evidence of intervals by expectation propagation.
type intervalEvidence struct {
	*evidence
	ep    *propagation
	prior []float64 // prior covariance without noise, upper part
}

func newIntervalEvidence(spec Spec, x [][]float64, within []Interval) *intervalEvidence {
	return &intervalEvidence{
		evidence: newEvidence(spec, x, make([]float64, len(x))),
		ep:       newPropagation(within),
		prior:    make([]float64, len(x)*len(x)),
	}
}

// logPosterior implements the interface density. Its derivatives treat the sites as fixed, because
// the evidence is stationary in the sites (Rasmussen and Williams, section 5.5.2).
func (e *intervalEvidence) logPosterior(gradient []float64, h Hyperparameters) (float64, error) {
	noiseless := Hyperparameters{Lengthscales: h.Lengthscales}
	e.fillCovariance(noiseless)
	if err := e.ep.run(e.symmetric(e.prior), h.Noise); err != nil {
		return 0, err
	}
	value, byNoise := e.ep.logEvidence()
	if err := e.ep.solve(e.alpha, e.k.Row); err != nil || math.IsNaN(value) {
		return 0, ErrNotPositiveDefinite
	}
	e.fillGradient(gradient, noiseless)
	gradient[e.groups] = h.Noise * byNoise
	return value + addPriors(gradient, h), nil
}
