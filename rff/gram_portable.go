package rff

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// panel is the number of rows of a Gram matrix that addOuterPortable computes at once. It computes
// the symmetric product as general products of panels at and above the diagonal. gonum's general
// product is blocked for the CPU caches, and its symmetric product is not.
const panel = 128

// addOuterPortable implements addOuter with gonum.
func (p *packed) addOuterPortable(g []float64, stride int, scale float64) {
	for i := 0; i < p.rows; i += panel {
		rest := p.rows - i
		height := min(panel, rest)
		left := blas64.General{Rows: height, Cols: p.width, Stride: p.stride, Data: p.data[i*p.stride:]}
		right := blas64.General{Rows: rest, Cols: p.width, Stride: p.stride, Data: p.data[i*p.stride:]}
		into := blas64.General{Rows: height, Cols: rest, Stride: stride, Data: g[i*stride+i:]}
		blas64.Gemm(blas.NoTrans, blas.Trans, scale, left, right, 1, into)
	}
}
