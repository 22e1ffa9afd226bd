package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// MaxDeviations is how far from its mean an output under fixed hyperparameters counts to be at
// most: what lies further away is taken for that. No square of a number in standardised
// units overflows.
const MaxDeviations = 1e100

// fixed is the Gaussian process with the hyperparameters of the task file. Their mean and
// standard deviation standardise its outputs, whatever was observed, so that it has a posterior without observations too, which is the prior.
type fixed struct {
	process *exact
	units   Units // of outputs of which larger are better
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

// fixedUnits turns the mean with the outputs, which are negated where the goal is to
// minimise.
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
	return m.process.given(obs.X, y, m.units, h, previous)
}

// standardise returns outputs in these units, nothing bent, up to MaxDeviations.
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

// Outputs is Standardise for the objective of a task whose hyperparameters may be fixed.
// With these it has its units without observations too.
func Outputs(t *task.Task, obs Observations) ([]float64, Units, error) {
	if t.Surrogate.Fixed == nil {
		return Standardise(obs)
	}
	units := fixedUnits(t)
	y, err := units.standardise(obs)
	return y, units, err
}
