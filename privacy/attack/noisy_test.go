package attack

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/internal/race"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/surrogate"
)

// A mean with hardly any noise is inverted and its bound says so; with a noise of deviation
// 1 on each weight, where the whole mean has about that norm, neither finds anything. What
// explains the weights at least as well as the truth cannot be told from it.
func TestNoisyMeansAreInvertedAsFarAsNoiseAllows(t *testing.T) {
	race.Skip(t)
	const observations = 6
	named := newTask(t, 2, "surrogate: {features: 256}\nstrategy: {type: logei}")
	features, err := surrogate.SharedMap(named)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(1).Stream("truth", 0)
	var truth Truth
	for len(truth.X) < observations {
		truth.X = append(truth.X, acquisition.Sample(named.Space, rng))
		truth.Y = append(truth.Y, rng.NormFloat64())
	}
	posterior, err := rff.NewPosterior(features, truth.X, truth.Y, 1, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, noise := range []float64{0.01, 1} {
		m := noisyMean{task: named, features: features, weights: posterior.Mean(), count: observations, error: 0.01, deviation: noise, scale: 1}
		for i := range m.weights {
			m.weights[i] += noise * rng.NormFloat64()
		}
		x, y, err := m.likeliest(t.Context(), random.SeedOf(2).Stream("search", 0))
		if err != nil {
			t.Fatal(err)
		}
		if noise == 1 && m.evidence(x) < m.evidence(truth.X) {
			t.Errorf("noise %g: the search ends at evidence %g, and the truth has %g", noise, m.evidence(x), m.evidence(truth.X))
		}
		deviations, values := make([][]float64, observations), make([]float64, observations)
		for i := range deviations {
			deviations[i] = make([]float64, 2)
		}
		if err := m.bound(truth, deviations, values); err != nil {
			t.Fatal(err)
		}
		determined := 0
		for _, d := range deviations {
			if slices.Max(d) <= Near {
				determined++
			}
		}
		found := score(truth, Guess{X: x, Y: y})
		t.Logf("noise %g: %d of %d inputs are determined, %g found, values to %.2g of their range", noise, determined, observations, found.Found, found.ValueError)
		switch {
		case noise <= 0.01 && (determined < observations || found.Found < observations || found.ValueError > 0.05):
			t.Error("the attack and the bound are no measure")
		case noise == 1 && (determined > 0 || found.Found > 1):
			t.Error("inputs are found in spite of the noise")
		}
	}
}
