package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is the information about an output that was not measured as a number: it lies from Low
// to High, of which one may be infinite. The output is the function plus the noise of an
// observation.
type Interval struct{ Low, High float64 }

// Side returns the interval of a truth value: true is above 0. It makes the process a classifier
// with the probit likelihood, whose labels have the noise of Hyperparameters. A process of larger
// variance with noise 1 would be equivalent.
func Side(above bool) Interval {
	if above {
		return Interval{0, math.Inf(1)}
	}
	return Interval{math.Inf(-1), 0}
}

// maxIntervals limits the work of FitIntervals, as maxFitted does for Fit: a step of expectation
// propagation costs as much as several of Fit's.
const maxIntervals = 150

// NewIntervalPosterior conditions the process on outputs within intervals (length t >= 1) at the
// points x (t rows), by expectation propagation (Rasmussen and Williams, section 3.6). The
// posterior is the normal distribution whose means and variances at the points match those that
// each interval implies given the others. It costs O(t³) several times.
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
	if err := ep.run(e.k, h.Noise); err != nil {
		return nil, err
	}
	outputs, noise := ep.observations()
	return NewUnequalPosterior(spec, x, outputs, h, noise)
}

// Within returns the posterior given also that outputs at the points x (k >= 1 rows) lie within
// intervals, by expectation propagation with p as the prior. p does not change.
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

// FitIntervals is Fit for outputs within intervals, by the evidence of expectation propagation.
// From more than 150 it uses 150 chosen at random.
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

// IntervalEvidence returns the logarithm of the probability that outputs lie within the intervals,
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
	if err := e.ep.run(e.k, h.Noise); err != nil {
		return 0, err
	}
	value, _ := e.ep.logEvidence()
	return value, nil
}

// intervalEvidence is the evidence of expectation propagation.
type intervalEvidence struct {
	*evidence
	ep    *propagation
	prior []float64 // the covariance without noise, upper part
}

func newIntervalEvidence(spec Spec, x [][]float64, within []Interval) *intervalEvidence {
	return &intervalEvidence{
		evidence: newEvidence(spec, x, make([]float64, len(x))),
		ep:       newPropagation(within),
		prior:    make([]float64, len(x)*len(x)),
	}
}

// logPosterior implements density. Its derivatives are those at fixed sites, where the evidence is
// stationary (Rasmussen and Williams, section 5.5.2).
func (e *intervalEvidence) logPosterior(gradient []float64, h Hyperparameters) (float64, error) {
	noiseless := Hyperparameters{Lengthscales: h.Lengthscales}
	e.fillCovariance(noiseless)
	copy(e.prior, e.k)
	if err := e.ep.run(e.prior, h.Noise); err != nil {
		return 0, err
	}
	value, byNoise := e.ep.logEvidence()
	if err := e.ep.solve(e.alpha, e.k); err != nil || math.IsNaN(value) {
		return 0, ErrNotPositiveDefinite
	}
	e.fillGradient(gradient, noiseless)
	gradient[e.groups] = h.Noise * byNoise
	return value + addPriors(gradient, h), nil
}
