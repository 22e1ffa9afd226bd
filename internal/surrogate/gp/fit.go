package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/fbo-node/fbo/internal/recoverpanic"
)

// Limits of the work of Fit.
const (
	maxFitted    = 300 // largest number of observations used; a random subset if there are more
	randomStarts = 2   // random starting points, in addition to the mode of the prior
	iterations   = 40  // of L-BFGS, per start
	evaluations  = 80  // of the density with its gradient, per start
	logLimit     = 20  // on |ln(parameter - floor)|, against overflow
)

// Fit returns the hyperparameters with the largest posterior density given outputs y (length t >=
// 1, standardised) at the points x (t rows). It runs L-BFGS from several starting points and
// returns the best result. The starting points are the mode of the prior and starts, or two
// random points if starts is empty. Lengthscales stay above 0.025 and the noise above 1e-6.
// With more than 300 observations Fit uses a random subset of 300, which limits the time: the
// improvement by using all is not worth the time of a refit after every new observation.
//
// The result depends only on the arguments and rng. If ctx ends first, Fit returns the error of
// ctx; it checks ctx before each evaluation of the density.
func Fit(ctx context.Context, spec Spec, x [][]float64, y []float64, starts []Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	return FitUnder(ctx, spec, nil, x, y, nil, starts, rng)
}

// FitFrom is Fit with one search, which begins at start. It returns the nearest maximum, which need not be the largest.
func FitFrom(ctx context.Context, spec Spec, x [][]float64, y []float64, start Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	if err := start.validate(spec); err != nil {
		return Hyperparameters{}, err
	}
	return climb(ctx, newUnequalEvidence(spec, x, y, nil, maxFitted, rng), [][]float64{encode(start)})
}

// startingPoints returns the mode of the prior and the caller's starts. If there are no starts, it
// adds random points.
func startingPoints(spec Spec, starts []Hyperparameters, rng *rand.Rand) ([][]float64, error) {
	groups := spec.lengthscales()
	points := [][]float64{encode(priorMode(groups))}
	for _, h := range starts {
		if err := h.validate(spec); err != nil {
			return nil, err
		}
		points = append(points, encode(h))
	}
	if len(starts) == 0 {
		for range randomStarts {
			points = append(points, encode(randomStart(groups, rng)))
		}
	}
	return points, nil
}

// climb runs one search from each of the points, and returns the best result.
func climb(ctx context.Context, d density, points [][]float64) (Hyperparameters, error) {
	objective := &objective{density: d, gradient: make([]float64, len(points[0]))}
	best, bestValue := points[0], math.Inf(1)
	for _, point := range points {
		theta, value, err := objective.descend(ctx, point)
		if err != nil {
			return Hyperparameters{}, err
		}
		if value < bestValue {
			best, bestValue = theta, value
		}
	}
	if math.IsInf(bestValue, 1) {
		return Hyperparameters{}, ErrNotPositiveDefinite
	}
	return decode(best), nil
}

// choose returns the observations that a fit uses: all of them, or a random subset of `most` of them
// if there are more.
func choose[T any](x [][]float64, y []T, most int, rng *rand.Rand) ([][]float64, []T) {
	if len(x) <= most {
		return x, y
	}
	order := rng.Perm(len(x))[:most]
	slices.Sort(order)
	var someX [][]float64
	var someY []T
	for _, i := range order {
		someX, someY = append(someX, x[i]), append(someY, y[i])
	}
	return someX, someY
}

// PriorMode returns the mode of the standard prior.
func PriorMode(spec Spec) Hyperparameters { return priorMode(spec.lengthscales()) }

func priorMode(groups int) Hyperparameters {
	h := Hyperparameters{Noise: math.Exp(noiseLocation - noiseSpread*noiseSpread)}
	for range groups {
		l := math.Exp(lengthscaleLocation(groups) - lengthscaleSpread*lengthscaleSpread)
		h.Lengthscales = append(h.Lengthscales, l)
	}
	return h
}

// randomStart returns a random point around the mode of the prior. It varies by less than the
// prior's spread, because searches stall in the flat tails of the prior.
func randomStart(groups int, rng *rand.Rand) Hyperparameters {
	h := priorMode(groups)
	for g := range h.Lengthscales {
		h.Lengthscales[g] *= math.Exp(rng.NormFloat64())
	}
	h.Noise *= math.Exp(rng.NormFloat64())
	return h
}

// encode returns the unconstrained parameters: the logarithms of the amounts above the floors.
func encode(h Hyperparameters) []float64 {
	theta := make([]float64, 0, len(h.Lengthscales)+1)
	for _, l := range h.Lengthscales {
		theta = append(theta, logExcess(l, lengthscaleFloor))
	}
	return append(theta, logExcess(h.Noise, NoiseFloor))
}

// logExcess returns the logarithm of value - floor. It stays a little above the floor, where the
// gradient would vanish.
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

// density is a log posterior density of hyperparameters, up to a constant. logPosterior returns it
// and fills gradient with its derivatives with respect to the logarithms of the lengthscales and
// the noise.
type density interface {
	logPosterior(gradient []float64, h Hyperparameters) (float64, error)
}

// objective is the negative log posterior as a function of the unconstrained parameters. The
// optimiser requests value and gradient separately, mostly at the same point. Both cost nearly the
// same together as one alone, so objective keeps the latest value and gradient.
type objective struct {
	density  density
	theta    []float64 // point of value and gradient
	value    float64   // +Inf if undefined
	gradient []float64
	panicked error // panic of an evaluation; the optimiser evaluates on another goroutine
}

func (o *objective) at(theta []float64) {
	if slices.Equal(theta, o.theta) {
		return
	}
	o.theta = append(o.theta[:0], theta...)
	h := decode(theta)
	value, err := o.density.logPosterior(o.gradient, h)
	if err != nil {
		o.value = math.Inf(1)
		clear(o.gradient)
		return
	}
	o.value = -value
	for i := range o.gradient {
		parameter, floor := h.Noise, NoiseFloor
		if i < len(h.Lengthscales) {
			parameter, floor = h.Lengthscales[i], lengthscaleFloor
		}
		// The derivative with respect to ln(parameter) becomes that with respect to ln(parameter -
		// floor).
		o.gradient[i] *= -(parameter - floor) / parameter
	}
}

// tryAt is at for the optimiser's goroutine. It stores a panic and makes the value +Inf; status
// then ends the search.
func (o *objective) tryAt(theta []float64) {
	_, err := recoverpanic.Call("the density", func() (struct{}, error) { o.at(theta); return struct{}{}, nil })
	if err != nil {
		o.panicked, o.value = err, math.Inf(1)
	}
}

// status ends the search early after a panic or when ctx ends.
func (o *objective) status(ctx context.Context) (optimize.Status, error) {
	if o.panicked != nil {
		return optimize.Failure, o.panicked
	}
	return optimize.NotTerminated, ctx.Err()
}

// descend minimises the objective from start. It returns the best point and the value there. Its
// only error is that of ctx.
func (o *objective) descend(ctx context.Context, start []float64) (theta []float64, value float64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	o.at(start)
	first := o.value
	if math.IsInf(first, 1) {
		return start, first, nil
	}
	problem := optimize.Problem{
		Func:   func(theta []float64) float64 { o.tryAt(theta); return o.value },
		Grad:   func(gradient, theta []float64) { o.tryAt(theta); copy(gradient, o.gradient) },
		Status: func() (optimize.Status, error) { return o.status(ctx) },
	}
	settings := &optimize.Settings{
		GradientThreshold: 1e-3,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 4},
		MajorIterations:   iterations,
		FuncEvaluations:   evaluations,
	}
	// An error means that a line search failed, which often happens at the optimum itself. The best
	// point so far is then a valid result.
	result, _ := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if o.panicked != nil {
		panic(o.panicked)
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if result == nil || len(result.X) != len(start) || !(result.F < first) {
		return start, first, nil
	}
	return result.X, result.F, nil
}
