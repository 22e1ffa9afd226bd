package privacy

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func plan64() Plan {
	return Plan{Grid: Grid{Norm: 4, Bits: 30}, Dimension: 64, Rate: 1, Releases: 10, Parties: 1}
}

func mustLoss(t *testing.T, p Plan, sigma int64) Loss {
	t.Helper()
	loss, err := p.Loss(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func TestLossesAddUp(t *testing.T) {
	for _, c := range []struct {
		name string
		with func(*Plan)
	}{
		{"sure", func(*Plan) {}},
		{"zero-out", func(p *Plan) { p.Adjacency = ZeroOut }},
		{"sampled", func(p *Plan) { p.Adjacency, p.Rate = ZeroOut, 0.3 }},
		{"parties", func(p *Plan) { p.Parties = 7 }},
	} {
		whole := plan64()
		c.with(&whole)
		part := whole
		part.Releases = 1
		sigma := int64(5e9)
		var sum Loss
		for range whole.Releases {
			next, err := sum.Plus(mustLoss(t, part, sigma))
			if err != nil {
				t.Fatal(err)
			}
			sum = next
		}
		if sum.Releases() != whole.Releases {
			t.Errorf("%s: %d releases counted", c.name, sum.Releases())
		}
		for _, bound := range []Bound{Renyi, Tight} {
			got, err := sum.Epsilon(1e-5, bound)
			want, wantErr := mustLoss(t, whole, sigma).Epsilon(1e-5, bound)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("%s: errors %v and %v", c.name, err, wantErr)
			}
			if err == nil {
				near(t, c.name, got, want, 1e-9)
			}
		}
	}
}

// √R: the concentrated loss of R releases at σ is that of one at σ/√R.
func TestReleasesCountByTheirSquareRoot(t *testing.T) {
	many, one := plan64(), plan64()
	many.Releases, one.Releases = 16, 1
	for _, bound := range []Bound{Renyi, Tight} {
		near(t, "ε", mustEpsilon(t, many, 4e10, 1e-5, bound), mustEpsilon(t, one, 1e10, 1e-5, bound), 1e-9)
	}
	// So do parties: n of them need 1/√n of the noise each.
	many.Releases, many.Parties = 1, 16
	near(t, "ε of parties", mustEpsilon(t, many, 1e10, 1e-5, Renyi), mustEpsilon(t, one, 4e10, 1e-5, Renyi), 1e-9)
	// And replace-one costs what zero-out does at half the noise.
	zero := one
	zero.Adjacency = ZeroOut
	near(t, "ε of zero-out", mustEpsilon(t, zero, 1e10, 1e-5, Renyi), mustEpsilon(t, one, 2e10, 1e-5, Renyi), 1e-9)
}

func TestMixedLosses(t *testing.T) {
	sure, chance := plan64(), plan64()
	sure.Adjacency, chance.Adjacency, chance.Rate = ZeroOut, ZeroOut, 0.2
	a, b := mustLoss(t, sure, 2e10), mustLoss(t, chance, 2e10)
	sum, err := a.Plus(b)
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Plus(a)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := sum.Epsilon(1e-5, Renyi)
	f, _ := other.Epsilon(1e-5, Renyi)
	ea, _ := a.Epsilon(1e-5, Renyi)
	twice := sure
	twice.Releases *= 2
	if e != f || e <= ea || e >= mustEpsilon(t, twice, 2e10, 1e-5, Renyi) {
		t.Errorf("mixed ε %g and %g, want equal, above %g and below that of all sure", e, f, ea)
	}
	if _, err := sum.Epsilon(1e-5, Tight); !errors.Is(err, ErrNoTight) {
		t.Errorf("tight figure of a sampled loss: %v", err)
	}
	if _, err := a.Plus(mustLoss(t, plan64(), 2e10)); err == nil || !strings.Contains(err.Error(), "zero-out") {
		t.Errorf("losses of two adjacencies were added: %v", err)
	}
	if e, err := (Loss{}).Epsilon(1e-5, Tight); e != 0 || err != nil {
		t.Errorf("no release cost %g, %v", e, err)
	}
}

// A grid as coarse as the noise: the tight figure is refused, the other one stands.
func TestTightNeedsAFineGrid(t *testing.T) {
	p := plan64()
	p.Grid.Bits, p.Releases = 8, 1
	loss := mustLoss(t, p, 2000)
	if _, err := loss.Epsilon(1e-5, Tight); !errors.Is(err, ErrNoTight) {
		t.Errorf("error %v", err)
	}
	if e, err := loss.Epsilon(1e-5, Renyi); err != nil || e <= 0 || math.IsInf(e, 0) {
		t.Errorf("Rényi figure %g, %v", e, err)
	}
}

// At tiny noise the sampled figure falls back on whole orders, where it is exact for
// discrete noise, and stays finite.
func TestSampledLossOnACoarseGrid(t *testing.T) {
	p := plan64()
	p.Adjacency, p.Rate, p.Grid.Bits, p.Releases = ZeroOut, 0.3, 8, 100
	got := mustEpsilon(t, p, 64, 1e-5, Renyi)
	best := math.Inf(1)
	for _, alpha := range orders() {
		if whole(alpha) {
			best = min(best, epsilonAt(100*sampledRDP(0.3, 0.25, alpha), alpha, 1e-5))
		}
	}
	near(t, "ε", got, best, 1e-9)
}

func TestEpsilonIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan64()
		p.Releases = rapid.IntRange(1, 1000).Draw(t, "releases")
		p.Parties = rapid.IntRange(1, 200).Draw(t, "parties")
		sigma := rapid.Int64Range(1<<28, 1<<43).Draw(t, "sigma")
		bound := Bound(rapid.IntRange(0, 1).Draw(t, "bound"))
		delta := math.Exp(rapid.Float64Range(-20, -2).Draw(t, "ln delta"))
		epsilon := func(p Plan, sigma int64, delta float64) float64 {
			loss, err := p.Loss(sigma)
			if err != nil {
				t.Fatal(err)
			}
			e, err := loss.Epsilon(delta, bound)
			if err != nil && !errors.Is(err, ErrNoTight) {
				t.Fatal(err)
			}
			if err != nil {
				return math.Inf(1)
			}
			return e
		}
		base := epsilon(p, sigma, delta)
		more := p
		more.Releases++
		slack := base * 1e-9
		if e := epsilon(more, sigma, delta); e < base-slack {
			t.Fatalf("one more release lowers ε from %g to %g", base, e)
		}
		if e := epsilon(p, sigma*2, delta); e > base+slack {
			t.Fatalf("more noise raises ε from %g to %g", base, e)
		}
		if e := epsilon(p, sigma, delta/2); e < base-slack {
			t.Fatalf("a smaller δ lowers ε from %g to %g", base, e)
		}
	})
}

func TestPlansRefuse(t *testing.T) {
	for _, c := range []struct {
		want string
		with func(*Plan)
	}{
		{`"Norm"`, func(p *Plan) { p.Grid.Norm = math.Inf(1) }},
		{`"Bits": 7 must lie in [8, 30]`, func(p *Plan) { p.Grid.Bits = 7 }},
		{`"Adjacency"`, func(p *Plan) { p.Adjacency = 2 }},
		{`"Dimension": 0 must lie in [1, 1048576]`, func(p *Plan) { p.Dimension = 0 }},
		{`"Releases": 0`, func(p *Plan) { p.Releases = 0 }},
		{`"Parties": -1`, func(p *Plan) { p.Parties = -1 }},
		{`"Rate": NaN`, func(p *Plan) { p.Rate = math.NaN() }},
		{`"Rate": 0 must lie in [1e-06, 1]`, func(p *Plan) { p.Rate = 0 }},
		{`"Rate": 0.5 must be 1 under replace-one`, func(p *Plan) { p.Rate = 0.5 }},
		{`"Rate": 0.5 must be 1 with 3 parties`, func(p *Plan) { p.Rate, p.Adjacency, p.Parties = 0.5, ZeroOut, 3 }},
	} {
		p := plan64()
		c.with(&p)
		if _, err := p.Loss(1 << 32); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
		if _, err := p.Sigma(Promise{Epsilon: 1, Delta: 1e-5}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error of Sigma %v, want %s", err, c.want)
		}
	}
	for _, sigma := range []int64{0, -5, MaxSigma + 1} {
		if _, err := plan64().Loss(sigma); err == nil || !strings.Contains(err.Error(), `"sigma"`) {
			t.Errorf("sigma %d: error %v", sigma, err)
		}
	}
	loss := mustLoss(t, plan64(), 1<<32)
	for _, delta := range []float64{0, 1e-13, 0.6, math.NaN()} {
		if _, err := loss.Epsilon(delta, Renyi); err == nil || !strings.Contains(err.Error(), `"delta"`) {
			t.Errorf("delta %g: error %v", delta, err)
		}
	}
	if _, err := loss.Epsilon(1e-5, 5); err == nil || !strings.Contains(err.Error(), `"bound"`) {
		t.Errorf("bound 5: error %v", err)
	}
}
