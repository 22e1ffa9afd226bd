package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

func designKinds() []string {
	return []string{protocol.DensityKind, protocol.NearOptimalKind, protocol.FeasibilityKind, protocol.CandidateKind}
}

// designAttacks returns attacks that guess the shared designs as the evaluated ones, and the newest
// as the best.
func designAttacks() []Attack {
	guess := func(_ context.Context, seen *Seen, _ *rand.Rand) (Guess, error) { return sharedDesigns(seen), nil }
	return []Attack{
		{Name: "the shared designs", Kinds: designKinds(), Scene: Listen, Guess: guess},
		{Name: "the shared designs, averaged over five restarts", Kinds: designKinds(), Scene: Restarts, Guess: averagedDesigns},
		{Name: "the shared designs, averaged over five names of the task", Kinds: designKinds(), Scene: Renamed, Guess: averagedDesigns},
	}
}

// sharedDesigns returns the locations in all shares, the newest first, without repetitions.
func sharedDesigns(seen *Seen) Guess {
	var g Guess
	shares := seen.Disclosures[0].Shares
	for i := len(shares) - 1; i >= 0; i-- {
		for _, x := range placesOf(seen.Task, shares[i].Value) {
			if !slices.ContainsFunc(g.X, func(other []float64) bool { return distance(x, other) < Near/2 }) {
				g.X = append(g.X, x)
			}
		}
	}
	return g.cut(seen.Observations)
}

// placesOf returns the designs in a share, the most important first. Shares that hold models have
// none.
func placesOf(t *task.Task, value any) (places [][]float64) {
	switch v := value.(type) {
	case protocol.Density:
		for _, c := range v.Components {
			places = append(places, c.Center.Encoded(t.Space))
		}
	case protocol.NearOptimal:
		places = append(places, v.Point.Encoded(t.Space))
	case protocol.Feasibility:
		for _, l := range slices.Backward(v.Labels) {
			places = append(places, l.Point.Encoded(t.Space))
		}
	case protocol.Candidate:
		places = append(places, v.Point.Encoded(t.Space))
	}
	return places
}

// averagedDesigns averages each share over the disclosures, if each of them has one location.
func averagedDesigns(_ context.Context, seen *Seen, _ *rand.Rand) (Guess, error) {
	g := sharedDesigns(&Seen{Task: seen.Task, Observations: seen.Observations, Disclosures: seen.Disclosures[:1]})
	if len(g.X) == 0 {
		return g, nil
	}
	g.Note = noteOf(seen)
	g.X = nil
	for i := len(seen.Disclosures[0].Shares) - 1; i >= 0; i-- {
		sum, count := make([]float64, seen.Task.Space.Dim()), 0.0
		for _, disclosure := range seen.Disclosures {
			if i >= len(disclosure.Shares) {
				continue
			}
			if places := placesOf(disclosure.Task, disclosure.Shares[i].Value); len(places) > 0 {
				count++
				for k, v := range places[0] {
					sum[k] += v
				}
			}
		}
		if count == 0 {
			continue
		}
		for k := range sum {
			sum[k] /= count
		}
		seen.Task.Space.Snap(sum)
		if !slices.ContainsFunc(g.X, func(other []float64) bool { return distance(sum, other) < Near/2 }) {
			g.X = append(g.X, sum)
		}
	}
	return g.cut(seen.Observations), nil
}

// cut keeps the first `most` locations, which are the newest; the first of them is the best.
func (g Guess) cut(most int) Guess {
	g.X = g.X[:min(len(g.X), most)]
	if len(g.X) > 0 {
		g.Best = g.X[0]
	}
	return g
}

// noteOf states whether a node shared the same each time.
func noteOf(seen *Seen) string {
	for _, disclosure := range seen.Disclosures[1:] {
		if !sameShares(seen.Disclosures[0], disclosure) {
			return "the shares differ from time to time"
		}
	}
	return "the shares are the same each time, byte for byte"
}
