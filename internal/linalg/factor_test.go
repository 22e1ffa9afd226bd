package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"pgregory.net/rapid"
)

// positive draws a positive definite matrix of n rows: the Gram matrix of n+2 rows of numbers, plus a ridge.
func positive(t *rapid.T, n int) blas64.Symmetric {
	rows := rapid.SliceOfN(rapid.Float64Range(-1, 1), n*(n+2), n*(n+2)).Draw(t, "numbers")
	a := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Upper}
	for i := range n {
		for j := i; j < n; j++ {
			for p := range n + 2 {
				a.Data[i*n+j] += rows[p*n+i] * rows[p*n+j]
			}
		}
		a.Data[i*n+i] += 0.01
	}
	return a
}

// factorOf returns the factorisation of the matrix.
func factorOf(t *rapid.T, f *Factor, a blas64.Symmetric) (logDet float64) {
	for i := range a.N {
		copy(f.Row(i), a.Data[i*a.Stride+i:i*a.Stride+a.N])
	}
	logDet, ok := f.Factorise()
	if !ok {
		t.Fatal("a positive definite matrix was refused")
	}
	return logDet
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)) }

// The factor, the determinant, the solution and the inverse agree with those of LAPACK, also if the memory of
// an earlier matrix is used again.
func TestFactorAgreesWithLAPACK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "rows")
		f := NewFactor(n)
		for range 2 {
			a := positive(t, n)
			logDet := factorOf(t, f, a)
			solution := make([]float64, n)
			for i := range solution {
				solution[i] = float64(i) - 1.5
			}
			want := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: append([]float64(nil), solution...)}
			root, wantLogDet, _ := Factorise(a)
			if !near(wantLogDet, logDet) {
				t.Fatalf("log determinant %g, want %g", logDet, wantLogDet)
			}
			for i := range n {
				for j, u := range f.Row(i) {
					if !near(root.Data[i*n+i+j], u) {
						t.Fatalf("factor %g at (%d, %d), want %g", u, i, i+j, root.Data[i*n+i+j])
					}
				}
			}
			f.Solve(solution)
			lapack64.Potrs(root, want)
			for i, v := range want.Data {
				if !near(v, solution[i]) {
					t.Fatalf("solution %v, want %v", solution, want.Data)
				}
			}
			f.InvertFactor()
			f.Invert()
			lapack64.Potri(root)
			for i := range n {
				for j, v := range f.Row(i) {
					if !near(root.Data[i*n+i+j], v) {
						t.Fatalf("inverse %g at (%d, %d), want %g", v, i, i+j, root.Data[i*n+i+j])
					}
				}
			}
		}
	})
}

// Products with the inverse of a factor solve its systems.
func TestInverseSolvesTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "rows")
		root, _, _ := Factorise(positive(t, n))
		v := NewInverse(root)
		x, dst := make([]float64, v.Room()), make([]float64, v.Room())
		for i := range n {
			x[i] = rapid.Float64Range(-1, 1).Draw(t, "x")
		}
		for name, transposed := range map[string]blas.Transpose{"half": blas.Trans, "other half": blas.NoTrans} {
			want := append([]float64(nil), x[:n]...)
			blas64.Trsv(transposed, root, Vector(want))
			if transposed == blas.Trans {
				v.Half(dst, x)
			} else {
				v.OtherHalf(dst, x)
			}
			for i, u := range dst {
				if i < n && !near(want[i], u) || i >= n && u != 0 {
					t.Fatalf("%s: %v, want %v", name, dst, want)
				}
			}
		}
	})
}

func TestFactoriseRefuses(t *testing.T) {
	for name, rows := range map[string][][]float64{
		"indefinite": {{1, 2}, {1}},
		"singular":   {{2, 2, 2}, {2, 2}, {2}},
		"NaN":        {{1, math.NaN()}, {1}},
		"infinite":   {{math.Inf(1), 0}, {1}},
	} {
		f := NewFactor(len(rows))
		for i, row := range rows {
			copy(f.Row(i), row)
		}
		if _, ok := f.Factorise(); ok {
			t.Errorf("%s: factorised", name)
		}
	}
}

// The logarithm of the determinant is finite although the determinant is not.
func TestLogDeterminantBeyondTheRange(t *testing.T) {
	for _, pivot := range []float64{1e-100, 1e100} {
		const n = 8
		f := NewFactor(n)
		for i := range n {
			row := f.Row(i)
			clear(row)
			row[0] = pivot
		}
		if logDet, ok := f.Factorise(); !ok || !near(n*math.Log(pivot)/2, logDet) {
			t.Errorf("pivots %g: log determinant %g, want %g", pivot, logDet, n*math.Log(pivot)/2)
		}
	}
}

// The vector kernels and their portable forms agree.
func TestPortableTiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const stride = 11
		n := 4 * rapid.IntRange(1, 5).Draw(t, "n/4")
		numbers := func(name string, count int) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(-1, 1), count, count).Draw(t, name)
		}
		a, b, x := numbers("a", stride*n), numbers("b", stride*n), numbers("x", n)
		c := numbers("c", stride*tileRows)
		want := append([]float64(nil), c...)
		subtractTile(c, a, b, stride, n)
		portableTile(want, a, b, stride, n)
		for i := range want {
			if !near(want[i], c[i]) {
				t.Fatalf("tile %v, want %v", c, want)
			}
		}
		var rows [tileColumns]float64
		combineRows(rows[:], x, b, stride)
		for s, got := range rows {
			sum := 0.0
			for p, v := range x {
				sum += v * b[p*stride+s]
			}
			if !near(sum, got) {
				t.Fatalf("combined rows %v, want %g at %d", rows, sum, s)
			}
		}
	})
}
