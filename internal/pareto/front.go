package pareto

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Dominates reports whether a is at least as good as b in every objective and better in one. It
// panics if the lengths differ or a coordinate is NaN.
func Dominates(a, b []float64) bool {
	check([][]float64{a, b}, len(a))
	return covers(a, b) && !slices.Equal(a, b)
}

// covers reports whether a is at least as good as b in every objective.
func covers(a, b []float64) bool {
	for k := range a {
		if a[k] < b[k] {
			return false
		}
	}
	return true
}

// Front returns the indices, in increasing order, of the points that no other point dominates. Of
// equal points it returns the first.
func Front(points [][]float64) []int {
	if len(points) == 0 {
		return nil
	}
	check(points, len(points[0]))
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	// After this order no point dominates, or equals, an earlier one that is kept.
	slices.SortStableFunc(order, func(i, j int) int { return slices.CompareFunc(points[j], points[i], cmp.Compare[float64]) })
	var front []int
	for _, i := range order {
		if !slices.ContainsFunc(front, func(j int) bool { return covers(points[j], points[i]) }) {
			front = append(front, i)
		}
	}
	slices.Sort(front)
	return front
}

// above returns the non-dominated points that are better than the reference in every objective. The
// others dominate no volume. The result shares the memory of points.
func above(points [][]float64, reference []float64) [][]float64 {
	check(points, len(reference))
	check([][]float64{reference}, len(reference))
	var better [][]float64
	for _, p := range points {
		if exceeds(p, reference) {
			better = append(better, p)
		}
	}
	front := make([][]float64, 0, len(better))
	for _, i := range Front(better) {
		front = append(front, better[i])
	}
	return front
}

// exceeds reports whether a is better than b in every objective.
func exceeds(a, b []float64) bool {
	for k := range a {
		if !(a[k] > b[k]) {
			return false
		}
	}
	return true
}

// check panics if a point does not have this number of coordinates, or contains NaN.
func check(points [][]float64, objectives int) {
	if objectives == 0 {
		panic("pareto: points without coordinates; expected one per objective")
	}
	for i, p := range points {
		if len(p) != objectives {
			panic(fmt.Sprintf("pareto: point %d has %d coordinates; expected %d", i, len(p), objectives))
		}
		if slices.ContainsFunc(p, math.IsNaN) {
			panic(fmt.Sprintf("pareto: point %d is %v; expected numbers", i, p))
		}
	}
}
