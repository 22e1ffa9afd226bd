//go:build !race

package acquisition

import "testing"

// The race detector drops objects from pools, which then allocate.
func TestAcquisitionsDoNotAllocate(t *testing.T) {
	p := oneObservation{[]float64{0.3, 0.6}, 1, 0.5}
	x, grad, dst := []float64{0.2, 0.9, 0.4, 0.1}, make([]float64, 2), make([]float64, 2)
	for name, f := range acquisitions(p, p) {
		if n := testing.AllocsPerRun(200, func() {
			f.Value(x[:2])
			f.Gradient(grad, x[:2])
			evaluate(f, dst, x)
		}); n >= 1 {
			t.Errorf("%s: %g allocations per round", name, n)
		}
	}
}
