package gp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// The bounds on the work of Fit.
const (
	randomStarts = 2  // beside the caller's and the mode of the prior
	iterations   = 40 // of L-BFGS, per start
	evaluations  = 80 // of the density and its gradient, per start
	logLimit     = 20 // on |ln(parameter - floor)|, against overflow
)

// Fit returns the hyperparameters of largest posterior density given outputs y
// (length t >= 1, standardised) at the points x (t rows). It climbs by L-BFGS
// from every one of starts (nil allowed), from the mode of the prior and, when
// starts is empty, from a few random points, and keeps the best. Lengthscales
// stay above 0.025 and the noise above 1e-4.
//
// The result is a function of the arguments and rng alone.
func Fit(spec Spec, x [][]float64, y []float64, starts []Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	if err := checkObservations(spec, x, y); err != nil {
		return Hyperparameters{}, err
	}
	groups := spec.lengthscales()
	points := [][]float64{encode(priorMode(groups))}
	for _, h := range starts {
		if err := h.validate(spec); err != nil {
			return Hyperparameters{}, err
		}
		points = append(points, encode(h))
	}
	if len(starts) == 0 {
		for range randomStarts {
			points = append(points, encode(randomStart(groups, rng)))
		}
	}
	e := newEvidence(spec, x, y)
	best, bestValue := points[0], math.Inf(-1)
	var firstErr error
	for _, point := range points {
		theta, value, err := climb(e, point)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		if err == nil && value > bestValue {
			best, bestValue = theta, value
		}
	}
	if math.IsInf(bestValue, -1) {
		return Hyperparameters{}, firstErr
	}
	return decode(best), nil
}

func priorMode(groups int) Hyperparameters {
	h := Hyperparameters{Noise: math.Exp(noiseLocation - noiseSpread*noiseSpread)}
	for range groups {
		l := math.Exp(lengthscaleLocation(groups) - lengthscaleSpread*lengthscaleSpread)
		h.Lengthscales = append(h.Lengthscales, l)
	}
	return h
}

// randomStart scatters around the mode by less than the prior's width, whose
// tails are flat places where a climb stalls.
func randomStart(groups int, rng *rand.Rand) Hyperparameters {
	h := priorMode(groups)
	for g := range h.Lengthscales {
		h.Lengthscales[g] *= math.Exp(rng.NormFloat64())
	}
	h.Noise *= math.Exp(rng.NormFloat64())
	return h
}

// encode gives the unconstrained parameters: logarithms of what exceeds the
// floors.
func encode(h Hyperparameters) []float64 {
	theta := make([]float64, 0, len(h.Lengthscales)+1)
	for _, l := range h.Lengthscales {
		theta = append(theta, logExcess(l, lengthscaleFloor))
	}
	return append(theta, logExcess(h.Noise, NoiseFloor))
}

// logExcess keeps a little way from the floor, where the gradient vanishes.
func logExcess(value, floor float64) float64 {
	return math.Log(max(value-floor, 0.01*floor))
}

func decode(theta []float64) Hyperparameters {
	groups := len(theta) - 1
	h := Hyperparameters{Lengthscales: make([]float64, groups)}
	for g := range groups {
		h.Lengthscales[g] = lengthscaleFloor + math.Exp(limit(theta[g]))
	}
	h.Noise = NoiseFloor + math.Exp(limit(theta[groups]))
	return h
}

func limit(logExcess float64) float64 { return min(max(logExcess, -logLimit), logLimit) }

func climb(e *evidence, start []float64) (theta []float64, value float64, err error) {
	first, err := e.logPosterior(nil, decode(start))
	if err != nil {
		return nil, 0, err
	}
	problem := optimize.Problem{
		Func: func(theta []float64) float64 {
			value, err := e.logPosterior(nil, decode(theta))
			if err != nil || math.IsNaN(value) {
				return math.Inf(1)
			}
			return -value
		},
		Grad: func(gradient, theta []float64) {
			h := decode(theta)
			if _, err := e.logPosterior(gradient, h); err != nil {
				clear(gradient)
				return
			}
			for i := range gradient {
				parameter, floor := h.Noise, NoiseFloor
				if i < e.groups {
					parameter, floor = h.Lengthscales[i], lengthscaleFloor
				}
				// From ln(parameter) to ln(parameter - floor).
				gradient[i] *= -(parameter - floor) / parameter
			}
		},
	}
	settings := &optimize.Settings{
		GradientThreshold: 1e-3,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 4},
		MajorIterations:   iterations,
		FuncEvaluations:   evaluations,
	}
	// An error means that a line search gave up, often at the optimum itself;
	// the best point so far is then as good as any.
	result, _ := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if result == nil || len(result.X) != len(start) || !(-result.F > first) {
		return start, first, nil
	}
	return result.X, -result.F, nil
}
