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

func addSquares(squares, row []float64, at float64) {
	n := len(squares) / lanes
	if n == 0 || !vectors() {
		portableAddSquares(squares, row, at)
		return
	}
	squaresAVX2(&squares[0], &row[0], at, n)
	portableAddSquares(squares[n*lanes:], row[n*lanes:], at)
}

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
