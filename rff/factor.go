package rff

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/fbo-node/fbo/internal/linalg"
)

// ErrNotPositiveDefinite reports that a matrix could not be factorised.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// factor is the upper triangular matrix U of a matrix A = UᵀU. It is immutable.
type factor struct {
	n int
	u []float64 // n×n, row-major; values below the diagonal are undefined
}

// slab is the number of rows of U that factorise computes at once, at most batch. For large
// matrices most of the work is then in products of packed rows, which are fast.
const slab = 128

// factorise returns the factor of a + ridge I. a is n×n and row-major, and factorise reads only its
// upper triangle. The factor takes over the memory of a.
func factorise(a []float64, n int, ridge float64) (*factor, error) {
	for i := range n {
		a[i*n+i] += ridge
	}
	for k := 0; k < n; k += slab {
		height := min(slab, n-k)
		diagonal := blas64.Symmetric{Uplo: blas.Upper, N: height, Stride: n, Data: a[k*n+k:]}
		u, ok := lapack64.Potrf(diagonal)
		if !ok {
			return nil, fmt.Errorf("%w: ridge %g is too small", ErrNotPositiveDefinite, ridge)
		}
		if rest := n - k - height; rest > 0 {
			right := blas64.General{Rows: height, Cols: rest, Stride: n, Data: a[k*n+k+height:]}
			blas64.Trsm(blas.Left, blas.Trans, 1, u, right)
			subtract(a[(k+height)*n+k+height:], right)
		}
	}
	return &factor{n: n, u: a}, nil
}

// subtract subtracts rightᵀ·right from the upper triangle of a, which has the same stride as right.
func subtract(a []float64, right blas64.General) {
	p := newPacked(right.Cols, right.Rows)
	for k := range right.Rows {
		for i, v := range right.Data[k*right.Stride : k*right.Stride+right.Cols] {
			p.data[i*p.stride+k] = v
		}
	}
	p.addOuter(a, right.Stride, -1)
}

// half multiplies v by U⁻ᵀ in place, so that |v|² becomes vᵀA⁻¹v.
func (f *factor) half(v []float64) {
	for i := range f.n { // blas64.Trsv does the same, but without vector instructions
		row := f.u[i*f.n+i : (i+1)*f.n]
		v[i] /= row[0]
		linalg.AddScaled(v[i+1:], -v[i], row[1:])
	}
}

// back multiplies v by U⁻¹ in place. If v is standard normal, the result has the covariance A⁻¹.
func (f *factor) back(v []float64) {
	for i := f.n - 1; i >= 0; i-- { // blas64.Trsv does the same, but without vector instructions
		row := f.u[i*f.n+i : (i+1)*f.n]
		v[i] = (v[i] - linalg.Dot(row[1:], v[i+1:])) / row[0]
	}
}

// solve multiplies v by A⁻¹ in place.
func (f *factor) solve(v []float64) {
	f.half(v)
	f.back(v)
}

// append returns the factor of A extended by one row and column, in O(n²). The last element of
// column is the new diagonal element. ok is false if the extended matrix is not positive definite.
// append overwrites column.
func (f *factor) append(column []float64) (next *factor, ok bool) {
	n := f.n + 1
	f.half(column[:f.n])
	rest := column[f.n]
	for _, v := range column[:f.n] {
		rest -= v * v
	}
	if !(rest > 0) || math.IsInf(rest, 1) {
		return nil, false
	}
	column[f.n] = math.Sqrt(rest)
	u := make([]float64, n*n)
	for i := range n {
		if i < f.n {
			copy(u[i*n+i:], f.u[i*f.n+i:(i+1)*f.n])
		}
		u[i*n+n-1] = column[i]
	}
	return &factor{n: n, u: u}, true
}

// add returns the factor of A + vvᵀ in O(n²) by plane rotations (Golub and Van Loan, "Matrix
// Computations", 4th edition, section 6.5.4). It works row by row, which is the order in memory.
// add cannot fail. It overwrites v.
func (f *factor) add(v []float64) *factor {
	n := f.n
	u := make([]float64, n*n)
	for i := range n {
		old, row := f.u[i*n+i:(i+1)*n], u[i*n+i:(i+1)*n]
		rest := v[i:]
		length := math.Hypot(old[0], rest[0])
		cos, sin := old[0]/length, rest[0]/length
		rest = rest[:len(old)]
		row = row[:len(old)]
		for j, a := range old {
			b := rest[j]
			row[j] = cos*a + sin*b
			rest[j] = cos*b - sin*a
		}
	}
	return &factor{n: n, u: u}
}
