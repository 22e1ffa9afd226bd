package task

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/spatial/kdtree"
)

// treeCoordinates is the maximum number of coordinates for which a k-d tree is used. With 100,000
// points of 2 coordinates, a tree takes a hundredth of the time of a linear search, with 8
// coordinates about half. With 50,000 points of 40 coordinates it takes seven times as long
// (BenchmarkDecodeListed).
const treeCoordinates = 8

// finder returns a function that returns the number of the point nearest to u, the first of equals.
// The slice points has all points one after the other, dim coordinates each.
func finder(points []float64, dim int) (nearest func(u []float64) int) {
	if dim > treeCoordinates {
		return func(u []float64) int { return nearestOfAll(points, u) }
	}
	made := sync.OnceValue(func() *tree { return newTree(points, dim) }) // built at the first call, because most nodes never need it
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

// squared returns the squared Euclidean distance. The conversion to float64 keeps compilers from
// fusing the product and the sum, which would make equal distances differ between CPUs.
func squared(a, b []float64) float64 {
	sum := 0.0
	for i, x := range b {
		difference := a[i] - x
		sum += float64(difference * difference)
	}
	return sum
}

// tree is a k-d tree that finds the nearest of many points.
type tree struct{ *kdtree.Tree }

// newTree returns the tree of the points, which follow each other in the slice with dim coordinates
// each.
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

// Pivot sorts the points along coordinate d and returns the middle index. Unlike the medians of
// package kdtree, this halves the points even if many coordinates are equal.
func (l leaves) Pivot(d kdtree.Dim) int {
	slices.SortFunc(l, func(a, b leaf) int { return cmp.Compare(a.at[d], b.at[d]) })
	return len(l) / 2
}
