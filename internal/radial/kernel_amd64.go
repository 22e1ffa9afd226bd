//go:build amd64 && !noasm

package radial

import "golang.org/x/sys/cpu"

const lanes = 4

func vectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// evaluateVectors evaluates the squares that fill whole vectors, and returns their number.
func evaluateVectors(kernel string, k, slope, squares []float64) int {
	n := len(squares) / lanes
	if n == 0 || !vectors() {
		return 0
	}
	if kernel == SE {
		seAVX2(&k[0], &slope[0], &squares[0], n)
	} else {
		maternAVX2(&k[0], &slope[0], &squares[0], n)
	}
	return n * lanes
}

// AddSquares adds (row − at)² to squares, which has the length of row.
func AddSquares(squares, row []float64, at float64) {
	row = row[:len(squares)]
	n := len(squares) / lanes
	if n == 0 || !vectors() {
		portableAddSquares(squares, row, at)
		return
	}
	squaresAVX2(&squares[0], &row[0], at, n)
	portableAddSquares(squares[n*lanes:], row[n*lanes:], at)
}

// WeightedSquares returns the sum of weights · (row − at)² over both slices, which have the same length.
func WeightedSquares(weights, row []float64, at float64) float64 {
	row = row[:len(weights)]
	n := len(weights) / lanes
	if n == 0 || !vectors() {
		return portableWeightedSquares(weights, row, at)
	}
	return weightedSquaresAVX2(&weights[0], &row[0], at, n) + portableWeightedSquares(weights[n*lanes:], row[n*lanes:], at)
}

// dot returns the inner product of two slices of the same length.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	n := len(a) / lanes
	if n == 0 || !vectors() {
		return portableDot(a, b)
	}
	return dotAVX2(&a[0], &b[0], n) + portableDot(a[n*lanes:], b[n*lanes:])
}

// dotAVX2 is dot for n vectors of four numbers; n is at least 1.
//
//go:noescape
func dotAVX2(a, b *float64, n int) float64

// weightedSquaresAVX2 is WeightedSquares for n vectors of four numbers; n is at least 1.
//
//go:noescape
func weightedSquaresAVX2(weights, row *float64, at float64, n int) float64

// squaresAVX2 adds (row − at)² to squares, for n vectors of four numbers; n is at least 1.
//
//go:noescape
func squaresAVX2(squares, row *float64, at float64, n int)

// maternAVX2 is Evaluate with Matern52 for n vectors of four squares; n is at least 1.
//
//go:noescape
func maternAVX2(k, slope, squares *float64, n int)

// seAVX2 is Evaluate with SE for n vectors of four squares; n is at least 1.
//
//go:noescape
func seAVX2(k, slope, squares *float64, n int)
