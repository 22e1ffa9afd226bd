package pareto

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxObjectives is the largest number of objectives of [Hypervolume] and [Boxes].
const MaxObjectives = 6

// Hypervolume returns the volume of the region above the reference that the points dominate. Points
// that do not exceed the reference in every objective add nothing. With n points on the front it
// takes at most O(n²) for two and three objectives. For m > 3 it sums the volumes that each point
// adds to those before it, in decreasing order of the last objective, so that each step leaves out
// one objective (While, Bradstreet and Barone 2012). That takes at most O(nᵐ⁻¹). Hypervolume panics
// if there are more than [MaxObjectives] objectives.
func Hypervolume(points [][]float64, reference []float64) float64 {
	checkCount(len(reference))
	return volume(above(points, reference), reference)
}

func checkCount(objectives int) {
	if objectives > MaxObjectives {
		panic(fmt.Sprintf("pareto: %d objectives; expected at most %d", objectives, MaxObjectives))
	}
}

// volume returns the hypervolume of a front above the reference, whose order it changes.
func volume(front [][]float64, reference []float64) float64 {
	last := len(reference) - 1
	slices.SortFunc(front, func(a, b []float64) int { return cmp.Compare(b[last], a[last]) })
	switch {
	case len(front) == 0:
		return 0
	case last == 0:
		return front[0][0] - reference[0]
	case last <= 2:
		return sweep(front, reference)
	}
	sum := 0.0
	for i, p := range front {
		sum += (p[last] - reference[last]) * added(front[:i], p[:last], reference[:last])
	}
	return sum
}

// added returns the volume that p dominates and the points do not. They are not below p in the last
// objective, which is left out here.
func added(points [][]float64, p, reference []float64) float64 {
	whole := 1.0
	for k, v := range p {
		whole *= v - reference[k]
	}
	limited := make([][]float64, len(points)) // each point, as far as p dominates the same region
	for i, q := range points {
		limited[i] = make([]float64, len(p))
		for k := range p {
			limited[i][k] = min(p[k], q[k])
		}
	}
	return whole - volume(above(limited, reference), reference)
}

// sweep returns the hypervolume for two or three objectives. front is in decreasing order of its
// last objective. The points so far dominate, in the first two objectives, the area below a
// staircase; with two objectives its second coordinate has height 1.
func sweep(front [][]float64, reference []float64) float64 {
	last := len(reference) - 1
	flat := func(p []float64) (x, y float64) {
		if last == 1 {
			return p[0] - reference[0], 1
		}
		return p[0] - reference[0], p[1] - reference[1]
	}
	var stairs [][2]float64 // in increasing order of x, decreasing of y
	sum := 0.0
	for i, p := range front {
		x, y := flat(p)
		stairs = climb(stairs, x, y)
		end := reference[last]
		if i+1 < len(front) {
			end = front[i+1][last]
		}
		if depth := p[last] - end; depth > 0 {
			sum += depth * area(stairs)
		}
	}
	return sum
}

// climb adds a corner to a staircase.
func climb(stairs [][2]float64, x, y float64) [][2]float64 {
	from := 0
	for from < len(stairs) && stairs[from][0] < x && stairs[from][1] > y {
		from++
	}
	if from < len(stairs) && stairs[from][0] >= x && stairs[from][1] >= y {
		return stairs
	}
	to := from
	for to < len(stairs) && stairs[to][0] <= x {
		to++
	}
	return slices.Replace(stairs, from, to, [2]float64{x, y})
}

func area(stairs [][2]float64) float64 {
	sum, left := 0.0, 0.0
	for _, s := range stairs {
		sum += (s[0] - left) * s[1]
		left = s[0]
	}
	return sum
}
