package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// frontAttacks returns attacks on shares of a task with several objectives. Each share has places of several
// designs of the Pareto front: cells of a secret grid, or the designs themselves. The attack on one place
// shows how much less a share with a single place would disclose.
func frontAttacks() []Attack {
	attack := func(name string, coarse bool, guess func(seen *Seen) [][]float64) Attack {
		return Attack{Name: name, Kinds: []string{protocol.DensityKind}, Scene: Listen, Several: true,
			Applies: func(t *task.Task) bool { return isCoarse(t) == coarse },
			Guess: func(_ context.Context, seen *Seen, _ *rand.Rand) (Guess, error) {
				return Guess{X: guess(seen)}.cut(seen.Observations), nil
			}}
	}
	return []Attack{
		attack("the middles of the cells of the last front", true, lastFront),
		attack("the middle of one cell of the last front", true, firstOfFront),
		attack("the middles of the cells of all fronts, the newest first", true, allFronts),
		attack("the designs of the last front", false, lastFront),
		attack("one design of the last front", false, firstOfFront),
		attack("the designs of all fronts, the newest first", false, allFronts),
	}
}

// frontsOf returns the places of each share in the attacker's space, the newest share first. The place of a
// cell is the middle of its part inside the unit cube.
func frontsOf(seen *Seen) (fronts [][][]float64) {
	widths := make([]float64, seen.Task.Space.Dim())
	if isCoarse(seen.Task) {
		widths = widthsOf(seen.Task.Space)
	}
	for _, share := range slices.Backward(seen.Disclosures[0].Shares) {
		places := placesOf(seen.Task, share.Value)
		for _, x := range places {
			for k, width := range widths {
				if width > 0 {
					low, high := cellOf(x[k], width)
					x[k] = (low + high) / 2
				}
			}
		}
		if len(places) > 0 {
			fronts = append(fronts, places)
		}
	}
	return fronts
}

func lastFront(seen *Seen) [][]float64 {
	if fronts := frontsOf(seen); len(fronts) > 0 {
		return fronts[0]
	}
	return nil
}

func firstOfFront(seen *Seen) [][]float64 {
	return lastFront(seen)[:min(1, len(lastFront(seen)))]
}

// allFronts returns the places of all shares, each once.
func allFronts(seen *Seen) (all [][]float64) {
	for _, front := range frontsOf(seen) {
		for _, x := range front {
			if !slices.ContainsFunc(all, func(other []float64) bool { return distance(x, other) < Near/2 }) {
				all = append(all, x)
			}
		}
	}
	return all
}
