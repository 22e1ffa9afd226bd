//go:build amd64 && !noasm

package linalg

import "golang.org/x/sys/cpu"

func vectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

func vectorTile(c, a, b []float64, stride, n int) bool {
	if !vectors() {
		return false
	}
	tileAVX2(&c[0], &a[0], &b[0], 8*stride, n)
	return true
}

func vectorRows(dst, x, b []float64, stride int) bool {
	if !vectors() {
		return false
	}
	rowsAVX2(&dst[0], &x[0], &b[0], 8*stride, len(x)/4)
	return true
}

// tileAVX2 is subtractTile with the stride in bytes; n is at least 1.
//
//go:noescape
func tileAVX2(c, a, b *float64, stride, n int)

// rowsAVX2 is combineRows with the stride in bytes and n groups of four rows; n is at least 1.
//
//go:noescape
func rowsAVX2(dst, x, b *float64, stride, n int)

// vectorScaled subtracts scale·a from b in the elements that fill whole vectors, and returns their number.
func vectorScaled(b []float64, scale float64, a []float64) int {
	n := len(b) / 4
	if n == 0 || !vectors() {
		return 0
	}
	scaledAVX2(&b[0], &a[0], scale, n)
	return 4 * n
}

// scaledAVX2 subtracts scale·a from b for n vectors of four numbers; n is at least 1.
//
//go:noescape
func scaledAVX2(b, a *float64, scale float64, n int)
