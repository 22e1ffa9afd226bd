package attack

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
)

// Shares without noise disclose the inputs: samples of one posterior agree at the observations, so
// that eight of them locate all inputs. Eight releases with privacy locate none beyond chance.
func TestSharesWithoutNoiseDiscloseInputs(t *testing.T) { checkSamples(t, 4) }

// checkSamples attacks eight samples, and as many releases, of a posterior of that many
// observations.
func checkSamples(t *testing.T, observations int) {
	const count = 8
	private := newTask(t, 2, "surrogate: {type: rff, features: 100, lengthscale: 0.2, kernel: se}\nstrategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 8, releases: 8}")
	deviation, err := promised(private)
	if err != nil {
		t.Fatal(err)
	}
	features, err := surrogate.SharedMap(private)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(3).Stream("attack", 0)
	var truth Truth
	for len(truth.X) < observations {
		point := []float64{rng.Float64(), rng.Float64()}
		if slices.ContainsFunc(truth.X, func(other []float64) bool { return distance(point, other) < 0.1 }) {
			continue // every attack counts two inputs at such a distance as one
		}
		truth.X, truth.Y = append(truth.X, point), append(truth.Y, math.Sin(5*point[0])+point[1])
	}
	truth.EstimatedOptimum = truth.X[argmax(truth.Y)]
	posterior, err := rff.NewPosterior(features, truth.X, truth.Y, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := ledger.NewLedger(private, rand.NewChaCha8([32]byte{4}))
	if err != nil {
		t.Fatal(err)
	}
	said := func(w []float64) Share {
		return Share{Kind: protocol.WeightsKind, Observations: observations, Value: protocol.Weights{Observations: observations, Values: w}}
	}
	plain, noisy := Disclosure{Task: private}, Disclosure{Task: private}
	for range count {
		draw := posterior.Weights(rng)
		plain.Shares = append(plain.Shares, said(draw))
		released, _, _, err := ledger.Release(draw)
		if err != nil {
			t.Fatal(err)
		}
		noisy.Shares = append(noisy.Shares, said(released))
	}
	for _, a := range sampleAttacks() {
		if a.Scene != Listen {
			continue
		}
		find := func(seen *Seen) Score {
			g, err := a.Guess(t.Context(), seen, random.SeedOf(1).Stream(a.Name, 0))
			if err != nil {
				t.Fatal(err)
			}
			g.complete(private, truth, 1)
			return score(truth, g)
		}
		found := find(&Seen{Task: private, Observations: observations, Disclosures: []Disclosure{plain}})
		hidden := find(&Seen{Task: private, Deviation: deviation, Observations: observations, Disclosures: []Disclosure{noisy}})
		t.Logf("%s: of %d inputs %g from %d samples, and %g from as many releases", a.Name, observations, found.Found, count, hidden.Found)
		if a.Name == "likelihood search for the inputs of all samples" && found.Found != float64(observations) {
			t.Errorf("the attack located %g of %d inputs: it is no measure of privacy", found.Found, observations)
		}
		// Each guess covers a sixth of a percent of the square. By chance 15 guesses locate one
		// of 15 inputs in a third of the cases, and four in one of 1400.
		if hidden.Found > 3 {
			t.Errorf("%s: %g inputs were located in spite of the noise", a.Name, hidden.Found)
		}
	}
}
