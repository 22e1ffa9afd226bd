package tsampling

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/privacy/ledger"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
)

// Why shares without noise are no privacy: samples of one posterior agree where it
// was conditioned, so that from eight of them anybody finds all inputs. With the
// promise on, eight releases tell nothing of the kind.
func TestInputsAreReadOffSharesWithoutNoise(t *testing.T) {
	const observations, samples = 15, 8
	definition, err := strategy.Set{RegisterFTS(), RegisterTS()}.Parse("task", []byte(`
name: attacked
goal: maximize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {type: rff, features: 100, lengthscale: 0.2, kernel: se}
strategy: {type: fts}
privacy: {mechanism: local, epsilon: 8, releases: 8}`))
	if err != nil {
		t.Fatal(err)
	}
	features, err := surrogate.SharedMap(definition)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(3).Stream("attack", 0)
	var x [][]float64
	var y []float64
	for len(x) < observations {
		point := []float64{rng.Float64(), rng.Float64()}
		if slices.ContainsFunc(x, func(other []float64) bool { return distance(point, other) < 0.1 }) {
			continue // two so near each other count as one to everybody
		}
		x, y = append(x, point), append(y, math.Sin(5*point[0])+point[1])
	}
	posterior, err := rff.NewPosterior(features, x, y, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := ledger.NewLedger(definition, rand.NewChaCha8([32]byte{4}))
	if err != nil {
		t.Fatal(err)
	}
	var open, private [][]float64
	for range samples {
		draw := posterior.Weights(rng)
		open = append(open, draw)
		noisy, _, _, err := ledger.Release(draw)
		if err != nil {
			t.Fatal(err)
		}
		private = append(private, noisy)
	}
	found := located(x, agreements(features, open, observations))
	hidden := located(x, agreements(features, private, observations))
	t.Logf("of %d inputs %d were located within 0.02 from %d samples, and %d from as many releases", observations, found, samples, hidden)
	if found != observations {
		t.Errorf("the attack located %d of %d inputs: it is no measure of privacy", found, observations)
	}
	// Each guess covers an eighth of a percent of the square: by chance 15 guesses
	// locate one of 15 inputs in a quarter of the cases, three in one of 350.
	if hidden > 2 {
		t.Errorf("%d inputs were located in spite of the noise", hidden)
	}
}

// agreements are the count places where the functions differ least, each the
// least of its neighbourhood.
func agreements(features *rff.Map, weights [][]float64, count int) [][]float64 {
	const side = 201
	spread := make([]float64, side*side)
	at := func(i int) []float64 {
		return []float64{float64(i/side) / (side - 1), float64(i%side) / (side - 1)}
	}
	var functions []*rff.Function
	for _, w := range weights {
		functions = append(functions, features.Function(w))
	}
	for i := range spread {
		sum, square := 0.0, 0.0
		for _, f := range functions {
			v := f.Value(at(i))
			sum, square = sum+v, square+v*v
		}
		n := float64(len(functions))
		spread[i] = square/n - sum*sum/(n*n)
	}
	var least []int
	for i := range spread {
		row, column, minimum := i/side, i%side, true
		for r := max(0, row-1); r <= min(side-1, row+1); r++ {
			for c := max(0, column-1); c <= min(side-1, column+1); c++ {
				minimum = minimum && spread[r*side+c] >= spread[i]
			}
		}
		if minimum {
			least = append(least, i)
		}
	}
	slices.SortFunc(least, func(a, b int) int { return cmp.Compare(spread[a], spread[b]) })
	var places [][]float64
	for _, i := range least[:min(count, len(least))] {
		places = append(places, at(i))
	}
	return places
}

// located counts the inputs that have one of the places within 0.02.
func located(inputs, places [][]float64) (count int) {
	for _, x := range inputs {
		if slices.ContainsFunc(places, func(place []float64) bool { return distance(x, place) <= 0.02 }) {
			count++
		}
	}
	return count
}

func distance(a, b []float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }
