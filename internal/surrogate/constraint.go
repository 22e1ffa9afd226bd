package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/task"
)

// Constraint is the posterior of a constraint's output, with its limits in the units of the
// posterior. If the constraint is an upper limit, the output is multiplied by -1. Low values are
// then bad, and the bent tail lies there, as for an objective.
type Constraint struct {
	Posterior
	Output task.Output
	// Low and High are the smallest and the largest value that satisfy the constraint. One of them
	// may be infinite. For a boolean output, the posterior is that of the latent function, without
	// the noise of the label: the function is above 0 where the output is true.
	Low, High float64
	// Noise is the variance that is added to the function before it is compared with the limits:
	// the noise of a label for a boolean output, otherwise 0.
	Noise float64
}

// Given returns the posterior that also uses reports of peers on whether their designs satisfied
// the constraint. x holds the encoded designs, one row each; kept[i] is true if design i satisfied
// the constraint. If the constraint has two limits, Given ignores violations, because the output
// may lie beyond either limit. Without usable reports it returns c itself.
func (c *Constraint) Given(x [][]float64, kept []bool) (*Constraint, error) {
	p, ok := c.Posterior.(*exactPosterior)
	if !ok {
		return nil, fmt.Errorf("a constraint with a posterior of type %T knows no sides", c.Posterior)
	}
	var points [][]float64
	var within []gp.Interval
	for i := range x {
		side := gp.Interval{Low: c.Low, High: c.High}
		if side.High-side.Low < normal.MinWidth { // lower and upper limit are equal; the probability of a single value would be 0
			side.High = side.Low + normal.MinWidth
		}
		if !kept[i] {
			switch {
			case math.IsInf(c.High, 1):
				side = gp.Interval{Low: math.Inf(-1), High: c.Low}
			case math.IsInf(c.Low, -1):
				side = gp.Interval{Low: c.High, High: math.Inf(1)}
			default:
				continue
			}
		}
		points, within = append(points, x[i]), append(within, side)
	}
	if len(points) == 0 {
		return c, nil
	}
	process, err := p.process.Within(points, within)
	if err != nil {
		return nil, err
	}
	given := *c
	given.Posterior = &exactPosterior{model: p.model, process: process, units: p.units}
	return &given, nil
}

// WithPending returns the posterior given that the encoded designs x, at least one, have the
// outputs that c predicts: the mean for a number (see [Pending]), the likelier value for a boolean.
func (c *Constraint) WithPending(x [][]float64) (*Constraint, error) {
	if c.Noise > 0 {
		kept := make([]bool, len(x))
		for i, at := range x {
			mean, _ := c.Predict(at)
			kept[i] = mean >= c.Low
		}
		return c.Given(x, kept)
	}
	known, ok := c.Posterior.(*exactPosterior)
	if !ok {
		return nil, fmt.Errorf("a constraint with a posterior of type %T: expected an exact one", c.Posterior)
	}
	conditioned, err := known.believing(x)
	if err != nil {
		return nil, err
	}
	pending := *c
	pending.Posterior = conditioned
	return &pending, nil
}

// NewConstraint returns the model of a constraint's output. For a number it is the exact Gaussian
// process, whatever surrogate the task has for its objective; for a boolean it is the process with
// the probit likelihood. Its posteriors have the type *Constraint. Observations are the measured
// numbers, or 1 for true and 0 for false.
func NewConstraint(t *task.Task, c task.Constraint) (Model, error) {
	shared, err := SharedMap(t)
	if err != nil {
		return nil, err
	}
	if c.Truth {
		return &truth{process: newExact(t, ConstraintSpec(t), shared), of: c.Output}, nil
	}
	m := &constraint{process: newExact(t, ConstraintSpec(t), shared), of: c, sign: 1}
	switch {
	case math.IsInf(c.Low, -1):
		m.sign = -1
	case !math.IsInf(c.High, 1):
		m.process.end = straight // with two limits, both tails are bad, so neither is bent
	}
	return m, nil
}

// constraint models a numeric output. sign is -1 for an upper limit, else 1.
type constraint struct {
	process *exact
	of      task.Constraint
	sign    float64
}

// turned returns the outputs times sign, so that low values are bad. A violating output that has
// diverged is replaced by the worst of the other violating outputs: the model needs to know only
// that the limit is violated.
func (m *constraint) turned(obs Observations) Observations {
	low, high := m.of.Low, m.of.High
	if m.sign < 0 {
		low, high = -high, math.Inf(1)
	}
	y := make([]float64, len(obs.Y))
	for i, v := range obs.Y {
		y[i] = m.sign * v
	}
	limitDiverged(obs.X, y, low)
	if !math.IsInf(high, 1) {
		negate(y)
		limitDiverged(obs.X, y, -high)
		negate(y)
	}
	return Observations{X: obs.X, Y: y}
}

// limitDiverged replaces the diverged outputs below the limit by the worst output there that has
// not diverged.
func limitDiverged(x [][]float64, y []float64, limit float64) {
	diverged := Diverged(Observations{X: x, Y: y})
	if !slices.Contains(diverged, true) {
		return
	}
	worst, best := math.Inf(1), slices.Max(y)
	for i, v := range y {
		if !diverged[i] || v >= limit {
			worst = min(worst, v)
		}
	}
	for i, v := range y {
		if diverged[i] && v < limit {
			y[i] = min(worst, limit-(best-worst))
		}
	}
}

func negate(y []float64) {
	for i := range y {
		y[i] = -y[i]
	}
}

func (m *constraint) Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	return m.process.Fit(ctx, m.turned(obs), previous, rng)
}

func (m *constraint) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
	obs = m.turned(obs)
	_, s, err := rescale(obs, m.process.end)
	if err != nil {
		return nil, err
	}
	var known Posterior
	if before, ok := previous.(*Constraint); ok {
		known = before.Posterior
	}
	p, err := m.process.Condition(obs, h, known)
	if err != nil {
		return nil, err
	}
	c := &Constraint{Posterior: p, Output: m.of.Output, Low: s.of(m.of.Low), High: s.of(m.of.High)}
	if m.sign < 0 {
		c.Low, c.High = s.of(-m.of.High), math.Inf(1)
	}
	return c, nil
}
