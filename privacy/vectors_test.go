package privacy

import (
	"math"
	"testing"
)

// renyiEpsilon is ε of alike releases over orders(), at the level of multipliers.
func renyiEpsilon(rate, multiplier float64, releases int, delta float64) (epsilon, order float64) {
	epsilon = math.Inf(1)
	for _, alpha := range orders() {
		if e := epsilonAt(float64(releases)*sampledRDP(rate, multiplier, alpha), alpha, delta); e < epsilon {
			epsilon, order = e, alpha
		}
	}
	return epsilon, order
}

// Values that other accountants publish with their tests.
func TestPublishedRenyiValues(t *testing.T) {
	for _, c := range []struct { // TensorFlow Privacy, compute_dp_sgd_privacy and its tests
		rate, multiplier float64
		releases         int
		delta            float64
		want, order      float64
	}{
		{1, 0.7, 2, 1e-5, 10.8602036, 0},
		{1, 0.35, 2, 1e-5, 26.2880374, 0},
		{0.0025, 1.3, 6000, 1e-5, 0.7242234026, 19},
	} {
		epsilon, order := renyiEpsilon(c.rate, c.multiplier, c.releases, c.delta)
		near(t, "ε", epsilon, c.want, 1e-8)
		if c.order != 0 && order != c.order {
			t.Errorf("best order %g, want %g", order, c.order)
		}
	}
	// dp_accounting; at α = 1.5 its own figure, 6.7058e-4, adds the absolute values of
	// alternating terms and is too large.
	for _, c := range []struct{ alpha, want, relative float64 }{
		{5, 2.18075656e-3, 1e-8}, {50, 2.38460375e-2, 1e-8}, {1.5, 6.50071e-4, 1e-6},
	} {
		near(t, "RDP", 50*sampledRDP(0.01, 2.5, c.alpha), c.want, c.relative)
	}
	// Numerical composition is tighter than any Rényi bound, so ours lies above.
	if epsilon, _ := renyiEpsilon(0.05, 1.5, 100, 1e-6); epsilon < 1.953853 || epsilon > 1.2*1.953853 {
		t.Errorf("ε %g, want above the exact 1.953853 and not by a fifth", epsilon)
	}
}

func TestPublishedGaussianValues(t *testing.T) {
	for _, c := range []struct{ mu, epsilon, want, relative float64 }{
		{1, 1, 0.126936, 1e-5}, // Dong, Roth, Su 2019
		{1.0 / 10, 0.1, 0.008751768145810, 1e-12},
		{5.0 / 10, math.Log(3), 0.004159742234000802, 1e-12},
	} {
		near(t, "δ", gaussianDelta(c.mu, c.epsilon), c.want, c.relative)
	}
	near(t, "1/μ of (1, 1e-5)", 3.730632, 1/gaussianMu(1, 1e-5), 1e-6)
	near(t, "ε at σ = 3.730632", gaussianEpsilon(1/3.730632, 1e-5), 1, 1e-6)
}

// gaussianMu inverts gaussianDelta in μ.
func gaussianMu(epsilon, delta float64) float64 {
	low, high := 0.0, 100.0
	for range 200 {
		if middle := (low + high) / 2; gaussianDelta(middle, epsilon) <= delta {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// The nine figures of Dai, Low, Jaillet, "Differentially Private Federated Bayesian
// Optimization with Distributed Exploration" (NeurIPS 2021): 60 rounds among 29
// agents, δ = 29^−1.1, orders 2 to 33, by the older conversion RDP − ln δ/(α−1).
func TestFiguresOfDistributedExploration(t *testing.T) {
	delta := math.Pow(29, -1.1)
	published := func(rate, multiplier float64) float64 {
		best := math.Inf(1)
		for alpha := 2.0; alpha <= 33; alpha++ {
			best = min(best, 60*sampledRDP(rate, multiplier, alpha)-math.Log(delta)/(alpha-1))
		}
		return best
	}
	for _, c := range []struct{ rate, multiplier, want float64 }{
		{0.35, 1, 15.17}, {0.35, 1.6, 7.12}, {0.35, 2, 5.14}, {0.35, 3, 3.05}, {0.35, 4, 2.16},
		{0.10, 1, 3.75}, {0.15, 1, 5.98}, {0.20, 1, 7.69}, {0.25, 1, 9.82},
	} {
		if got := published(c.rate, c.multiplier); math.Abs(got-c.want) > 0.005 {
			t.Errorf("q %g, z %g: ε %.4f, published %.2f", c.rate, c.multiplier, got, c.want)
		}
	}
	if epsilon, _ := renyiEpsilon(0.35, 1, 60, 1e-5); epsilon < 21 {
		t.Errorf("at δ = 1e-5 ε is %.2f, want above 21", epsilon)
	}
}

// The same vectors through the exported way, where σ is an integer of grid units.
func TestPublishedValuesThroughPlans(t *testing.T) {
	plan := Plan{Grid: Grid{Norm: 22, Bits: 30}, Adjacency: ZeroOut, Dimension: 100, Rate: 1, Releases: 2, Parties: 1}
	sigma := int64(math.Ceil(0.7 * (1 << 30)))
	epsilon := mustEpsilon(t, plan, sigma, 1e-5, Renyi)
	if epsilon > 10.8602036 || epsilon < 10.85 {
		t.Errorf("ε %g, want 10.8602 or a little less, all orders being searched", epsilon)
	}
	plan.Rate, plan.Releases = 0.0025, 6000
	near(t, "sampled ε", mustEpsilon(t, plan, int64(math.Ceil(1.3*(1<<30))), 1e-5, Renyi), 0.7242234026, 1e-7)
	plan.Rate, plan.Releases = 1, 1
	got, err := plan.Sigma(Promise{Epsilon: 1, Delta: 1e-5, Bound: Tight})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "σ/Δ of (1, 1e-5)", float64(got)/(1<<30), 3.730632, 3e-6)
}

func mustEpsilon(t *testing.T, plan Plan, sigma int64, delta float64, bound Bound) float64 {
	t.Helper()
	loss, err := plan.Loss(sigma)
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := loss.Epsilon(delta, bound)
	if err != nil {
		t.Fatal(err)
	}
	return epsilon
}
