package pareto

import (
	"fmt"
	"math/rand/v2"
)

// augmentation is the weight of the sum in [Chebyshev] (Knowles 2006, equation 2). It keeps points
// that are dominated, but equal in the worst objective, below those that dominate them.
const augmentation = 0.05

// Weights draws a vector of weights that sum to 1, uniform on the simplex. Knowles (2006) draws
// from a lattice on it.
func Weights(objectives int, rng *rand.Rand) []float64 {
	w, total := make([]float64, objectives), 0.0
	for k := range w {
		w[k] = rng.ExpFloat64()
		total += w[k]
	}
	for k := range w {
		w[k] /= total
	}
	return w
}

// Chebyshev returns the scalarised value of each point, to be maximised like the objectives. With d
// the distance from the best value on the front, in units of the front's range (of all points,
// where the front has none), the value is
//
//	-(max w·d + 0.05·Σ w·d)
//
// over the objectives (Knowles, "ParEGO", 2006, equation 2). For every point of the front there are
// weights for which it is the best. The points must be finite. Without points the result is empty.
func Chebyshev(points [][]float64, weights []float64) []float64 {
	if len(points) == 0 {
		return nil
	}
	check(points, len(weights))
	for _, w := range weights {
		if !(w >= 0) {
			panic(fmt.Sprintf("pareto: weights %v; expected numbers of at least 0", weights))
		}
	}
	best, _, width := extent(points)
	values := make([]float64, len(points))
	for i, p := range points {
		worst, sum := 0.0, 0.0
		for k, v := range p {
			d := weights[k] * (best[k] - v) / width[k]
			worst, sum = max(worst, d), sum+d
		}
		values[i] = -(worst + augmentation*sum)
	}
	return values
}
