package gp

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// The priors: both log-normal, densities of the parameter itself rather than of
// its logarithm. The location of the lengthscale's grows with the dimension, as
// distances do. Their values are those of BoTorch.
const (
	lengthscaleFloor  = 0.025
	lengthscaleSpread = 1.7320508075688772 // sqrt 3
	noiseLocation     = -4.0
	noiseSpread       = 1.0

	// NoiseFloor is the least noise that Fit returns: a variance, in units of
	// the standardised outputs.
	NoiseFloor = 1e-4
)

// LogNoisePrior returns the log prior density of the noise, a positive
// variance, up to a constant.
func LogNoisePrior(noise float64) float64 {
	value, _ := logNormal(math.Log(noise), noiseLocation, noiseSpread)
	return value
}

func lengthscaleLocation(groups int) float64 {
	return math.Sqrt2 + 0.5*math.Log(float64(groups))
}

// logNormal returns the log density at exp(logValue), without its constant, and
// the derivative by logValue.
func logNormal(logValue, location, spread float64) (value, slope float64) {
	z := (logValue - location) / spread
	return -logValue - 0.5*z*z, -1 - z/spread
}

// LogPosterior returns the log posterior density of the hyperparameters, up to
// a constant, given outputs y (length t) at the points x (t rows), and its
// gradient by the logarithms of the parameters: the lengthscales in order, then
// the noise.
func LogPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters) (value float64, gradient []float64, err error) {
	if err := checkObservations(spec, x, y); err != nil {
		return 0, nil, err
	}
	if err := h.validate(spec); err != nil {
		return 0, nil, err
	}
	e := newEvidence(spec, x, y)
	gradient = make([]float64, len(h.Lengthscales)+1)
	value, err = e.logPosterior(gradient, h)
	return value, gradient, err
}

// evidence holds what does not depend on the hyperparameters. It reuses its
// scratch space, so it is for one goroutine.
type evidence struct {
	kernel  string
	t       int
	groups  int
	squares []float64 // per pair i<j and group: the group's part of |x_i-x_j|²
	y       *mat.VecDense

	slopes []float64 // per pair
	k      *mat.SymDense
	alpha  *mat.VecDense
	scaled []float64 // per group, 1/lengthscale²
}

func newEvidence(spec Spec, x [][]float64, y []float64) *evidence {
	t, groups := len(x), spec.lengthscales()
	e := &evidence{
		kernel: spec.Kernel, t: t, groups: groups,
		squares: make([]float64, t*(t-1)/2*groups),
		y:       mat.NewVecDense(t, append([]float64(nil), y...)),
		slopes:  make([]float64, t*(t-1)/2),
		k:       mat.NewSymDense(t, nil),
		alpha:   mat.NewVecDense(t, nil),
		scaled:  make([]float64, groups),
	}
	pair := 0
	for i := range t {
		for j := i + 1; j < t; j++ {
			square := e.squares[pair*groups : (pair+1)*groups]
			for c, g := range spec.Groups {
				d := x[i][c] - x[j][c]
				square[g] += d * d
			}
			pair++
		}
	}
	return e
}

// logPosterior fills gradient when it is not nil.
func (e *evidence) logPosterior(gradient []float64, h Hyperparameters) (float64, error) {
	for g, l := range h.Lengthscales {
		e.scaled[g] = 1 / (l * l)
	}
	e.fillCovariance(h.Noise)
	chol, err := factorise(e.k)
	if err != nil {
		return 0, err
	}
	solve(chol, e.alpha, e.y)
	value := -0.5 * (mat.Dot(e.y, e.alpha) + chol.LogDet() + float64(e.t)*math.Log(2*math.Pi))
	if gradient != nil {
		if err := e.fillGradient(gradient, chol, h.Noise); err != nil {
			return 0, err
		}
	}
	location := lengthscaleLocation(e.groups)
	for i := range e.groups + 1 {
		var prior, slope float64
		if i < e.groups {
			prior, slope = logNormal(math.Log(h.Lengthscales[i]), location, lengthscaleSpread)
		} else {
			prior, slope = logNormal(math.Log(h.Noise), noiseLocation, noiseSpread)
		}
		value += prior
		if gradient != nil {
			gradient[i] += slope
		}
	}
	return value, nil
}

func (e *evidence) fillCovariance(noise float64) {
	pair := 0
	for i := range e.t {
		e.k.SetSym(i, i, 1+noise)
		for j := i + 1; j < e.t; j++ {
			square := 0.0
			for g, s := range e.squares[pair*e.groups : (pair+1)*e.groups] {
				square += s * e.scaled[g]
			}
			k, slope := evaluate(e.kernel, square)
			e.k.SetSym(i, j, k)
			e.slopes[pair] = slope
			pair++
		}
	}
}

// fillGradient is Rasmussen and Williams, equation 5.9: one half of
// tr((alpha alphaᵀ - K⁻¹) dK/dtheta).
func (e *evidence) fillGradient(gradient []float64, chol *mat.Cholesky, noise float64) error {
	var inverse mat.SymDense
	var condition mat.Condition
	if err := chol.InverseTo(&inverse); err != nil && !errors.As(err, &condition) {
		return fmt.Errorf("gp: %w", err)
	}
	clear(gradient)
	alpha := e.alpha.RawVector().Data
	raw := inverse.RawSymmetric()
	pair := 0
	for i := range e.t {
		row := raw.Data[i*raw.Stride : i*raw.Stride+e.t]
		gradient[e.groups] += 0.5 * noise * (alpha[i]*alpha[i] - row[i])
		for j := i + 1; j < e.t; j++ {
			weight := (alpha[i]*alpha[j] - row[j]) * e.slopes[pair]
			for g, s := range e.squares[pair*e.groups : (pair+1)*e.groups] {
				gradient[g] += weight * s * e.scaled[g]
			}
			pair++
		}
	}
	return nil
}

func checkObservations(spec Spec, x [][]float64, y []float64) error {
	if err := spec.validate(); err != nil {
		return err
	}
	if len(x) == 0 {
		return errors.New("gp: no observations")
	}
	if len(x) != len(y) {
		return fmt.Errorf("gp: %d points but %d outputs", len(x), len(y))
	}
	for i, row := range x {
		if len(row) != len(spec.Groups) {
			return fmt.Errorf("gp: point %d has %d coordinates: the process takes %d", i, len(row), len(spec.Groups))
		}
		for _, v := range append([]float64{y[i]}, row...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("observation %d: %w", i, ErrNotFinite)
			}
		}
	}
	return nil
}
