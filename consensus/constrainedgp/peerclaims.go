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
	minScore   = -4   // lowest score of a claim that the own posterior does not contradict
	maxClaims  = 20   // designs that are considered together
	sameDesign = 1e-6 // in every coordinate; a float32 on the wire is exact to 6e-8
)

// claim is a design that peers or the user consider near-optimal.
type claim struct {
	x            []float64 // encoded, a design of the space
	peers        int       // number of peers that claim it; 0 if only the node's user does
	observations int       // behind the peers' claims

	share    *strategy.Share // nil for the user's, and for what has passed a private comparison
	mean     float64         // of the own posterior
	variance float64
}

// score returns the number of deviations of the own posterior by which the claim lies above the
// threshold, NaN if that is undefined.
func (c claim) score(threshold float64) float64 { return (c.mean - threshold) / math.Sqrt(c.variance) }

// comparison reports whether a peer's design is better by its author's bound than the agent's threshold
// δ, in units of the objective with larger values better.
type comparison func(view strategy.View, share strategy.Share, threshold float64) bool

// exceeds compares the bound of a share with the threshold. A share without a bound passes.
func exceeds(_ strategy.View, share strategy.Share, threshold float64) bool {
	n, ok := share.Value.(protocol.NearOptimal)
	return ok && (n.Bound == nil || *n.Bound > threshold)
}

// claimsOf returns the claims of peers and of the node's user.
func claimsOf(t *task.Task, view strategy.View) []claim {
	var all []claim
	whole := t.Space.Whole() // peers may search where this node's own limits forbid
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

// predict sets the own posterior's predictions for the claims, and returns the largest mean. Without
// constraints the threshold is at least that; otherwise the search for the maximum has missed a claim.
func predict(claims []claim, posterior surrogate.Posterior) (highest float64) {
	highest = math.Inf(-1)
	for i := range claims {
		c := &claims[i]
		c.mean, c.variance = posterior.Predict(c.x)
		highest = max(highest, c.mean)
	}
	return highest
}

// keepable returns the claims that the own posteriors allow to be feasible, the most probable first.
func keepable(view strategy.View, claims []claim) []claim {
	limits := search.Limits(view)
	probability := acquisition.LogFeasibility(limits...)
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !canKeep(limits, c.x) })
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Compare(probability.Value(b.x), probability.Value(a.x))
	})
	return distinct(claims)
}

// canKeep reports whether the own posteriors allow that the design at x satisfies the limits, by the
// rule of plausible.
func canKeep(limits []acquisition.Limit, x []float64) bool {
	return !slices.ContainsFunc(limits, func(l acquisition.Limit) bool {
		mean, sd := predicted(l, x)
		return !(mean-l.Low >= minScore*sd && l.High-mean >= minScore*sd)
	})
}

// canBreak reports whether the own posterior allows that the design at x violates a one-sided limit. It
// is false for a two-sided limit, since a label does not state which side is violated.
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

// given returns the view with posteriors of the constraints that are conditioned on which of the
// designs at x satisfy them.
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

// plausible returns the claims that the own posterior does not contradict, the most plausible first. It
// returns at most maxClaims and merges equal ones.
func plausible(claims []claim, threshold float64) []claim {
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !(c.score(threshold) >= minScore) })
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(b.score(threshold), a.score(threshold)) })
	return distinct(claims)
}

// distinct returns the first maxClaims claims; it merges equal ones.
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
