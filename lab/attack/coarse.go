package attack

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// isCoarse reports whether the nodes of a task share cells of a secret grid in place of designs.
func isCoarse(t *task.Task) bool {
	registration, err := all.Strategies().Of(t)
	return err == nil && registration.Disclosure(t).Coarse
}

// coarseAttacks returns attacks on coarse shares. Each number of such a share is the middle of its
// cell in a grid that only the node knows; if the middle is outside the unit cube, it is the
// nearest side. An attacker that has one middle inside the cube knows the grid. The attacks combine
// several shares to locate the optimum better.
func coarseAttacks() []Attack {
	attack := func(name string, scene Scene, guess func(seen *Seen) [][]float64) Attack {
		return Attack{Name: name, Kinds: designKinds(), Scene: scene, Applies: isCoarse,
			Guess: func(_ context.Context, seen *Seen, _ *rand.Rand) (g Guess, err error) {
				if g.X = guess(seen); g.X != nil {
					g.Best = g.X[0]
				}
				if len(seen.Disclosures) > 1 {
					g.Note = noteOf(seen)
				}
				return g, nil
			}}
	}
	return []Attack{
		attack("the middle of what the last cell has of the cube", Listen, func(seen *Seen) [][]float64 {
			return middles(seen, false)
		}),
		attack("the side of the cube, where the last cell has one", Listen, func(seen *Seen) [][]float64 {
			return middles(seen, true)
		}),
		attack("the mean of the last five places", Listen, func(seen *Seen) [][]float64 { return meanLocation(seen, 5) }),
		attack("what the last cells of five restarts have in common", Restarts, func(seen *Seen) [][]float64 { return middles(seen, false) }),
		attack("what the last cells under five names of the task have in common", Renamed, func(seen *Seen) [][]float64 { return middles(seen, false) }),
	}
}

// cellOf returns the part of the unit interval in which a number lies, given the shared number and
// the width of cells.
func cellOf(shared, width float64) (low, high float64) {
	return max(shared-width/2, 0), min(shared+width/2, 1)
}

// widthsOf returns the width of cells for each coordinate; 0 for the coordinates of a categorical.
func widthsOf(space *task.Space) (widths []float64) {
	of := coarsen.Widths(space)
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			widths = append(widths, make([]float64, block.Len)...)
			continue
		}
		widths, of = append(widths, of[0]), of[1:]
	}
	return widths
}

// middles returns the middle of the intersection of the last shared cells of all disclosures. With
// sides it returns the nearest side of the cube if the intersection reaches one. If the cells have
// no intersection, for example because the node estimates another optimum each time, it returns
// their mean.
func middles(seen *Seen, sides bool) [][]float64 {
	var middle []float64
	widths := widthsOf(seen.Task.Space)
	for k := range seen.Task.Space.Dim() {
		low, high, sum, count := 0.0, 1.0, 0.0, 0.0
		for _, disclosure := range seen.Disclosures {
			places := disclosedIn(disclosure)
			if len(places) == 0 {
				return nil
			}
			told := places[len(places)-1][k]
			l, h := cellOf(told, widths[k])
			low, high = max(low, l), min(high, h)
			sum, count = sum+told, count+1
		}
		v := (low + high) / 2
		switch {
		case low > high:
			v = sum / count
		case sides && low == 0:
			v = 0
		case sides && high == 1:
			v = 1
		}
		middle = append(middle, v)
	}
	return [][]float64{middle}
}

// meanLocation returns the mean of the last shared locations. A node whose estimated optimum is on
// the border of two cells shares one cell and the other in turn.
func meanLocation(seen *Seen, most int) [][]float64 {
	places := disclosedIn(seen.Disclosures[0])
	places = places[max(len(places)-most, 0):]
	if len(places) == 0 {
		return nil
	}
	sum := make([]float64, seen.Task.Space.Dim())
	for _, x := range places {
		for k, v := range x {
			sum[k] += v / float64(len(places))
		}
	}
	return [][]float64{sum}
}

// disclosedIn returns the first location of each share that has one.
func disclosedIn(disclosure Disclosure) (places [][]float64) {
	for _, share := range disclosure.Shares {
		if of := placesOf(disclosure.Task, share.Value); len(of) > 0 {
			places = append(places, slices.Clone(of[0]))
		}
	}
	return places
}
