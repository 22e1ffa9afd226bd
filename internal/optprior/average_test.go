package optprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// The average is that of the densities one by one, and its gradient that of its values: for normals that are
// evaluated together, more of them than fit on the stack, and mixtures beside them.
func TestAverageIsThatOfTheDensities(t *testing.T) {
	floats := make([]task.Parameter, 6)
	for i := range floats {
		floats[i] = task.Parameter{Name: string(rune('a' + i)), Kind: task.Float, Low: 0, High: 1}
	}
	space, err := task.NewSpace(floats)
	if err != nil {
		t.Fatal(err)
	}
	layout, rng := NewLayout(space), random.SeedOf(5).Stream("densities", 0)
	for _, count := range []int{1, 20, averagedOnStack + 3} {
		for _, mixtures := range []int{0, 2} {
			var all []*Mixture
			for range count {
				all = append(all, Around(layout, 0.05+0.3*rng.Float64(), acquisition.Sample(space, rng)))
			}
			for range mixtures {
				m := &Mixture{layout: layout}
				for range 3 {
					m.components = append(m.components, NewNormal(layout, 1.0/3, 0.05+0.3*rng.Float64(), acquisition.Sample(space, rng)))
				}
				all = append(all, m)
			}
			average := NewAverage(all)
			if got := len(average.heights); got != count {
				t.Fatalf("%d normals together, want %d", got, count)
			}
			for range 10 {
				x, want := acquisition.Sample(space, rng), 0.0
				for _, m := range all {
					want += math.Exp(m.Value(x)) / float64(len(all))
				}
				if got := average.Value(x); math.Abs(got-want) > 1e-12*(1+want) {
					t.Fatalf("%d normals and %d mixtures: %.15g, want %.15g", count, mixtures, got, want)
				}
				grad := make([]float64, len(x))
				if value := average.Gradient(grad, x); value != average.Value(x) {
					t.Fatalf("%g with its gradient, %g without", value, average.Value(x))
				}
				fbotest.CheckGradient(t, grad, x, average.Value, 1e-4)
			}
		}
	}
}
