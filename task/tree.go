package task

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/spatial/kdtree"
)

// treeCoordinates is the largest number of coordinates for which a tree is used. Relative to a linear
// search, a tree takes a hundredth of the time with 100,000 points of 2 coordinates, and about half with
// 8. With 50,000 points of 40 coordinates it takes seven times as long (BenchmarkDecodeListed).
const treeCoordinates = 8

// finder returns a function that finds the number of the point nearest to u, the first of equals.
// points has the coordinates of all points, dim each, one after the other.
func finder(points []float64, dim int) (nearest func(u []float64) int) {
	if dim > treeCoordinates {
		return func(u []float64) int { return nearestOfAll(points, u) }
	}
	made := sync.OnceValue(func() *tree { return newTree(points, dim) }) // most nodes never need it
	return func(u []float64) int { return made().nearest(u) }
}

func nearestOfAll(points, u []float64) int {
	best, least := 0, math.Inf(1)
	for i := range len(points) / len(u) {
		if d := squared(u, points[i*len(u):(i+1)*len(u)]); d < least {
			best, least = i, d
		}
	}
	return best
}

// squared returns the squared Euclidean distance. The explicit conversion keeps compilers from fusing
// product and sum, which would make equal distances differ between CPUs.
func squared(a, b []float64) float64 {
	sum := 0.0
	for i, x := range b {
		difference := a[i] - x
		sum += float64(difference * difference)
	}
	return sum
}

// tree finds the nearest of many points.
type tree struct{ *kdtree.Tree }

// newTree returns the tree of these points, with dim coordinates each, one after the other.
func newTree(points []float64, dim int) *tree {
	all := make(leaves, len(points)/dim)
	for i := range all {
		all[i] = leaf{points[i*dim : (i+1)*dim], i}
	}
	return &tree{kdtree.New(all, false)}
}

// nearest returns the number of the point nearest to u, the first of equals.
func (t *tree) nearest(u []float64) int {
	q := leaf{at: u}
	_, distance := t.Nearest(q)
	equals := kdtree.NewDistKeeper(distance)
	t.NearestSet(equals, q)
	least := -1
	for _, one := range equals.Heap {
		if found := one.Comparable.(leaf); least < 0 || found.number < least {
			least = found.number
		}
	}
	return least
}

// leaf is a point with its number.
type leaf struct {
	at     []float64
	number int
}

// Compare implements kdtree.Comparable.
func (l leaf) Compare(other kdtree.Comparable, d kdtree.Dim) float64 {
	return l.at[d] - other.(leaf).at[d]
}

// Dims implements kdtree.Comparable.
func (l leaf) Dims() int { return len(l.at) }

// Distance implements kdtree.Comparable.
func (l leaf) Distance(other kdtree.Comparable) float64 { return squared(l.at, other.(leaf).at) }

// leaves implement kdtree.Interface.
type leaves []leaf

func (l leaves) Index(i int) kdtree.Comparable         { return l[i] }
func (l leaves) Len() int                              { return len(l) }
func (l leaves) Slice(start, end int) kdtree.Interface { return l[start:end] }

// Pivot sorts along the plane. It halves the points even if many coordinates are equal, which the
// medians of package kdtree do not guarantee.
func (l leaves) Pivot(d kdtree.Dim) int {
	slices.SortFunc(l, func(a, b leaf) int { return cmp.Compare(a.at[d], b.at[d]) })
	return len(l) / 2
}
