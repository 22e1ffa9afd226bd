package pareto

import (
	"fmt"
	"math"
	"slices"
)

// margin is the distance of the reference from the nadir, as a part of the front's range.
const margin = 0.1

// Reference returns a reference point for the hypervolume, derived from points, at least one, all
// finite. In each objective it is the worst value on the front (the nadir) minus a tenth of the
// front's range. So the points that are best in one objective add volume too (Ishibuchi, Akedo and
// Nojima 2011; the rule of BoTorch after Daulton, Balandat and Bakshy, NeurIPS 2020).
//
// If the front has no range in an objective, for example because it is one point, the range is that
// of all points. If these are equal too, it is the magnitude of the value, or 1 if the value is 0.
func Reference(points [][]float64) []float64 {
	_, worst, width := extent(points)
	for k := range worst {
		worst[k] -= margin * width[k]
	}
	return worst
}

// extent returns the best and the worst values of the front, and its range, never 0, by objective.
func extent(points [][]float64) (best, worst, width []float64) {
	if len(points) == 0 {
		panic("pareto: the extent of no points; expected at least one")
	}
	for i, p := range points {
		for _, v := range p {
			if math.IsInf(v, 0) {
				panic(fmt.Sprintf("pareto: point %d is %v; expected finite numbers", i, p))
			}
		}
	}
	front := Front(points)
	best, worst = slices.Clone(points[front[0]]), slices.Clone(points[front[0]])
	lowest := slices.Clone(best)
	for _, i := range front {
		for k, v := range points[i] {
			best[k], worst[k] = max(best[k], v), min(worst[k], v)
		}
	}
	for _, p := range points {
		for k, v := range p {
			lowest[k] = min(lowest[k], v)
		}
	}
	width = make([]float64, len(best))
	for k := range width {
		for _, width[k] = range []float64{best[k] - worst[k], best[k] - lowest[k], math.Abs(best[k]), 1} {
			if width[k] > 0 {
				break
			}
		}
	}
	return best, worst, width
}
