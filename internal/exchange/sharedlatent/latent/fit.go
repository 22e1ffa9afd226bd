package latent

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Limits of the work of Fit, and of its search.
const (
	iterations  = 60  // maximum number of L-BFGS iterations per start
	evaluations = 120 // maximum number of evaluations of the evidence with its gradient, per start
	difference  = 1e-4
	logLimit    = 12 // maximum distance of a parameter from the mean of its prior
)

// normal is the normal prior of one parameter, as encoded by [encode].
type normal struct{ mean, deviation float64 }

// priors returns the priors of all parameters, in the order of encode. The typical lengthscale is
// that of the prior of package gp. Latent functions vary on shorter lengths than the smoothed ones.
// The priors of the noise and of the own variance are narrow. Otherwise the density would be
// largest for functions that are too similar, if there are few observations.
func (s Spec) priors() (all []normal) {
	groups := s.groups()
	typical := math.Sqrt2 + 0.5*math.Log(float64(groups)) - 3
	for q := range s.Latents {
		all = append(all, slices.Repeat([]normal{{2*typical - 0.7 + 1.5*float64(q), 1}}, groups)...)
	}
	all = append(all, slices.Repeat([]normal{{2*typical - 1, 3}}, s.Latents*groups)...)
	all = append(all, slices.Repeat([]normal{{1 / math.Sqrt(float64(s.Latents)), 1}}, s.Latents)...)
	all = append(all, normal{-4, 0.7})
	if s.Own {
		all = append(all, normal{math.Log(0.3), 0.7})
		all = append(all, slices.Repeat([]normal{{typical, math.Sqrt(3)}}, groups)...)
	}
	return all
}

// PriorMode returns the hyperparameters at the mode of their priors.
func (s Spec) PriorMode() Hyperparameters {
	var theta []float64
	for _, p := range s.priors() {
		theta = append(theta, p.mean)
	}
	return decode(s, theta)
}

// Fit returns the hyperparameters with the largest posterior density, given peers' statements and
// the own observations, of which there must be at least one. It climbs by L-BFGS from several
// starts: the mode of the priors, a point that gives peers little weight (only with Spec.Own), and
// previous if that is not nil.
//
// In these climbs the squared lengthscales of the latent functions are held at latent. Unless hold
// is true, Fit then learns them too, from the best point so far. The result depends only on the
// arguments. If ctx ends before the fit does, Fit returns the error of ctx.
func (s Spec) Fit(ctx context.Context, said *Gathered, x [][]float64, y []float64, latent [][]float64, hold bool, previous *Hyperparameters) (Hyperparameters, error) {
	if err := s.checkObservations(x, y); err != nil {
		return Hyperparameters{}, err
	}
	if len(x) == 0 {
		return Hyperparameters{}, errors.New("no observations")
	}
	held, err := s.marginalOf(said, latent)
	if err != nil {
		return Hyperparameters{}, err
	}
	c := &climb{evidence: evidence{s, said, x, y}, priors: s.priors(), held: held}
	best, bestValue := []float64(nil), math.Inf(1)
	for _, h := range s.starts(previous) {
		h.Latent = latent
		theta, value, err := c.descend(ctx, encode(s, h))
		if err != nil {
			return Hyperparameters{}, err
		}
		if value < bestValue {
			best, bestValue = theta, value
		}
	}
	if best == nil {
		return Hyperparameters{}, errNotDefinite
	}
	if !hold {
		c.held = nil
		if best, _, err = c.descend(ctx, best); err != nil {
			return Hyperparameters{}, err
		}
	}
	return decode(s, best), nil
}

func (s Spec) starts(previous *Hyperparameters) []Hyperparameters {
	all := []Hyperparameters{s.PriorMode()}
	if s.Own {
		lone := s.PriorMode()
		lone.Own = 0.9
		for q := range lone.Gains {
			lone.Gains[q] = 0.1
		}
		all = append(all, lone)
	}
	if previous != nil {
		all = append(all, *previous)
	}
	return all
}

// climb is the state of one fit.
type climb struct {
	evidence evidence
	priors   []normal
	held     *marginal // distribution of v with the held lengthscales of the latent functions; nil if these are learned
}

// at returns minus the log density and fills the gradient. It returns +Inf if the density cannot be
// computed.
func (c *climb) at(gradient, theta []float64) float64 {
	for i, p := range c.priors {
		if !(math.Abs(theta[i]-p.mean) <= logLimit) {
			return math.Inf(1)
		}
	}
	s := c.evidence.spec
	free, h := s.Latents*s.groups(), decode(s, theta)
	var value float64
	var ok bool
	private := gradient[free:]
	if c.held != nil {
		clear(gradient[:free])
		value, ok = c.evidence.given(c.held, h, private)
	} else {
		value, ok = c.evidence.at(h, private)
		moved := slices.Clone(theta)
		for i := range free {
			sides := [2]float64{}
			for k, sign := range []float64{1, -1} {
				moved[i] = theta[i] + sign*difference
				side, fine := c.evidence.at(decode(s, moved), nil)
				sides[k], ok = side, ok && fine
			}
			moved[i] = theta[i]
			gradient[i] = (sides[0] - sides[1]) / (2 * difference)
		}
	}
	if !ok {
		return math.Inf(1)
	}
	for i, p := range c.priors {
		if i < free && c.held != nil {
			continue
		}
		z := (theta[i] - p.mean) / p.deviation
		value -= 0.5 * z * z
		gradient[i] -= z / p.deviation
	}
	for i := range gradient {
		gradient[i] = -gradient[i]
	}
	return -value
}

func (c *climb) descend(ctx context.Context, start []float64) ([]float64, float64, error) {
	gradient, at, last := make([]float64, len(start)), slices.Clone(start), 0.0
	last = c.at(gradient, at)
	first := last
	if math.IsInf(first, 1) {
		return start, first, ctx.Err()
	}
	move := func(theta []float64) {
		if !slices.Equal(theta, at) {
			copy(at, theta)
			last = c.at(gradient, at)
		}
	}
	problem := optimize.Problem{
		Func:   func(theta []float64) float64 { move(theta); return last },
		Grad:   func(dst, theta []float64) { move(theta); copy(dst, gradient) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	settings := &optimize.Settings{
		GradientThreshold: 1e-3,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 4},
		MajorIterations:   iterations,
		FuncEvaluations:   evaluations,
	}
	result, _ := optimize.Minimize(problem, start, settings, &optimize.LBFGS{}) // an error means only that a line search failed
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if result == nil || len(result.X) != len(start) || !(result.F < first) {
		return start, first, nil
	}
	return result.X, result.F, nil
}
