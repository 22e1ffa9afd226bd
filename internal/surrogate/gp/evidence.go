package gp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/radial"
)

// The priors of lengthscales and noise are log-normal. They are densities of the parameter, not of
// its logarithm. The location of the lengthscale's prior grows with the number of groups, because
// distances grow with the dimension. The values are those of BoTorch.
const (
	lengthscaleFloor  = 0.025
	lengthscaleSpread = 1.7320508075688772 // sqrt 3
	noiseLocation     = -4.0
	noiseSpread       = 1.0

	// NoiseFloor is the smallest noise that Fit returns. It is a variance, in units of the
	// standardised outputs.
	NoiseFloor = 1e-6
)

// LogNoisePrior returns the log prior density of noise, a positive variance, up to a constant.
func LogNoisePrior(noise float64) float64 {
	value, _ := logNormal(math.Log(noise), noiseLocation, noiseSpread)
	return value
}

func lengthscaleLocation(groups int) float64 {
	return math.Sqrt2 + 0.5*math.Log(float64(groups))
}

// logNormal returns the log density at exp(logValue), up to a constant, and its derivative with
// respect to logValue.
func logNormal(logValue, location, spread float64) (value, slope float64) {
	z := (logValue - location) / spread
	return -logValue - 0.5*z*z, -1 - z/spread
}

// Covariance returns the t×t prior covariance of the function at the points x (t rows). It is the
// kernel alone, without the variance of the unknown mean and without noise.
func Covariance(spec Spec, x [][]float64, lengthscales []float64) *mat.SymDense {
	e := newEvidence(spec, x, make([]float64, len(x)))
	e.fillCovariance(Hyperparameters{Lengthscales: lengthscales})
	k := mat.NewSymDense(e.t, e.symmetric(make([]float64, e.t*e.t)))
	for i := range e.t {
		for j := i; j < e.t; j++ {
			k.SetSym(i, j, k.At(i, j)-spec.meanVariance())
		}
	}
	return k
}

// evidence holds the data of a log posterior density, and memory that successive evaluations reuse.
// Only one goroutine may use it at a time.
type evidence struct {
	spec   Spec
	groups int
	t      int
	x      []float64 // one row of t numbers per coordinate
	y      []float64
	extra  []float64 // variance of each output besides the noise; nil means none
	prior  *Prior    // nil means the standard prior

	scaled  []float64      // x in units of the lengthscales
	k       *linalg.Factor // covariance, then its factor, then its inverse
	slopes  []float64      // t×t, upper part: derivative factors of the kernel
	alpha   []float64      // K⁻¹ y
	weights []float64      // of the pairs with one point
}

// newUnequalEvidence returns the evidence of at most `most` of the observations. extra has the variance
// of each output besides the noise, at least 0; nil means none.
func newUnequalEvidence(spec Spec, x [][]float64, y, extra []float64, most int, rng *rand.Rand) *evidence {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	some, order := choose(x, order, most, rng)
	at := func(all []float64) (picked []float64) {
		for _, i := range order {
			picked = append(picked, all[i])
		}
		return picked
	}
	e := newEvidence(spec, some, at(y))
	if extra != nil {
		e.extra = at(extra)
	}
	return e
}

func newEvidence(spec Spec, x [][]float64, y []float64) *evidence {
	t := len(x)
	dim := len(spec.Groups)
	e := &evidence{spec: spec, groups: spec.lengthscales(), t: t, y: y,
		x: make([]float64, dim*t), scaled: make([]float64, dim*t),
		k: linalg.NewFactor(t), slopes: make([]float64, t*t), alpha: make([]float64, t), weights: make([]float64, t)}
	for i, row := range x {
		for c, v := range row {
			e.x[c*t+i] = v
		}
	}
	return e
}

// logPosterior implements the interface density.
func (e *evidence) logPosterior(gradient []float64, h Hyperparameters) (float64, error) {
	value, err := e.logLikelihood(h)
	if err != nil {
		return 0, err
	}
	e.k.InvertFactor()
	e.k.Invert()
	e.fillGradient(gradient, h)
	return value + e.addPrior(gradient, h), nil
}

func (e *evidence) addPrior(gradient []float64, h Hyperparameters) float64 {
	if e.prior != nil {
		return e.prior.add(gradient, h)
	}
	return addPriors(gradient, h)
}

// logDensity is logPosterior without the gradient, which takes most of the time.
func (e *evidence) logDensity(h Hyperparameters) (float64, error) {
	value, err := e.logLikelihood(h)
	return value + e.addPrior(make([]float64, len(h.Lengthscales)+1), h), err
}

// logLikelihood returns the log likelihood. It leaves the factor of the covariance in e.k.
func (e *evidence) logLikelihood(h Hyperparameters) (value float64, err error) {
	e.fillCovariance(h)
	logRoot, ok := e.k.Factorise()
	if !ok {
		return 0, ErrNotPositiveDefinite
	}
	copy(e.alpha, e.y)
	e.k.Solve(e.alpha)
	value = -0.5 * (linalg.Dot(e.y, e.alpha) + 2*logRoot + float64(e.t)*math.Log(2*math.Pi))
	if math.IsNaN(value) {
		return 0, ErrNotPositiveDefinite
	}
	return value, nil
}

func (e *evidence) fillCovariance(h Hyperparameters) {
	constant := e.spec.meanVariance()
	for c, g := range e.spec.Groups {
		inverse := 1 / h.Lengthscales[g]
		for i := c * e.t; i < (c+1)*e.t; i++ {
			e.scaled[i] = e.x[i] * inverse
		}
	}
	for i := range e.t {
		row := e.k.Row(i)
		row[0] = e.spec.priorVariance() + h.Noise
		if e.extra != nil {
			row[0] += e.extra[i]
		}
		k, slopes := row[1:], e.slopes[i*e.t+i+1:(i+1)*e.t]
		clear(k)
		for c := range e.spec.Groups {
			radial.AddSquares(k, e.scaled[c*e.t+i+1:(c+1)*e.t], e.scaled[c*e.t+i])
		}
		radial.EvaluateAll(e.spec.Kernel, k, slopes, k)
		for j := range k {
			k[j] += constant
		}
	}
}

// fillGradient fills gradient with the derivatives of the log likelihood, ½ tr((alpha alphaᵀ - K⁻¹)
// dK/dtheta), with theta the logarithm of each hyperparameter (Rasmussen and Williams, equation
// 5.9).
func (e *evidence) fillGradient(gradient []float64, h Hyperparameters) {
	clear(gradient)
	for i := range e.t {
		row, others := e.k.Row(i), e.alpha[i:]
		gradient[e.groups] += 0.5 * h.Noise * (others[0]*others[0] - row[0])
		own, slopes, weights := others[0], e.slopes[i*e.t+i+1:(i+1)*e.t], e.weights[:e.t-i-1]
		row, others = row[1:], others[1:]
		for j := range weights {
			weights[j] = (own*others[j] - row[j]) * slopes[j]
		}
		for c, g := range e.spec.Groups {
			gradient[g] += radial.WeightedSquares(weights, e.scaled[c*e.t+i+1:(c+1)*e.t], e.scaled[c*e.t+i])
		}
	}
}

// symmetric fills dst (t×t) with the upper part of the covariance.
func (e *evidence) symmetric(dst []float64) []float64 {
	for i := range e.t {
		copy(dst[i*e.t+i:], e.k.Row(i))
	}
	return dst
}

func addPriors(gradient []float64, h Hyperparameters) (value float64) {
	groups := len(h.Lengthscales)
	for g, l := range h.Lengthscales {
		prior, slope := logNormal(math.Log(l), lengthscaleLocation(groups), lengthscaleSpread)
		value += prior
		gradient[g] += slope
	}
	prior, slope := logNormal(math.Log(h.Noise), noiseLocation, noiseSpread)
	gradient[groups] += slope
	return value + prior
}

// checkSome is checkObservations, but requires at least one observation.
func checkSome(spec Spec, x [][]float64, y []float64) error {
	if err := checkObservations(spec, x, y); err != nil {
		return err
	}
	if len(x) == 0 {
		return errors.New("no observations")
	}
	return nil
}

// checkExtra is checkSome, and checks the variances besides the noise.
func checkExtra(spec Spec, x [][]float64, y, extra []float64) error {
	if err := checkSome(spec, x, y); err != nil {
		return err
	}
	if extra != nil && len(extra) != len(y) {
		return fmt.Errorf("%d variances but %d outputs", len(extra), len(y))
	}
	for i, v := range extra {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("variance %d is %g, expected 0 or more and finite", i, v)
		}
	}
	return nil
}

func checkObservations(spec Spec, x [][]float64, y []float64) error {
	if err := spec.validate(); err != nil {
		return err
	}
	if len(x) != len(y) {
		return fmt.Errorf("%d points but %d outputs", len(x), len(y))
	}
	for i, row := range x {
		if len(row) != len(spec.Groups) {
			return fmt.Errorf("point %d has %d coordinates: the process takes %d", i, len(row), len(spec.Groups))
		}
		finite := !math.IsNaN(y[i]) && !math.IsInf(y[i], 0)
		for _, v := range row {
			finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
		if !finite {
			return fmt.Errorf("observation %d: %w", i, ErrNotFinite)
		}
	}
	return nil
}
