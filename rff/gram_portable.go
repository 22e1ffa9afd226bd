package rff

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// panel is the number of rows of a Gram matrix that are computed at once. A symmetric
// product is computed as products of those panels that reach above the diagonal, since
// gonum's general product is blocked for the caches and its symmetric one is not.
const panel = 128

// addOuterPortable implements addOuter by gonum.
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
