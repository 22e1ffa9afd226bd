package trained

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// search evaluates count designs. The first half, whose number spread returns, is spread over
// the space by a Latin hypercube. The others are near the best design so far, at distances that
// shrink. better must evaluate a design and report whether it is better than all before.
func search(space *task.Space, count int, seed random.Seed, better func(d task.Design) bool) {
	rng := seed.Stream("designs", 0)
	var best []float64
	try := func(u []float64) {
		if better(space.Decode(u)) || best == nil {
			best = u
		}
	}
	wide := spread(count)
	for _, u := range latin(space, wide, rng) {
		try(u)
	}
	for n := range count - wide {
		try(neighbour(space, best, width(n, count-wide), rng))
	}
}

// latin returns designs that a Latin hypercube spreads over the space.
func latin(space *task.Space, count int, rng *rand.Rand) [][]float64 {
	strata := make([][]int, space.Dim())
	for i := range strata {
		strata[i] = rng.Perm(count)
	}
	all := make([][]float64, count)
	for n := range all {
		u := make([]float64, space.Dim())
		for i := range u {
			u[i] = (float64(strata[i][n]) + rng.Float64()) / float64(count)
		}
		space.Snap(u)
		all[n] = u
	}
	return all
}

// width returns the standard deviation of the n-th of count steps of the second half.
func width(n, count int) float64 {
	return firstWidth * math.Pow(lastWidth/firstWidth, float64(n)/float64(count))
}

func spread(count int) int { return (count + 1) / 2 }

// The standard deviation of the steps in the second half, at its begin and at its end, and the
// probability that a step changes a choice.
const (
	firstWidth, lastWidth = 0.2, 0.004
	otherChoice           = 0.1
)

func neighbour(space *task.Space, of []float64, width float64, rng *rand.Rand) []float64 {
	u := slices.Clone(of)
	for _, block := range space.Blocks() {
		switch {
		case block.Kind != task.Categorical:
			u[block.Start] += width * rng.NormFloat64()
		case rng.Float64() < otherChoice:
			u[block.Start+rng.IntN(block.Len)] = 2
		}
	}
	space.Snap(u)
	return u
}
