package peerprior

import "slices"

// groupsOf divides peers into those that are like each other, by what they say: it
// joins the two groups whose pairs are on average the most probably alike, as long as
// these are so rather than not. A peer like no other is a group of its own.
func groupsOf(pairs [][]likeness) [][]int {
	groups := make([][]int, len(pairs))
	for i := range groups {
		groups[i] = []int{i}
	}
	for {
		best, a, b := 0.0, 0, 0
		for i, g := range groups {
			for j, h := range groups[:i] {
				if mean := averageLikeness(pairs, g, h); mean > best {
					best, a, b = mean, j, i
				}
			}
		}
		if best == 0 {
			return groups
		}
		groups[a] = append(groups[a], groups[b]...)
		groups = slices.Delete(groups, b, b+1)
	}
}

func averageLikeness(pairs [][]likeness, g, h []int) float64 {
	sum := 0.0
	for _, i := range g {
		for _, j := range h {
			sum += pairs[i][j].alike
		}
	}
	return sum / float64(len(g)*len(h))
}
