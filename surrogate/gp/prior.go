package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Prior is a density of hyperparameters: each logarithm, the lengthscales' first and the
// noise's last, is normal by itself.
type Prior struct {
	Location []float64 `json:"location"` // the mean of each logarithm, where the density is largest
	Spread   []float64 `json:"spread"`   // its standard deviation, above 0
}

// StandardPrior is the one that Fit goes by.
func StandardPrior(spec Spec) Prior {
	mode := PriorMode(spec)
	p := Prior{Location: mode.Logarithms()}
	for range mode.Lengthscales {
		p.Spread = append(p.Spread, lengthscaleSpread)
	}
	p.Spread = append(p.Spread, noiseSpread)
	return p
}

// equal tells whether two priors, of which either may be nil, are the same.
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
		return fmt.Errorf("gp: a prior of %d locations and %d spreads: the process has %d hyperparameters", len(p.Location), len(p.Spread), want)
	}
	for i, at := range p.Location {
		if !(math.Abs(at) <= logLimit) || !(p.Spread[i] > 0) || math.IsInf(p.Spread[i], 1) {
			return fmt.Errorf("gp: prior %d with location %g and spread %g: accepted are locations from %d to %d and positive, finite spreads", i, at, p.Spread[i], -logLimit, logLimit)
		}
	}
	return nil
}

// mode returns the hyperparameters of largest density, within the floors.
func (p *Prior) mode() Hyperparameters {
	last := len(p.Location) - 1
	h := Hyperparameters{Noise: max(math.Exp(p.Location[last]), NoiseFloor)}
	for _, at := range p.Location[:last] {
		h.Lengthscales = append(h.Lengthscales, max(math.Exp(at), lengthscaleFloor))
	}
	return h
}

// add returns the logarithm of the density up to a constant, and adds its slopes by the
// logarithms.
func (p *Prior) add(gradient []float64, h Hyperparameters) (value float64) {
	for i, at := range h.Logarithms() {
		z := (at - p.Location[i]) / p.Spread[i]
		value -= 0.5 * z * z
		gradient[i] -= z / p.Spread[i]
	}
	return value
}

// Logarithms are those of the lengthscales, and last that of the noise.
func (h Hyperparameters) Logarithms() []float64 {
	all := make([]float64, 0, len(h.Lengthscales)+1)
	for _, l := range h.Lengthscales {
		all = append(all, math.Log(l))
	}
	return append(all, math.Log(h.Noise))
}

// FitUnder is Fit by another prior, which the result names; nil is the standard one.
func FitUnder(ctx context.Context, spec Spec, prior *Prior, x [][]float64, y []float64, starts []Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	if prior == nil {
		return Fit(ctx, spec, x, y, starts, rng)
	}
	if err := checkSome(spec, x, y); err != nil {
		return Hyperparameters{}, err
	}
	if err := prior.validate(spec); err != nil {
		return Hyperparameters{}, err
	}
	points, err := startingPoints(spec, starts, rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	x, y = choose(x, y, mostFitted, rng)
	e := newEvidence(spec, x, y)
	e.prior = prior
	h, err := climb(ctx, e, append(points, encode(prior.mode())))
	h.Prior = prior
	return h, err
}

// Score returns what the outputs y (length t >= 1) at the points x (t rows) say at h about the
// logarithm of each hyperparameter: the slope of the log likelihood, and the Fisher
// information, which is the variance that the slope has if h is true. It is the expected
// curvature of the log likelihood, which never is below 0 (Rasmussen and Williams, equation 5.9;
// half of tr((K^-1 dK)²) for Gaussian outputs). Of more than 100 observations it looks at 100
// chosen at random.
func Score(ctx context.Context, spec Spec, x [][]float64, y []float64, h Hyperparameters, rng *rand.Rand) (slope, information []float64, err error) {
	if err := checkSome(spec, x, y); err != nil {
		return nil, nil, err
	}
	if err := h.validate(spec); err != nil {
		return nil, nil, err
	}
	x, y = choose(x, y, mostSampled, rng)
	e := newEvidence(spec, x, y)
	factor, _, err := e.logLikelihood(h)
	if err != nil {
		return nil, nil, err
	}
	information = make([]float64, len(h.Lengthscales)+1)
	change := make([]float64, e.t*e.t)
	for i := range information {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		e.fillChange(change, i, h)
		lapack64.Potrs(factor, blas64.General{Rows: e.t, Cols: e.t, Stride: e.t, Data: change})
		for k := range e.t {
			for l := range e.t {
				information[i] += 0.5 * change[k*e.t+l] * change[l*e.t+k]
			}
		}
	}
	if _, ok := lapack64.Potri(factor); !ok {
		return nil, nil, ErrNotPositiveDefinite
	}
	slope = make([]float64, len(information))
	e.fillGradient(slope, h)
	return slope, information, nil
}

// fillChange fills t×t with the derivative of the covariance by the logarithm of a
// hyperparameter; fillCovariance has been called with h.
func (e *evidence) fillChange(change []float64, hyperparameter int, h Hyperparameters) {
	dim := len(e.spec.Groups)
	clear(change)
	for i := range e.t {
		if hyperparameter == e.groups {
			change[i*e.t+i] = h.Noise
			continue
		}
		at := e.scaled[i*dim : (i+1)*dim]
		for j := i + 1; j < e.t; j++ {
			square := 0.0
			for c, v := range e.scaled[j*dim : (j+1)*dim] {
				if e.spec.Groups[c] == hyperparameter {
					square += (at[c] - v) * (at[c] - v)
				}
			}
			change[i*e.t+j] = e.slopes[i*e.t+j] * square
			change[j*e.t+i] = change[i*e.t+j]
		}
	}
}
