package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// MaxDeviations is how far from its mean an output of a known process counts to be at
// most: what lies further away is taken for that. No square of a number in standardised
// units overflows.
const MaxDeviations = 1e100

// known is the Gaussian process that the task knows beforehand. Its outputs are
// standardised by the mean and the deviation that are known, whatever was observed, so that
// it has a posterior without observations too, which is the prior.
type known struct {
	process *exact
	units   Units // of outputs of which larger are better
	h       Hyperparameters
}

func newKnown(t *task.Task, process *exact) *known {
	k := t.Surrogate.Known
	noise := k.Noise / k.Deviation
	return &known{
		process: process,
		units:   knownUnits(t),
		h:       Hyperparameters{Lengthscales: slices.Clone(k.Lengthscales), Noise: noise * noise},
	}
}

// knownUnits turns the mean with the outputs, which are negated where the goal is to
// minimise.
func knownUnits(t *task.Task) Units {
	return Units{Level: t.Goal.Sign() * t.Surrogate.Known.Mean, Scale: t.Surrogate.Known.Deviation}
}

// Fit returns what is known.
func (m *known) Fit(ctx context.Context, obs Observations, _ *Hyperparameters, _ *rand.Rand) (Hyperparameters, error) {
	if _, err := m.units.standardise(obs); err != nil {
		return Hyperparameters{}, err
	}
	return m.h, ctx.Err()
}

func (m *known) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
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

// Outputs is Standardise for the objective of a task whose process may be known. A known
// process has its units without observations too.
func Outputs(t *task.Task, obs Observations) ([]float64, Units, error) {
	if t.Surrogate.Known == nil {
		return Standardise(obs)
	}
	units := knownUnits(t)
	y, err := units.standardise(obs)
	return y, units, err
}
