package constrainedgp

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// BenchmarkSuggest compares with expected improvement alone, which is what designs
// = 0 comes to.
func BenchmarkSuggest(b *testing.B) {
	parameters := plane + ", {name: u, type: float, low: 0, high: 1}, {name: v, type: float, low: 0, high: 1}"
	for _, model := range []string{"exact", "rff"} {
		for _, designs := range []int{0, 1, 5, 20} {
			b.Run(fmt.Sprintf("%s/designs=%d", model, designs), func(b *testing.B) {
				l := newLab(b, "maximize", parameters, model, "none")
				l.noise = noisy
				// All observations lie in one corner of the cube and all designs in
				// another, and the outputs are noise, so that these are not contradicted.
				own, shared := l.designs(50, 2), l.designs(designs, 4)
				for _, x := range own {
					for i := range x {
						x[i] /= 3
					}
				}
				for _, x := range shared {
					for i := range x {
						x[i] = 1 - x[i]/3
					}
				}
				view := l.with(l.view(own, func(x []float64) float64 { return math.Sin(1e4 * x[0]) }), shared...)
				trial := uint64(len(view.Trials))
				for b.Loop() {
					trial++
					if _, err := l.strategy.Suggest(b.Context(), view, trial, random.SeedOf(1)); err != nil {
						b.Fatal(err)
					}
				}
				_, claims := l.considered(view, 1)
				b.ReportMetric(float64(len(claims)), "kept")
			})
		}
	}
}

// BenchmarkValue is what one evaluation of the function to maximise costs.
func BenchmarkValue(b *testing.B) {
	l := newLab(b, "maximize", plane, "exact", "none")
	var view strategy.View
	var f *averageImprovement
	for count := 3; f == nil || len(f.samples) < maxKept; count++ {
		view = l.with(l.view(l.designs(4, 2), bump(0.3)), l.designs(count, 4)...)
		f, _ = l.considered(view, 1)
	}
	x, grad := []float64{0.7, 0.2}, make([]float64, 2)
	b.Run("value", func(b *testing.B) {
		for b.Loop() {
			f.Value(x)
		}
	})
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			f.Gradient(grad, x)
		}
	})
}
