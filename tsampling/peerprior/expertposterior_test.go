package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

// A belief agrees with the own observations, is as unsure elsewhere as peers leave it, and
// its gradients are those of its predictions.
func TestExpertPosteriorPredictsAndDifferentiates(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	x := l.designs(8, random.SeedOf(1))
	view := with(l.view(x, bump(0.3)), l.peersOf(3, 12, bump(0.35), 1)...)
	o := l.considered(view)
	for _, e := range o.experts {
		b, err := e.posterior(o.data)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range x {
			mean, variance := b.Predict(p)
			if math.Abs(mean-o.data.y[i]) > 0.2 || !(variance >= 0 && variance < 0.05) {
				t.Errorf("size %g: %g ± %g where %g was observed", e.size, mean, math.Sqrt(variance), o.data.y[i])
			}
		}
		for _, p := range l.designs(20, random.SeedOf(9)) {
			ofMean, ofVariance := make([]float64, 2), make([]float64, 2)
			mean, variance := b.PredictGradient(ofMean, ofVariance, p)
			if m, v := b.Predict(p); math.Abs(m-mean) > 1e-9 || math.Abs(v-variance) > 1e-9 {
				t.Fatalf("%g and %g with gradient, %g and %g without", mean, variance, m, v)
			}
			if variance > e.size*e.size*(1+1e-9) {
				t.Errorf("a variance of %g, of %g before any observation", variance, e.size*e.size)
			}
			const step = 1e-5
			for i := range p {
				if p[i] < 2*step || p[i] > 1-2*step {
					continue
				}
				up, down := append([]float64(nil), p...), append([]float64(nil), p...)
				up[i] += step
				down[i] -= step
				m1, v1 := b.Predict(up)
				m0, v0 := b.Predict(down)
				if want := (m1 - m0) / (2 * step); math.Abs(want-ofMean[i]) > 1e-3*(1+math.Abs(want)) {
					t.Errorf("gradient %g of the mean, by differences %g", ofMean[i], want)
				}
				if want := (v1 - v0) / (2 * step); math.Abs(want-ofVariance[i]) > 1e-3*(1+math.Abs(want)) {
					t.Errorf("gradient %g of the variance, by differences %g", ofVariance[i], want)
				}
			}
		}
	}
}
