package surrogate

import (
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
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
func TestLevelAndScaleRestoreUnits(t *testing.T) {
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

// With six coordinates a mean in M = 512 weights misses the hill that its author has
// climbed; the detailed one does not: its error at the observed designs, and at others
// around the best of them, is less than half as large. It is the same whenever it is
// asked for. What the weights of "rff" say is exact either way.
func TestDetailedMean(t *testing.T) {
	const d = 6
	rng := random.SeedOf(8).Stream("observations", 0)
	top := []float64{0.2, 0.15, 0.5, 0.3, 0.3, 0.65}
	var obs Observations
	for i := range 45 {
		x, far := make([]float64, d), 0.0
		for k := range x {
			x[k] = rng.Float64()
			if i >= 20 {
				x[k] = min(max(top[k]+0.1*rng.NormFloat64(), 0), 1)
			}
			far += (x[k] - top[k]) * (x[k] - top[k])
		}
		obs.X = append(obs.X, x)
		obs.Y = append(obs.Y, math.Exp(-5*far))
	}
	for _, kind := range []string{"exact", "rff"} {
		definition := newTask(t, kind, 512, floatParameters(d)...)
		model, err := New(definition)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := SharedMap(definition)
		if err != nil {
			t.Fatal(err)
		}
		h := Hyperparameters{Noise: 0.01}
		if kind == "exact" {
			h.Lengthscales = slices.Repeat([]float64{0.6}, d)
		}
		p, err := model.Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		level, plain := p.Mean()
		detailedLevel, detailed := p.DetailedMean()
		if _, again := p.DetailedMean(); !slices.Equal(detailed, again) || level != detailedLevel {
			t.Fatalf("%s: levels %g and %g; a second detailed mean is another", kind, level, detailedLevel)
		}
		if kind == "rff" {
			if !slices.Equal(plain, detailed) {
				t.Error("rff: the detailed mean differs")
			}
			continue
		}
		errorOf := func(weights []float64, points [][]float64) (off float64) {
			f := shared.Function(weights)
			for _, x := range points {
				mean, _ := p.Predict(x)
				off += math.Pow(level+f.Value(x)-mean, 2) / float64(len(points))
			}
			return math.Sqrt(off)
		}
		best := obs.X[0]
		for _, x := range obs.X {
			mean, _ := p.Predict(x)
			if highest, _ := p.Predict(best); mean > highest {
				best = x
			}
		}
		var around [][]float64
		for range 100 {
			around = append(around, near(definition.Space, best, rng))
		}
		for name, points := range map[string][][]float64{"observed": obs.X, "around": around} {
			off, before := errorOf(detailed, points), errorOf(plain, points)
			t.Logf("%s: off by %.3f instead of %.3f", name, off, before)
			if !(off < before/2) {
				t.Errorf("%s: the detailed mean is off by %g, the other by %g", name, off, before)
			}
		}
	}
}
