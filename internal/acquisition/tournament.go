package acquisition

import (
	"cmp"
	"context"
	"slices"
)

// The local searches compete in groups. Only the best of each group is followed to its end. Groups
// continue until enough of them have ended on the same highest hill, so that a smooth function
// takes few and a rough one many.
//
// On 600 draws of a random-feature posterior with 6 floats (M = 100, lengthscale 0.73, 50
// observations) that took 855 gradients on average. In two draws the result was worse than the best
// of 50 full searches from uniform points. Following all 128 searches to their ends takes 2,400
// gradients. With 5 groups, and stages of 4, 4 and 6 gradients, it took 460, and the result was
// worse in 13 draws.
const (
	groupSize   = 8
	minGroups   = 3 // groups that must end on the highest hill, and one more per parameter
	maxGroups   = 8 // largest number of groups that must
	furtherOnes = 4 // groups, if the first ones do not agree
	sameHill    = 0.01
)

// stages holds, for each stage, the number of gradients of each search of a group. Then one search
// in keep remains.
var stages = [...]struct{ gradients, keep int }{{6, 2}, {6, 4}, {8, 8}}

// Limits of the last stage, which only the best search reaches.
const (
	lastRounds    = 20 // of floats and neighbours in turn
	lastGradients = 60 // per round
)

// tournament holds the data that the groups share. They only read it.
type tournament struct {
	f      Function
	moves  *neighbours
	all    *points
	starts []int // starting points, as indices into all
}

// run returns the best search after its end. Its error is that of ctx.
func (t *tournament) run(ctx context.Context, workers int) (*search, error) {
	var winners []*search
	agreement := min(minGroups+len(t.moves.blocks), maxGroups)
	for used, groups := 0, agreement; used < len(t.starts); groups = furtherOnes {
		groups = min(groups, (len(t.starts)-used+groupSize-1)/groupSize)
		first := len(winners)
		winners = append(winners, make([]*search, groups)...)
		each(ctx, workers, groups, func(i int) {
			from := used + i*groupSize
			winners[first+i] = t.group(ctx, t.starts[from:min(from+groupSize, len(t.starts))])
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		used += groups * groupSize
		if agreeing(winners) >= agreement {
			break
		}
	}
	return highest(winners), nil
}

func highest(searches []*search) *search {
	return slices.MaxFunc(searches, func(a, b *search) int { return cmp.Compare(a.value(), b.value()) })
}

// agreeing returns the number of winners on the highest hill of all.
func agreeing(winners []*search) int {
	top, count := highest(winners), 0
	for _, s := range winners {
		if s.distance(top) < sameHill {
			count++
		}
	}
	return count
}

// group lets the searches from a few starts compete, and returns the winner; the best so far if ctx
// ends.
func (t *tournament) group(ctx context.Context, starts []int) *search {
	searches := make([]*search, len(starts))
	for i, start := range starts {
		searches[i] = newSearch(t.moves, t.all.row(start), t.all.values[start])
	}
	for _, stage := range stages {
		for _, s := range searches {
			if !s.done && ctx.Err() == nil {
				s.advance(ctx, t.f, stage.gradients)
			}
		}
		slices.SortStableFunc(searches, func(a, b *search) int { return cmp.Compare(b.value(), a.value()) })
		searches = firstDistinct(searches, max(len(starts)/stage.keep, 1))
	}
	winner := highest(searches)
	winner.finish(ctx, t.f)
	return winner
}

// firstDistinct returns up to count searches, without those on the same hill as an earlier one.
func firstDistinct(searches []*search, count int) []*search {
	kept := searches[:0]
	for _, s := range searches {
		near := func(other *search) bool { return s.distance(other) < sameHill }
		if len(kept) < count && !slices.ContainsFunc(kept, near) {
			kept = append(kept, s)
		}
	}
	return kept
}
