package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// MaxDeviations is the largest distance of an output from the fixed mean, in fixed standard
// deviations. Larger distances are reduced to it, so that no square of a standardised number
// overflows.
const MaxDeviations = 1e100

// fixed is the Gaussian process with the hyperparameters of the task file. Their mean and standard
// deviation standardise the outputs, whatever was observed. Therefore the model also has a
// posterior without observations: the prior.
type fixed struct {
	process *exact
	units   Units // units of outputs for which larger is better
	h       Hyperparameters
}

func newFixed(t *task.Task, process *exact) *fixed {
	f := t.Surrogate.Fixed
	noise := f.NoiseStd / f.SignalStd
	return &fixed{
		process: process,
		units:   fixedUnits(t),
		h:       Hyperparameters{Lengthscales: slices.Clone(f.Lengthscales), Noise: noise * noise},
	}
}

// fixedUnits returns the units of the fixed hyperparameters. It negates the mean if the goal is to
// minimise, because the outputs are negated too.
func fixedUnits(t *task.Task) Units {
	return Units{Level: t.Goal.Sign() * t.Surrogate.Fixed.Mean, Scale: t.Surrogate.Fixed.SignalStd}
}

// Fit returns the fixed hyperparameters.
func (m *fixed) Fit(ctx context.Context, obs Observations, _ *Hyperparameters, _ *rand.Rand) (Hyperparameters, error) {
	if _, err := m.units.standardise(obs); err != nil {
		return Hyperparameters{}, err
	}
	return m.h, ctx.Err()
}

func (m *fixed) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
	y, err := m.units.standardise(obs)
	if err != nil {
		return nil, err
	}
	return m.process.given(obs, y, m.units, h, previous)
}

// standardise returns the outputs in units u, without bending, limited to MaxDeviations.
func (u Units) standardise(obs Observations) ([]float64, error) {
	if err := checkLengths(obs); err != nil {
		return nil, err
	}
	y := make([]float64, len(obs.Y))
	for i, v := range obs.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("value %g of observation %d: must be finite", v, i)
		}
		y[i] = min(max((v-u.Level)/u.Scale, -MaxDeviations), MaxDeviations)
	}
	return y, nil
}

// Outputs returns the standardised outputs and their units, which are those of the posterior given the
// same observations. A task with fixed hyperparameters has units even without observations.
func Outputs(t *task.Task, obs Observations) ([]float64, Units, error) {
	if t.Surrogate.Fixed == nil {
		y, s, err := rescale(obs, endOf(t))
		if err != nil {
			return nil, Units{}, err
		}
		return y, s.units(), nil
	}
	units := fixedUnits(t)
	y, err := units.standardise(obs)
	return y, units, err
}
