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

// truth models a boolean output. A latent process is above 0 where the value is true, and each
// label is the sign of the process plus noise (Rasmussen and Williams, "Gaussian Processes for
// Machine Learning" (2006), section 3.6). The labels are not standardised. Only the ratio of the
// noise to the variance of the process matters: the book learns the variance, and truth learns the
// noise.
type truth struct {
	process *exact
	of      task.Output
}

// Fit returns the mode of the prior while all labels are equal. The likelihood of equal labels is
// largest for a process that hardly varies. With such a process the search would look for the other
// label only at the borders of the space.
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

// Condition ignores the previous posterior, because each new label changes the sites of expectation
// propagation for all others.
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

// clusterOdds is the likelihood ratio above which Clusters reports that labels depend on the
// design.
const clusterOdds = 100

// minFailures is the smallest number of labels 0 for which MostFail returns true.
const minFailures = 5

// Clusters reports whether labels, 0 or 1, depend on the design. It computes the probability of the
// labels under a process with hyperparameters h, and under one rate for all designs. The first must
// be more than 100 times the second.
func Clusters(t *task.Task, obs Observations, h Hyperparameters) (bool, error) {
	sides, err := sidesOf(obs)
	if err != nil {
		return false, err
	}
	if -logSame(obs) <= math.Log(clusterOdds) { // even a process that is certain of all labels would not reach the odds
		return false, nil
	}
	evidence, err := gp.IntervalEvidence(ConstraintSpec(t), obs.X, sides, h.Process())
	if err != nil {
		return false, err
	}
	return evidence-logSame(obs) > math.Log(clusterOdds), nil
}

// MayCluster reports whether a model of the labels may be useful. This is so if MostFail is true,
// or if there are enough labels that Clusters could return true.
func MayCluster(obs Observations) bool {
	return MostFail(obs) || -logSame(obs) > math.Log(clusterOdds)
}

// MostFail reports whether at least five labels are 0 and more than half of all labels are 0. In
// that case a wrong model of feasibility costs little, and the few labels 1 are not yet enough for
// Clusters.
func MostFail(obs Observations) bool {
	failures := 0
	for _, y := range obs.Y {
		if y == 0 {
			failures++
		}
	}
	return failures >= minFailures && 2*failures > len(obs.Y)
}

// logSame returns the logarithm of the probability of the labels under one rate for all designs,
// with a uniform prior on the rate.
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
