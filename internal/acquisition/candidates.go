package acquisition

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// Constants of the candidates, and of the starting points that are chosen from them.
const (
	nearUsed     = 5 // largest number of near designs used
	nearShare    = 4 // one candidate in nearShare is a perturbed near design
	nearStarts   = 8 // one search in nearStarts starts at a near design or a perturbation of one
	minScale     = 0.003
	largestScale = 0.3
	sampleTrials = 1000 // random points that Sample tries; then it repairs the last one
	selectivity  = 3.0  // inverse temperature, in standard deviations of the candidates' values
)

// candidates returns count+len(near) designs, with at most nearUsed near ones: the near designs,
// perturbations of them, and designs spread over the space. The first `around` of them are near
// designs or perturbations.
func candidates(space *task.Space, count int, near [][]float64, rng *rand.Rand) (all *points, around int) {
	near = near[:min(len(near), nearUsed)]
	all = newPoints(count+len(near), space.Dim())
	for i, x := range near {
		if len(x) != space.Dim() {
			panic(fmt.Sprintf("acquisition: near design %d has %d coordinates; the space has %d", i, len(x), space.Dim()))
		}
		copy(all.row(i), x)
		space.Snap(all.row(i))
	}
	blocks := space.Blocks()
	around = len(near)
	if len(near) > 0 {
		for i := range count / nearShare {
			copy(all.row(around), all.row(i%len(near)))
			perturb(space, blocks, all.row(around), rng)
			around++
		}
	}
	spread := newHalton(len(blocks), rng)
	for i := around; i < len(all.values); i++ {
		place(blocks, all.row(i), spread.next())
		space.Snap(all.row(i))
	}
	return all, around
}

// place writes the encoding of the design at u to x, which must be zero. u has one number in [0, 1)
// per parameter.
func place(blocks []task.Block, x, u []float64) {
	for i, block := range blocks {
		if block.Kind == task.Categorical {
			choice := min(int(u[i]*float64(block.Len)), block.Len-1)
			x[block.Start+choice] = 1
		} else {
			x[block.Start] = u[i]
		}
	}
}

// Place returns the encoding of the design at u, which has one number in [0, 1) per parameter. Each
// choice of a categorical parameter corresponds to an equal part of [0, 1). For other parameters
// the parts are those of Decode. If u is uniform, the design has the distribution of [Sample]. If
// the task lists its designs, Place returns the nearest listed design.
func Place(space *task.Space, u []float64) []float64 {
	x := make([]float64, space.Dim())
	place(space.Blocks(), x, u)
	space.Snap(x)
	return x
}

// Sample returns the encoding of a design drawn uniformly. Every choice of a categorical parameter
// is equally likely, and so is every value of an int or another parameter with finitely many
// values. Floats are uniform. With log scale, the logarithms of floats and ints are uniform. If the
// task lists its designs, every listed design is equally likely. Constraints among parameters
// exclude designs: the others stay equally likely if at least one in a few hundred is feasible.
func Sample(space *task.Space, rng *rand.Rand) []float64 {
	x := make([]float64, space.Dim())
	if l := space.Listing(); l != nil && !l.Absent() {
		l.Encode(x, rng.IntN(l.Len()))
		return x
	}
	for range sampleTrials {
		for i := range x {
			x[i] = rng.Float64()
		}
		if space.Settle(x) {
			return x
		}
	}
	space.Snap(x)
	return x
}

// perturb changes each parameter of x with probability one half, and at least one. Numbers change
// by a normal step of random size, and categories change to a random choice.
func perturb(space *task.Space, blocks []task.Block, x []float64, rng *rand.Rand) {
	scale := minScale * math.Pow(largestScale/minScale, rng.Float64())
	always := rng.IntN(len(blocks))
	for i, block := range blocks {
		if i != always && rng.IntN(2) == 0 {
			continue
		}
		if block.Kind == task.Categorical {
			part := x[block.Start : block.Start+block.Len]
			clear(part)
			part[rng.IntN(block.Len)] = 1
		} else {
			x[block.Start] += scale * rng.NormFloat64()
		}
	}
	space.Snap(x)
}

// starts returns the indices of up to count starting points: the best candidate, and others at
// random. Their probabilities grow exponentially with their values. Randomness spreads the starting
// points over several hills. Candidates around near designs have high values but lie on few hills,
// so only one search in nearStarts starts there.
func starts(all *points, around, count int, rng *rand.Rand) []int {
	keys := selectionKeys(all.values, rng)
	keys[all.best()] = math.Inf(1)
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(keys[j], keys[i]) })
	var chosen []int
	taken := 0
	for _, i := range order {
		if i < around {
			if taken*nearStarts > len(chosen) {
				continue
			}
			taken++
		}
		if chosen = append(chosen, i); len(chosen) == count {
			break
		}
	}
	return chosen
}

// selectionKeys returns one random key per value. The candidates with the k largest keys are a
// sample without replacement, with weights exp(selectivity · standardised value) (the Gumbel
// trick).
func selectionKeys(values []float64, rng *rand.Rand) []float64 {
	usable := func(v float64) bool { return !math.IsInf(v, 0) }
	count, mean, square := 0.0, 0.0, 0.0
	for _, v := range values {
		if usable(v) {
			count++
			d := v - mean
			mean += d / count
			square += d * (v - mean)
		}
	}
	deviation := math.Sqrt(square / max(count, 1))
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		deviation = 1
	}
	keys := make([]float64, len(values))
	for i, v := range values {
		gumbel := -math.Log(rng.ExpFloat64())
		keys[i] = v
		if usable(v) {
			keys[i] = selectivity*(v-mean)/deviation + gumbel
		}
	}
	return keys
}
