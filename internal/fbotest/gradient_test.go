package fbotest

import (
	"fmt"
	"math"
	"testing"
)

// failed is what recorder panics with.
type failed string

// recorder is a test that reports its failure to failure.
type recorder struct{}

func (recorder) Helper()           {}
func (recorder) Fatal(args ...any) { panic(failed(fmt.Sprint(args...))) }
func (recorder) Fatalf(format string, args ...any) {
	panic(failed(fmt.Sprintf(format, args...)))
}

// failure returns the message with which check fails, or "".
func failure(check func(t TB)) (message failed) {
	defer func() {
		if r := recover(); r != nil {
			message = r.(failed)
		}
	}()
	check(recorder{})
	return ""
}

func TestCheckGradientFindsWrongGradients(t *testing.T) {
	f := func(x []float64) float64 { return math.Sin(x[0]) + x[0]*x[1]*x[1] }
	x := []float64{0.5, -2}
	right := []float64{math.Cos(0.5) + 4, -2}
	for _, c := range []struct {
		name string
		grad []float64
		ok   bool
	}{
		{"right", right, true},
		{"within the tolerance", []float64{right[0] + 5e-5, right[1]}, true},
		{"off by a thousandth", []float64{right[0], right[1] + 1e-3}, false},
		{"wrong sign", []float64{-right[0], right[1]}, false},
		{"NaN", []float64{right[0], math.NaN()}, false},
		{"too short", right[:1], false},
	} {
		if got := failure(func(t TB) { CheckGradient(t, c.grad, x, f, 1e-5) }); (got == "") != c.ok {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	infinite := func([]float64) float64 { return math.Inf(1) }
	if failure(func(t TB) { CheckGradient(t, []float64{0, 0}, x, infinite, 1e-5) }) == "" {
		t.Error("an infinite function passes")
	}
}
