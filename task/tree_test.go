package task

import (
	"math/rand/v2"
	"testing"
)

// The tree finds what a search of all points does, also among points that are repeated or
// equally near, of which there are many on a coarse grid.
func TestTreeFindsTheFirstOfTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim <= treeCoordinates; dim++ {
		points := make([]float64, 2000*dim)
		for i := range points {
			points[i] = float64(rng.IntN(12)) / 11
		}
		tree := newTree(points, dim)
		for range 300 {
			u := make([]float64, dim)
			for k := range u {
				u[k] = float64(rng.IntN(23)) / 22
			}
			if got, want := tree.nearest(u), nearestOfAll(points, u); got != want {
				t.Fatalf("%v: point %d, want %d", u, got, want)
			}
		}
	}
}
