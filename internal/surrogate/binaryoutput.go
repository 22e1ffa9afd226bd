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

// truth models a truth value: a process that is above 0 where the value is true, observed by the
// sign of the process plus noise. Rasmussen and Williams, "Gaussian Processes for Machine Learning"
// (2006), section 3.6. Its labels are not standardised. It learns their noise, where the book
// learns the variance of the process: only their ratio matters.
type truth struct {
	process *exact
	of      task.Output
}

// Fit returns the mode of the prior while all labels are equal. The likelihood of equal labels is
// largest for a process that hardly varies; the search would then look for the other label only at
// the ends of the space.
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

// Condition ignores the previous posterior, because each label changes the sites of all others.
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

// clusterOdds is the likelihood ratio that a dependence of labels on the design must exceed.
const clusterOdds = 100

// minFailures is the smallest number of zeros for MostFail.
const minFailures = 5

// Clusters reports whether labels, 0 or 1, depend on the design. It compares their probabilities
// under a process with the hyperparameters and under one rate for all designs; the ratio must
// exceed 100.
func Clusters(t *task.Task, obs Observations, h Hyperparameters) (bool, error) {
	sides, err := sidesOf(obs)
	if err != nil {
		return false, err
	}
	if -logSame(obs) <= math.Log(clusterOdds) { // even a process that makes the labels certain would not suffice
		return false, nil
	}
	evidence, err := gp.IntervalEvidence(ConstraintSpec(t), obs.X, sides, h.Process())
	if err != nil {
		return false, err
	}
	return evidence-logSame(obs) > math.Log(clusterOdds), nil
}

// MayCluster reports whether a model of the labels may be useful: either there are enough labels
// for Clusters, or MostFail is true.
func MayCluster(obs Observations) bool {
	return MostFail(obs) || -logSame(obs) > math.Log(clusterOdds)
}

// MostFail reports whether at least five labels are 0 and these are more than half of them. In that
// case a wrong model costs little, and a few ones prove nothing yet.
func MostFail(obs Observations) bool {
	failures := 0
	for _, y := range obs.Y {
		if y == 0 {
			failures++
		}
	}
	return failures >= minFailures && 2*failures > len(obs.Y)
}

// logSame returns the logarithm of the probability of labels under one rate for all designs, with a
// uniform prior on the rate.
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
