package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/task"
)

// truth models what is true or false: a process that is above 0 where it is true, observed
// by sides of 0 with noise. Rasmussen and Williams, "Gaussian Processes for Machine
// Learning" (2006), section 3.6. Its labels are not standardised, and their noise is learned
// where the book learns the variance of the process: only their ratio counts.
type truth struct {
	process *exact
	of      task.Output
}

// Fit keeps the mode of the prior while all labels are the same: such are most likely where
// the process hardly varies, which would have the search look for the other label at the
// ends of the space only.
func (m *truth) Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	sides, err := sidesOf(obs)
	if err != nil {
		return Hyperparameters{}, err
	}
	if !slices.Contains(obs.Y, 0) || !slices.Contains(obs.Y, 1) {
		return OfProcess(gp.PriorMode(m.process.spec)), nil
	}
	h, err := gp.FitIntervals(ctx, m.process.spec, obs.X, sides, startsOf(previous), rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	return OfProcess(h), nil
}

// Condition does not make use of the previous posterior: each label changes what all others
// say.
func (m *truth) Condition(obs Observations, h Hyperparameters, _ Posterior) (Posterior, error) {
	sides, err := sidesOf(obs)
	if err != nil {
		return nil, err
	}
	p, err := gp.NewIntervalPosterior(m.process.spec, obs.X, sides, h.Process())
	if err != nil {
		return nil, err
	}
	return &Constraint{Posterior: &exactPosterior{model: m.process, process: p}, Output: m.of, High: math.Inf(1), Noise: h.Noise}, nil
}

// clusterOdds is by how much labels that depend on the design must be the likelier ones.
const clusterOdds = 100

// minFailures is how many zeros must be more than half of the labels.
const minFailures = 5

// Clusters reports whether labels, 0 or 1, depend on the design: whether a process of the
// hyperparameters makes them a hundred times as probable as a rate that is the same for all
// designs.
func Clusters(t *task.Task, obs Observations, h Hyperparameters) (bool, error) {
	sides, err := sidesOf(obs)
	if err != nil {
		return false, err
	}
	if -logSame(obs) <= math.Log(clusterOdds) { // labels that a process makes certain would not do
		return false, nil
	}
	evidence, err := gp.IntervalEvidence(ConstraintSpec(t), obs.X, sides, h.Process())
	if err != nil {
		return false, err
	}
	return evidence-logSame(obs) > math.Log(clusterOdds), nil
}

// MayCluster reports whether a model of the labels may be useful: there are enough of them for
// Clusters, or MostFail.
func MayCluster(obs Observations) bool {
	return MostFail(obs) || -logSame(obs) > math.Log(clusterOdds)
}

// MostFail reports whether at least five labels are 0 and these are more than half of them. A
// model that errs costs little then, and a few ones are no proof yet.
func MostFail(obs Observations) bool {
	failures := 0
	for _, y := range obs.Y {
		if y == 0 {
			failures++
		}
	}
	return failures >= minFailures && 2*failures > len(obs.Y)
}

// logSame is the logarithm of the probability of labels by a rate that is the same for all
// designs, and of which nothing else is known.
func logSame(obs Observations) float64 {
	successes, n := 0.0, float64(len(obs.Y))
	for _, y := range obs.Y {
		successes += y
	}
	ones, _ := math.Lgamma(successes + 1)
	zeros, _ := math.Lgamma(n - successes + 1)
	all, _ := math.Lgamma(n + 2)
	return ones + zeros - all
}

func sidesOf(obs Observations) ([]gp.Interval, error) {
	if len(obs.Y) == 0 {
		return nil, ErrNoObservations
	}
	sides := make([]gp.Interval, len(obs.Y))
	for i, y := range obs.Y {
		if y != 0 && y != 1 {
			return nil, fmt.Errorf("label %g of observation %d: must be 0 or 1", y, i)
		}
		sides[i] = gp.Side(y == 1)
	}
	return sides, nil
}
