// Package linalg holds steps of linear algebra that several surrogates and strategies share. It
// uses gonum's BLAS and LAPACK.
package linalg

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Vector returns v as a BLAS vector in the same memory.
func Vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }

// Dot returns the inner product of a and b. It panics if their lengths differ. It does not call
// Vector, because that makes Dot of short vectors take half as long again.
func Dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Data: a, Inc: 1}, blas64.Vector{N: len(b), Data: b, Inc: 1})
}

// AddScaled adds scale·a to b in place. a and b must have the same length.
func AddScaled(b []float64, scale float64, a []float64) {
	blas64.Axpy(scale, blas64.Vector{N: len(a), Data: a, Inc: 1}, blas64.Vector{N: len(b), Data: b, Inc: 1})
}

// Clone returns a copy of the rows that shares no memory with them.
func Clone(rows [][]float64) [][]float64 {
	copied := make([][]float64, len(rows))
	for i, row := range rows {
		copied[i] = slices.Clone(row)
	}
	return copied
}

// Factorise returns the upper triangular U of a = UᵀU, in the memory of a. It also returns the
// logarithm of the determinant of U, which is half the log determinant of a. The caller must store
// a in its upper triangle. If a is not positive definite, ok is false and the other results are
// meaningless.
func Factorise(a blas64.Symmetric) (root blas64.Triangular, logDet float64, ok bool) {
	root, ok = lapack64.Potrf(a)
	if !ok {
		return root, 0, false
	}
	for i := range a.N {
		logDet += math.Log(root.Data[i*root.Stride+i])
	}
	return root, logDet, true
}
