package curves

import (
	"math"
	"slices"
	"sort"

	"github.com/fbo-node/fbo/task"
)

// maxGrid limits the steps at which Forecasts compares curves.
const maxGrid = 256

// Forecasts returns a prediction of the final value of each curve that is not complete and not empty:
// Trial.Forecast, if there is one. For a complete curve it is the outcome, with deviation 0.
//
// Without Trial.Forecast the mean is the last value plus the mean changes that the other curves show
// from there to the end (additive chain ladder). The mean at each interval is over all curves that
// have it. So a curve that was stopped early keeps its place among those that were stopped at the
// same step. The deviation is the size of that change, since too little is known of it. No mean is
// better than the best outcome: a stopped evaluation is never the best observation.
func Forecasts(goal task.Goal, all []Trial) []Forecast {
	grid := gridOf(all)
	rest := remaining(grid, all)
	forecasts, best, known := make([]Forecast, len(all)), 0.0, false
	for _, t := range all {
		if t.Complete && (!known || goal.Sign()*(t.Final-best) > 0) {
			best, known = t.Final, true
		}
	}
	for i, t := range all {
		if t.Complete {
			forecasts[i] = Forecast{Mean: t.Final}
			continue
		}
		if len(t.Curve) == 0 {
			continue
		}
		if t.Forecast != nil {
			forecasts[i] = *t.Forecast
		} else {
			last := t.Last()
			change := rest[sort.Search(len(grid)-1, func(k int) bool { return grid[k] >= last.Step })]
			forecasts[i] = Forecast{last.Value + change, math.Abs(change)}
		}
		if known && goal.Sign()*(forecasts[i].Mean-best) > 0 {
			forecasts[i].Mean = best
		}
	}
	return forecasts
}

// gridOf returns the steps of all curves in ascending order, or maxGrid of them at equal distances.
func gridOf(all []Trial) (grid []uint64) {
	for _, t := range all {
		for _, s := range t.Curve {
			grid = append(grid, s.Step)
		}
	}
	slices.Sort(grid)
	grid = slices.Compact(grid)
	if n := len(grid); n > maxGrid {
		for i := range maxGrid {
			grid[i] = grid[i*(n-1)/(maxGrid-1)]
		}
		grid = grid[:maxGrid]
	}
	return grid
}

// remaining returns the mean change from each step of the grid to the end.
func remaining(grid []uint64, all []Trial) []float64 {
	rest := make([]float64, max(len(grid), 1))
	sums, counts := make([]float64, len(grid)), make([]int, len(grid))
	for _, t := range all {
		c := t.ended()
		if len(c) == 0 {
			continue
		}
		from := sort.Search(len(grid), func(k int) bool { return grid[k] >= c[0].Step })
		for k := from; k+1 < len(grid); k++ {
			a, begun := c.Between(grid[k])
			b, open := c.Between(grid[k+1])
			if !begun || !open {
				break
			}
			sums[k], counts[k] = sums[k]+b-a, counts[k]+1
		}
	}
	for k := len(grid) - 2; k >= 0; k-- {
		rest[k] = rest[k+1]
		if counts[k] > 0 {
			rest[k] += sums[k] / float64(counts[k])
		}
	}
	return rest
}

// ended returns the curve with the outcome in place of the last value, if it is complete.
func (t Trial) ended() Curve {
	if !t.Complete || len(t.Curve) == 0 {
		return t.Curve
	}
	c := slices.Clone(t.Curve)
	c[len(c)-1].Value = t.Final
	return c
}
