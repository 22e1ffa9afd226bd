package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// Function is what to maximise, over encoded designs.
type Function interface {
	// Value returns the function at x. NaN counts as the worst value.
	Value(x []float64) float64
	// Gradient fills grad, as long as x, and returns the value.
	Gradient(grad, x []float64) float64
}

// Defaults of a Maximizer's fields.
const (
	DefaultCandidates = 1000
	DefaultSearches   = 10
)

// The bounds on the work of one Maximize, with those of search.go.
const (
	enumerable   = 4096 // designs: a finite space up to this size is searched whole
	nearUsed     = 5    // of the near designs, so many are perturbed
	nearShare    = 4    // one candidate in so many perturbs a near design
	selectivity  = 2.0  // inverse temperature, in standard deviations of the candidates' values
	leastScale   = 0.003
	largestScale = 0.3
)

// Maximizer searches the designs of a space. It is a plain value, safe for
// concurrent use.
//
// A space of at most 4096 designs is enumerated. Otherwise the function is
// evaluated at Candidates designs, uniform ones and perturbations of near
// ones, and from Searches of the best a local search climbs. The work is at
// most Candidates + 5 evaluations and, for each search, 4 rounds of 30 gradients
// with up to 12 values each and of 2 sweeps over the neighbours: all other
// choices of a categorical, and up to 2·log2(count)+2 steps of an int. It
// usually ends after a tenth of that.
type Maximizer struct {
	Space      *task.Space
	Candidates int // at least 1; 0 means DefaultCandidates
	Searches   int // at least 1; 0 means DefaultSearches
}

// Maximize returns the best x found and f(x). x is the encoding of a design:
// Space.Snap leaves it as it is. (As everywhere in the unit cube, a float is not
// rounded to the decimals in which designs are shown.) near holds encoded
// designs, best first, around which to look as well; it is not altered. The
// result depends on the arguments and rng alone.
func (m Maximizer) Maximize(f Function, near [][]float64, rng *rand.Rand) (x []float64, value float64) {
	if count, ok := m.Space.Finite(); ok && count <= enumerable {
		return m.enumerate(f)
	}
	moves := newNeighbours(m.Space)
	best := point{value: math.Inf(-1)}
	for i, start := range m.starts(f, near, rng) {
		if found := climb(f, moves, start); i == 0 || found.value > best.value {
			best = found
		}
	}
	return best.x, f.Value(best.x)
}

// point is a candidate with its value; NaN has become -Inf.
type point struct {
	x     []float64
	value float64
}

func evaluate(f Function, x []float64) point {
	return point{x, finite(f.Value(x))}
}

func finite(value float64) float64 {
	if math.IsNaN(value) {
		return math.Inf(-1)
	}
	return value
}

// starts evaluates the candidates and selects those from which to climb: the
// best one, and others at random with probabilities that grow exponentially in
// their values, so that not all lie on the same hill.
func (m Maximizer) starts(f Function, near [][]float64, rng *rand.Rand) []point {
	var candidates []point
	for _, x := range m.candidates(near, rng) {
		candidates = append(candidates, evaluate(f, x))
	}
	best := 0
	for i, c := range candidates {
		if c.value > candidates[best].value {
			best = i
		}
	}
	keys := selectionKeys(candidates, rng)
	keys[best] = math.Inf(1)
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case keys[i] > keys[j]:
			return -1
		case keys[i] < keys[j]:
			return 1
		}
		return 0
	})
	var starts []point
	for _, i := range order[:min(withDefault(m.Searches, DefaultSearches), len(order))] {
		starts = append(starts, candidates[i])
	}
	return starts
}

// selectionKeys are such that the k largest are a sample without replacement
// from exp(selectivity · standardised value): the Gumbel trick.
func selectionKeys(candidates []point, rng *rand.Rand) []float64 {
	usable := func(v float64) bool { return !math.IsInf(v, 0) }
	count, mean, square := 0.0, 0.0, 0.0
	for _, c := range candidates {
		if usable(c.value) {
			count++
			d := c.value - mean
			mean += d / count
			square += d * (c.value - mean)
		}
	}
	deviation := math.Sqrt(square / max(count, 1))
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		deviation = 1
	}
	keys := make([]float64, len(candidates))
	for i, c := range candidates {
		gumbel := -math.Log(rng.ExpFloat64())
		keys[i] = c.value
		if usable(c.value) {
			keys[i] = selectivity*(c.value-mean)/deviation + gumbel
		}
	}
	return keys
}

func (m Maximizer) candidates(near [][]float64, rng *rand.Rand) [][]float64 {
	near = near[:min(len(near), nearUsed)]
	all := make([][]float64, 0, withDefault(m.Candidates, DefaultCandidates)+len(near))
	perturbed := 0
	if len(near) > 0 {
		perturbed = cap(all) / nearShare
	}
	for _, x := range near {
		x = slices.Clone(x)
		m.Space.Snap(x)
		all = append(all, x)
	}
	for i := range perturbed {
		all = append(all, perturb(m.Space, near[i%len(near)], rng))
	}
	for len(all) < cap(all) {
		all = append(all, Sample(m.Space, rng))
	}
	return all
}

func withDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// Sample returns the encoding of a design drawn uniformly: every choice of a
// categorical and every value of an int is equally likely, floats are uniform,
// and both ints and floats on log scale are so in their logarithms.
func Sample(space *task.Space, rng *rand.Rand) []float64 {
	x := make([]float64, space.Dim())
	for i := range x {
		x[i] = rng.Float64()
	}
	space.Snap(x)
	return x
}

// perturb moves about half the parameters of x, at least one: numbers by normal
// steps of a random size, categories to another choice.
func perturb(space *task.Space, x []float64, rng *rand.Rand) []float64 {
	x = slices.Clone(x)
	blocks := space.Blocks()
	scale := leastScale * math.Pow(largestScale/leastScale, rng.Float64())
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
	return x
}
