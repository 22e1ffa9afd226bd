package attack

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/rff"
)

// The attack inverts a mean with little noise, as its bound predicts. With noise of deviation 1 on
// each weight, about the norm of the whole mean, both find nothing: other inputs explain the
// weights at least as well as the true ones.
func TestNoisyMeansAreInvertedAsFarAsNoiseAllows(t *testing.T) { checkNoisyMeans(t, 4) }

// checkNoisyMeans attacks means of that many observations.
func checkNoisyMeans(t *testing.T, observations int) {
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
		case noise <= 0.01 && (determined < observations || found.Found < float64(observations) || found.ValueError > 0.05):
			t.Error("the attack and the bound are no measure")
		case noise == 1 && (determined > 0 || found.Found > 1):
			t.Error("inputs are found in spite of the noise")
		}
	}
}
