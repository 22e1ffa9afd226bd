package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestDotAndAddScaled(t *testing.T) {
	a, b := []float64{1, 2, -3}, []float64{4, 0.5, 2}
	if got := Dot(a, b); got != -1 {
		t.Errorf("dot %g, want -1", got)
	}
	AddScaled(b, -2, a)
	for i, want := range []float64{2, -3.5, 8} {
		if b[i] != want {
			t.Errorf("element %d is %g, want %g", i, b[i], want)
		}
	}
}

func TestCloneSharesNoMemory(t *testing.T) {
	rows := [][]float64{{1, 2}, {3, 4}}
	copied := Clone(rows)
	rows[1][0] = 5
	if copied[1][0] != 3 || copied[0][1] != 2 {
		t.Errorf("the copy is %v", copied)
	}
}

func TestFactorise(t *testing.T) {
	// U = [2 1; 0 3] in a wider memory, with anything below the diagonal.
	a := blas64.Symmetric{Uplo: blas.Upper, N: 2, Stride: 3, Data: []float64{4, 2, 7, 99, 10}}
	root, logDet, ok := Factorise(a)
	if !ok {
		t.Fatal("a positive definite matrix was refused")
	}
	for i, want := range map[int]float64{0: 2, 1: 1, 4: 3} {
		if math.Abs(root.Data[i]-want) > 1e-15 {
			t.Errorf("element %d of the root is %g, want %g", i, root.Data[i], want)
		}
	}
	if math.Abs(logDet-math.Log(6)) > 1e-15 {
		t.Errorf("log determinant %g, want log 6", logDet)
	}
	if _, _, ok := Factorise(blas64.Symmetric{Uplo: blas.Upper, N: 2, Stride: 2, Data: []float64{1, 2, 0, 1}}); ok {
		t.Error("an indefinite matrix was factorised")
	}
}
