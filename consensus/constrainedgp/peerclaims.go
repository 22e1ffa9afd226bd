package constrainedgp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	minScore   = -4   // claims with a lower score contradict the own posterior
	maxClaims  = 20   // maximum number of designs that are considered together
	sameDesign = 1e-6 // claims count as equal if no coordinate differs by more; float32 coordinates in messages are exact to 6e-8
)

// claim is a design that peers or the node's user consider near-optimal.
type claim struct {
	x            []float64 // encoded, a design of the space
	peers        int       // number of peers that claim it; 0 if only the node's user does
	observations int       // sum of the observations that these peers report

	share    *strategy.Share // the peer's share; nil for a design of the user or one received after a private comparison
	mean     float64         // posterior mean at x, set by predict
	variance float64
}

// score returns the number of posterior standard deviations by which the posterior mean at the
// claim exceeds the threshold. It returns NaN if that is undefined.
func (c claim) score(threshold float64) float64 { return (c.mean - threshold) / math.Sqrt(c.variance) }

// comparison is a function that reports whether the bound of a peer's design exceeds the agent's
// threshold δ. Both are in units of the objective, with larger values better.
type comparison func(view strategy.View, share strategy.Share, threshold float64) bool

// exceeds is the comparison of a share's bound with the threshold. A share without a bound passes.
func exceeds(_ strategy.View, share strategy.Share, threshold float64) bool {
	n, ok := share.Value.(protocol.NearOptimal)
	return ok && (n.Bound == nil || *n.Bound > threshold)
}

// claimsOf returns the claims of peers and of the node's user.
func claimsOf(t *task.Task, view strategy.View) []claim {
	var all []claim
	whole := t.Space.Whole() // peers may search outside of the limits that this node has set for itself
	for share, n := range strategy.Shares[protocol.NearOptimal](view) {
		x := whole.Encode(whole.Decode(n.Point.Encoded(whole)))
		all = append(all, claim{x: x, peers: 1, observations: n.Observations, share: share})
	}
	passed, _ := strategy.ResultOf[received](view, protocol.NearOptimalKind)
	for _, n := range passed {
		x := whole.Encode(whole.Decode(n.Point.Encoded(whole)))
		all = append(all, claim{x: x, peers: 1, observations: n.Observations})
	}
	for _, design := range view.PriorDesigns {
		if t.Space.Check(design) == nil {
			all = append(all, claim{x: t.Space.Encode(design)})
		}
	}
	return all
}

// predict sets mean and variance of the claims by the own posterior, and returns the largest mean.
// On a task without constraints, the threshold must be at least that mean. Otherwise the search for
// the maximum has missed it.
func predict(claims []claim, posterior surrogate.Posterior) (highest float64) {
	highest = math.Inf(-1)
	for i := range claims {
		c := &claims[i]
		c.mean, c.variance = posterior.Predict(c.x)
		highest = max(highest, c.mean)
	}
	return highest
}

// keepable returns the claims that can be feasible by the own posteriors, the most probable first.
func keepable(view strategy.View, claims []claim) []claim {
	limits := search.Limits(view)
	probability := acquisition.LogFeasibility(limits...)
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !canKeep(limits, c.x) })
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Compare(probability.Value(b.x), probability.Value(a.x))
	})
	return distinct(claims)
}

// canKeep reports whether the design at x can satisfy the limits by the own posteriors: for each
// limit, a value on the allowed side lies within four (-minScore) deviations of the mean.
func canKeep(limits []acquisition.Limit, x []float64) bool {
	return !slices.ContainsFunc(limits, func(l acquisition.Limit) bool {
		mean, sd := predicted(l, x)
		return !(mean-l.Low >= minScore*sd && l.High-mean >= minScore*sd)
	})
}

// canBreak reports whether the design at x can violate a one-sided limit by the own posterior. It
// returns false for a two-sided limit, since a label does not state which side is violated.
func canBreak(l acquisition.Limit, x []float64) bool {
	if !math.IsInf(l.Low, -1) && !math.IsInf(l.High, 1) {
		return false
	}
	mean, sd := predicted(l, x)
	return l.Low-mean >= minScore*sd || mean-l.High >= minScore*sd
}

func predicted(l acquisition.Limit, x []float64) (mean, sd float64) {
	mean, variance := l.Predict(x)
	return mean, math.Sqrt(variance + l.Noise)
}

// given returns the view with posteriors of the constraints that are conditioned on the designs x:
// design i satisfies all constraints if kept[i] is true, and violates them otherwise.
func given(view strategy.View, x [][]float64, kept []bool) (strategy.View, error) {
	view.Constraints = slices.Clone(view.Constraints)
	for i, c := range view.Constraints {
		conditioned, err := c.Given(x, kept)
		if err != nil {
			return view, fmt.Errorf("constraint %q: %w", c.Output, err)
		}
		view.Constraints[i] = conditioned
	}
	return view, nil
}

// plausible returns the claims that do not contradict the own posterior, the most plausible first.
// It merges equal claims and returns at most maxClaims.
func plausible(claims []claim, threshold float64) []claim {
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !(c.score(threshold) >= minScore) })
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(b.score(threshold), a.score(threshold)) })
	return distinct(claims)
}

// distinct merges equal claims and returns the first maxClaims of the rest.
func distinct(claims []claim) (all []claim) {
	for _, c := range claims {
		same := func(other claim) bool { return near(c.x, other.x) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].peers += c.peers
			all[i].observations = strategy.AddObservations(all[i].observations, c.observations)
		} else if len(all) < maxClaims {
			all = append(all, c)
		}
	}
	return all
}

func near(a, b []float64) bool {
	for i, v := range a {
		if math.Abs(v-b[i]) > sameDesign {
			return false
		}
	}
	return true
}
