package constrainedgp

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

// Limits on the work of a suggestion.
const (
	maxLabels    = 64 // maximum number of labels of all peers together
	maxLabellers = 64 // maximum number of peers whose labels are used; drawn anew for each trial
)

// feasibilityLabels holds the labels that the agent uses, and how many peers and observations they
// come from.
type feasibilityLabels struct {
	x            [][]float64
	kept         []bool
	feasible     [][]float64 // the designs of x that are feasible
	peers        int
	observations int // sum of the observations that these peers report
}

// byLabels chooses the design after the starting designs if peers share only which of their designs
// were feasible. It maximises the expected improvement, with posteriors of the constraints
// conditioned on these labels. If it uses no label, it suggests the design of alone.LogEI. It does
// the same while [search.Uninformed] returns true and no peer has a feasible design.
func (s Strategy) byLabels(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	t := applyLabels(view, seed.Stream("which peers", trial))
	if len(t.x) == 0 || len(t.feasible) == 0 && search.Uninformed(view) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	known, err := given(view, t.x, t.kept)
	if err != nil { // a peer's share must not stop the agent
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	f, _ := s.alone.Score(known)
	why := strategy.Why{Source: "designs", Phrase: "expected improvement, given the prior designs", PeerCount: t.peers, Observations: t.observations}
	if t.peers > 0 {
		why.Phrase = "expected improvement, given what " + sanitize.Count(t.peers, "peer") + " found feasible"
	}
	return s.maximise(ctx, view, trial, seed, f, t.feasible[:min(len(t.feasible), aroundClaims)], why)
}

// applyLabels collects labels that the own posteriors do not contradict. It takes the latest label
// of each peer first, then the one before, and so on. Infeasible designs are used only if the task
// has one constraint with one limit, since a label does not state which of several limits is
// violated.
func applyLabels(view strategy.View, rng *rand.Rand) (t feasibilityLabels) {
	limits := search.Limits(view)
	if len(limits) == 0 {
		return t
	}
	add := func(x []float64, feasible bool) bool {
		if feasible && !canKeep(limits, x) ||
			!feasible && (len(view.Task.Bounds()) > 1 || !canBreak(limits[0], x)) {
			return false
		}
		t.x, t.kept = append(t.x, x), append(t.kept, feasible)
		if feasible {
			t.feasible = append(t.feasible, x)
		}
		return true
	}
	for _, design := range view.PriorDesigns {
		if view.Task.Space.Check(design) == nil && len(t.x) < maxLabels {
			add(view.Task.Space.Encode(design), true)
		}
	}
	peers := search.AtMost(maxLabellers, feasibility.Of(view), rng)
	counts := make([]bool, len(peers))
	for back, more := 1, true; more; back++ {
		more = false
		for i, p := range peers {
			at := len(p.X) - back
			if at < 0 || len(t.x) == maxLabels {
				continue
			}
			more = true
			counts[i] = add(p.X[at], p.Feasible[at]) || counts[i]
		}
	}
	for i, p := range peers {
		if counts[i] {
			t.peers++
			t.observations = strategy.AddObservations(t.observations, p.Observations)
		}
	}
	return t
}
