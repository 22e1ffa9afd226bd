package surrogate

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/random"
)

// What a mean says in M = 256 weights is what the posterior predicts (R² above
// .95 in two coordinates), and what it knows follows the posterior's variance.
func TestMeanAndExplained(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		definition := newTask(t, kind, 256, floatParameters(2)...)
		model, err := New(definition)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := SharedMap(definition)
		if err != nil {
			t.Fatal(err)
		}
		before := 0.0
		for _, count := range []int{5, 12, 30} {
			obs := smoothObservations(count)
			h := Hyperparameters{Noise: 0.01}
			if kind == "exact" {
				h.Lengthscales = []float64{0.3, 0.3}
			}
			p, err := model.Condition(obs, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			level, weights := p.Mean()
			average, known := p.Explained()
			mean, part := shared.Function(weights), shared.Function(known)
			var off, spread, offKnown, level0 float64
			rng := random.SeedOf(6).Stream("points", 0)
			var predictions []float64
			const points = 300
			for range points {
				x := []float64{rng.Float64(), rng.Float64()}
				m, v := p.Predict(x)
				predictions = append(predictions, m)
				off += math.Pow(level+mean.Value(x)-m, 2) / points
				offKnown += math.Pow(average+part.Value(x)-min(max(1-v, 0), 1), 2) / points
				level0 += m / points
			}
			for _, m := range predictions {
				spread += (m - level0) * (m - level0) / points
			}
			if !(off < 0.05*spread) {
				t.Errorf("%s, t = %d: the mean is off by %g, its variance is %g", kind, count, off, spread)
			}
			if !(math.Sqrt(offKnown) < 0.1) {
				t.Errorf("%s, t = %d: what is known is off by %g", kind, count, math.Sqrt(offKnown))
			}
			if !(average > before && average <= 1) {
				t.Errorf("%s: %d observations explain %g, fewer %g", kind, count, average, before)
			}
			before = average
			if got := p.Hyperparameters(); got.Noise != h.Noise || len(got.Lengthscales) != len(h.Lengthscales) {
				t.Errorf("%s: hyperparameters %v, conditioned with %v", kind, got, h)
			}
		}
	}
}

// Level and Scale take standardised outputs back, except in the bent tail.
func TestUnits(t *testing.T) {
	obs := Observations{Y: []float64{1e6 + 3, 1e6 + 1, 1e6 + 2, 1e6 - 50}, X: make([][]float64, 4)}
	y, units, err := Standardise(obs)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if back := units.Level + units.Scale*y[i]; math.Abs(back-obs.Y[i]) > 1e-6 {
			t.Errorf("output %g came back as %g", obs.Y[i], back)
		}
	}
	if back := units.Level + units.Scale*y[3]; !(back > obs.Y[3]+1) {
		t.Errorf("the bad output %g is not bent: %g", obs.Y[3], back)
	}
	if _, units, err = Standardise(Observations{Y: []float64{7, 7}, X: make([][]float64, 2)}); err != nil || units.Scale != 0 {
		t.Errorf("equal outputs: units %v, %v", units, err)
	}
}

// smoothObservations are of a smooth function at the first points of one stream.
func smoothObservations(count int) (obs Observations) {
	rng := random.SeedOf(5).Stream("observations", 0)
	for range count {
		x := []float64{rng.Float64(), rng.Float64()}
		obs.X = append(obs.X, x)
		obs.Y = append(obs.Y, math.Sin(5*x[0])+math.Cos(4*x[1]))
	}
	return obs
}
