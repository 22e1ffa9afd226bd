package fbotest

import (
	"math"

	"gonum.org/v1/gonum/diff/fd"
)

// CheckGradient fails the test unless grad is the gradient of f at x. It compares each coordinate
// with a central difference of width 2e-6, and accepts an error of tolerance × (1 + |difference|).
func CheckGradient(t TB, grad, x []float64, f func(x []float64) float64, tolerance float64) {
	t.Helper()
	if len(grad) != len(x) {
		t.Fatalf("the gradient has %d coordinates, want %d", len(grad), len(x))
	}
	for i, want := range fd.Gradient(nil, f, x, &fd.Settings{Formula: fd.Central, Step: 1e-6}) {
		if !(math.Abs(grad[i]-want) <= tolerance*(1+math.Abs(want))) { // the comparison is false for NaN
			t.Fatalf("at %v: coordinate %d of the gradient is %g, want the difference %g", x, i, grad[i], want)
		}
	}
}
