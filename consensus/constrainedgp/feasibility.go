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
	maxLabels    = 64 // of all peers together
	maxLabellers = 64 // peers whose labels are used, drawn anew for each trial
)

// feasibilityLabels holds the labels that count, and the number of peers that sent them.
type feasibilityLabels struct {
	x            [][]float64
	kept         []bool
	feasible     [][]float64 // those of x that are feasible
	peers        int
	observations int // observations of these peers
}

// byLabels is byDesigns for peers that share only which designs were feasible. It uses expected
// improvement with posteriors of the constraints that are conditioned on these labels. Without a label
// that counts it suggests the design of alone.LogEI. It also does while [search.Uninformed] holds and no
// peer has a feasible design.
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

// applyLabels collects the newest labels, a peer's latest first, that the own posteriors do not
// contradict. Infeasible designs count only if the task has one constraint with one limit, since a
// label does not state which of several limits is violated.
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
