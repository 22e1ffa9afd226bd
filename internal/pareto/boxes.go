package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Box is the set of points from Lower to Upper. A coordinate of Upper may be +Inf.
type Box struct{ Lower, Upper []float64 }

// Boxes returns disjoint boxes whose union is the region above the reference that no point
// dominates. Coordinates of the boxes are coordinates of the points, of the reference, or +Inf.
// With n points on the front there are n+1 boxes for two objectives and at most 2n+1 for three, as
// in Lacour, Klamroth and Fonseca (2017). For more objectives their number grows faster than in
// that paper. Boxes panics if there are more than [MaxObjectives] objectives.
//
// The method sweeps the last objective from +Inf down to the reference. It keeps the region that is
// not dominated at this height, as boxes of the other objectives. Each point cuts the boxes that it
// dominates partly: a cut box ends at the point's height, and its remaining parts begin there.
func Boxes(points [][]float64, reference []float64) []Box {
	checkCount(len(reference))
	front, last := above(points, reference), len(reference)-1
	slices.SortStableFunc(front, func(a, b []float64) int { return cmp.Compare(b[last], a[last]) })
	whole := Box{Lower: slices.Clone(reference), Upper: slices.Repeat([]float64{math.Inf(1)}, len(reference))}
	open := []Box{whole} // the last coordinate of Lower is not used until the box ends
	var ended []Box
	end := func(b Box, height float64) {
		if b.Upper[last] > height {
			b.Lower[last] = height
			ended = append(ended, b)
		}
	}
	for _, p := range front {
		var kept, parts []Box
		for _, b := range open {
			if !exceeds(p[:last], b.Lower[:last]) {
				kept = append(kept, b)
				continue
			}
			for _, part := range without(b, p) {
				parts = join(parts, part)
			}
			end(b, p[last])
		}
		open = append(kept, parts...)
	}
	for _, b := range open {
		end(b, reference[last])
	}
	return ended
}

// without returns the parts of an open box that p does not dominate. They begin at the height of p.
func without(b Box, p []float64) []Box {
	last := len(p) - 1
	var parts []Box
	rest := Box{slices.Clone(b.Lower), slices.Clone(b.Upper)}
	rest.Upper[last] = p[last]
	for k := range last {
		if !(b.Upper[k] > p[k]) {
			continue
		}
		part := Box{slices.Clone(rest.Lower), slices.Clone(rest.Upper)}
		part.Lower[k], rest.Upper[k] = p[k], p[k]
		parts = append(parts, part)
	}
	return parts
}

// join adds a box to a list of boxes that begin at the same height. If the box and one of the list
// touch along a whole side, they become one.
func join(list []Box, b Box) []Box {
	for i, other := range list {
		if joined, ok := joint(other, b); ok {
			return join(slices.Delete(list, i, i+1), joined)
		}
	}
	return append(list, b)
}

// joint returns the union of two boxes if it is a box.
func joint(a, b Box) (union Box, ok bool) {
	side := -1
	for k := range len(a.Lower) - 1 {
		if a.Lower[k] == b.Lower[k] && a.Upper[k] == b.Upper[k] {
			continue
		}
		if side >= 0 || a.Lower[k] != b.Upper[k] && b.Lower[k] != a.Upper[k] {
			return Box{}, false
		}
		side = k
	}
	if side < 0 {
		return Box{}, false
	}
	union = Box{slices.Clone(a.Lower), slices.Clone(a.Upper)}
	union.Lower[side] = min(a.Lower[side], b.Lower[side])
	union.Upper[side] = max(a.Upper[side], b.Upper[side])
	return union, true
}
