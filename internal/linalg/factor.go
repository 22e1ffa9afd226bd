package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// block is the number of rows and columns that a Factor computes together.
const block = tileColumns

// rounding is the relative error of one rounding. A pivot that is smaller, in units of the matrix's diagonal,
// has no correct digit.
const rounding = 0x1p-52

// Factor is the Cholesky factorisation K = UᵀU of a symmetric positive definite matrix, with the inverse of
// U. It keeps its memory for further matrices of the same size. Only one goroutine may change it at a time.
//
// All its work in proportion to n³ is in products of tiles of 4 by 8 numbers, which vector instructions
// compute on amd64. Results agree with those of LAPACK up to rounding. The memory is padded by the identity
// to a multiple of 8 rows.
type Factor struct {
	n, m  int       // rows, without and with padding
	upper []float64 // m×m: the matrix, then U, in the upper triangle; after Invert the inverse of the matrix
	lower []float64 // m×m: U⁻ᵀ in the lower triangle; nil before InvertFactor
}

// NewFactor returns a factor with room for a matrix of n rows.
func NewFactor(n int) *Factor {
	m := (n + block - 1) / block * block
	return &Factor{n: n, m: m, upper: make([]float64, m*m)}
}

// Row returns row i of the matrix from its diagonal on. The caller fills all rows before Factorise.
func (f *Factor) Row(i int) []float64 { return f.upper[i*f.m+i : i*f.m+f.n] }

// Factorise replaces the matrix by U. It returns the logarithm of the determinant of U. It reports whether
// the matrix is positive definite up to rounding; otherwise the contents are undefined.
func (f *Factor) Factorise() (logDet float64, ok bool) {
	f.pad()
	for k := 0; k < f.m; k += block {
		var diagonal [block]float64
		for r := range diagonal {
			diagonal[r] = f.upper[(k+r)*(f.m+1)]
		}
		for j := k; j < f.m; j += block { // the rows of the block, less what the rows above explain
			f.subtract(f.upper, f.upper, f.upper, k, j, 0, k)
		}
		product := 1.0                           // of the roots, since one logarithm of it is faster than one for each
		for r := k; r < min(k+block, f.n); r++ { // the padding is its own factor
			row := f.upper[r*f.m : (r+1)*f.m]
			for q := k; q < r; q++ {
				above := f.upper[q*f.m : (q+1)*f.m]
				subtractScaled(row[r:], above[r], above[r:])
			}
			pivot := row[r]
			if !(pivot > rounding*diagonal[r-k]) || math.IsInf(pivot, 1) {
				return 0, false
			}
			root := math.Sqrt(pivot)
			product *= root
			scaleBy(row[r:], 1/root)
			row[r] = root
		}
		if product > 1e-300 && product < 1e300 {
			logDet += math.Log(product)
			continue
		}
		for r := k; r < min(k+block, f.n); r++ { // the product has left the range of numbers
			logDet += math.Log(f.upper[r*(f.m+1)])
		}
	}
	return logDet, true
}

// pad makes the padding of the matrix the identity.
func (f *Factor) pad() {
	for i := range f.m {
		row := f.upper[i*f.m : (i+1)*f.m]
		clear(row[max(i, f.n):])
		if i >= f.n {
			row[i] = 1
		}
	}
}

// subtract subtracts AᵀB from the square block of c at row i and column j, summed over rows from to below.
func (f *Factor) subtract(c, a, b []float64, i, j, from, below int) {
	if from == below {
		return
	}
	for r := i; r < i+block; r += tileRows {
		subtractTile(c[r*f.m+j:], a[from*f.m+r:], b[from*f.m+j:], f.m, below-from)
	}
}

// InvertFactor computes the inverse of U, which Solve and Invert need.
func (f *Factor) InvertFactor() {
	if f.lower == nil {
		f.lower = make([]float64, f.m*f.m)
	}
	clear(f.lower)
	for k := 0; k < f.m; k += block {
		for j := 0; j < k; j += block {
			f.subtract(f.lower, f.upper, f.lower, k, j, j, k)
		}
		for r := k; r < k+block; r++ {
			row := f.lower[r*f.m : r*f.m+k+block]
			row[r] = 1
			for q := k; q < r; q++ {
				subtractScaled(row, f.upper[q*f.m+r], f.lower[q*f.m:q*f.m+k+block])
			}
			scaleBy(row, 1/f.upper[r*f.m+r])
		}
	}
}

// Invert replaces U by the inverse of the matrix, which Row then returns. It needs InvertFactor.
func (f *Factor) Invert() {
	for i := 0; i < f.m; i += block {
		for r := i; r < i+block; r++ {
			clear(f.upper[r*f.m+i : (r+1)*f.m])
		}
		for j := i; j < f.m; j += block {
			f.subtract(f.upper, f.lower, f.lower, i, j, j, f.m)
		}
		for r := i; r < i+block; r++ {
			row := f.upper[r*f.m+i : (r+1)*f.m]
			for k := range row {
				row[k] = -row[k]
			}
		}
	}
}

// Solve replaces v (length n) by the matrix's inverse times v. It needs the factor U.
func (f *Factor) Solve(v []float64) {
	if len(v) != f.n {
		panic(fmt.Sprintf("linalg: vector of %d numbers for a matrix of %d rows", len(v), f.n))
	}
	for i := range v {
		row := f.upper[i*f.m : i*f.m+f.n]
		v[i] /= row[i]
		subtractScaled(v[i+1:], v[i], row[i+1:])
	}
	for i := f.n - 1; i >= 0; i-- {
		row := f.upper[i*f.m : i*f.m+f.n]
		v[i] = (v[i] - Dot(row[i+1:], v[i+1:])) / row[i]
	}
}

// Inverse is the inverse of the factor U of a symmetric positive definite matrix K = UᵀU. It is immutable and
// safe for concurrent use. Its products with vectors are faster than solutions of systems with U, which
// compute one number after the other. Rounding errors are those of the solutions up to a factor of the order
// of one.
type Inverse struct {
	n, m         int
	upper, lower []float64 // m×m, row-major: U⁻¹ and U⁻ᵀ
}

// NewInverse returns the inverse of an upper triangle.
func NewInverse(u blas64.Triangular) *Inverse {
	f := NewFactor(u.N)
	for i := range u.N {
		copy(f.Row(i), u.Data[i*u.Stride+i:i*u.Stride+u.N])
	}
	f.pad()
	f.InvertFactor()
	for i := range f.m {
		for j := i; j < f.m; j++ {
			f.upper[i*f.m+j] = f.lower[j*f.m+i]
		}
	}
	return &Inverse{n: f.n, m: f.m, upper: f.upper, lower: f.lower}
}

// Room returns the length of the vectors of Half and OtherHalf: the number of rows, rounded up to a multiple
// of 8.
func (v *Inverse) Room() int { return v.m }

// Half sets dst to U⁻ᵀx. Both have the length of Room. The padding of x must be 0, and that of dst is then 0.
func (v *Inverse) Half(dst, x []float64) {
	for j := 0; j < v.m; j += block {
		combineRows(dst[j:j+block], x[:j+block], v.upper[j:], v.m)
	}
}

// OtherHalf sets dst to U⁻¹x, as Half does U⁻ᵀx.
func (v *Inverse) OtherHalf(dst, x []float64) {
	for j := 0; j < v.m; j += block {
		combineRows(dst[j:j+block], x[j:v.m], v.lower[j*v.m+j:], v.m)
	}
}

// subtractScaled subtracts scale·a from b, which have the same length.
func subtractScaled(b []float64, scale float64, a []float64) {
	a = a[:len(b)]
	for i := vectorScaled(b, scale, a); i < len(b); i++ {
		b[i] -= scale * a[i]
	}
}

func scaleBy(v []float64, factor float64) {
	for i := range v {
		v[i] *= factor
	}
}
