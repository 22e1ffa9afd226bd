package privacy

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The scale keeps the promise, and one a little smaller does not.
func TestSigmaIsLeast(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, p Plan, promise Promise) {
		sigma, err := p.Sigma(promise)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !p.keeps(promise, sigma) {
			t.Fatalf("sigma %d breaks the promise", sigma)
		}
		less := sigma - max(1, int64(float64(sigma)*2*sigmaTolerance))
		if less >= 1 && p.keeps(promise, less) {
			t.Fatalf("sigma %d would do as well as %d", less, sigma)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := plan64()
		p.Grid.Bits = rapid.IntRange(MinBits, MaxBits).Draw(t, "bits")
		p.Adjacency = Adjacency(rapid.IntRange(0, 1).Draw(t, "adjacency"))
		p.Dimension = rapid.IntRange(1, 1000).Draw(t, "dimension")
		p.Releases = rapid.IntRange(1, 50).Draw(t, "releases")
		p.Parties = rapid.IntRange(1, 50).Draw(t, "parties")
		promise := Promise{Epsilon: math.Exp(rapid.Float64Range(-2, 2.5).Draw(t, "ln epsilon")),
			Delta: math.Exp(rapid.Float64Range(-16, -3).Draw(t, "ln delta")), Bound: Bound(rapid.IntRange(0, 1).Draw(t, "bound"))}
		check(t, p, promise)
	})
	p := plan64()
	p.Adjacency, p.Rate = ZeroOut, 0.35
	for _, epsilon := range []float64{0.5, 3, 50} {
		check(t, p, Promise{Epsilon: epsilon, Delta: 1e-5})
	}
}

func TestTightNeedsLessNoise(t *testing.T) {
	for _, epsilon := range []float64{0.5, 1, 4} {
		loose, err := plan64().Sigma(Promise{Epsilon: epsilon, Delta: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		tight, err := plan64().Sigma(Promise{Epsilon: epsilon, Delta: 1e-5, Bound: Tight})
		if err != nil {
			t.Fatal(err)
		}
		if ratio := float64(loose) / float64(tight); ratio < 1 || ratio > 1.2 {
			t.Errorf("ε %g: %g times the noise of the tight figure, want 1 to 1.2", epsilon, ratio)
		}
	}
}

func TestSigmaRefuses(t *testing.T) {
	for _, c := range []struct {
		promise Promise
		want    string
	}{
		{Promise{Epsilon: 0, Delta: 1e-5}, `"Epsilon": 0 must lie in [0.001, 100]`},
		{Promise{Epsilon: math.NaN(), Delta: 1e-5}, `"Epsilon"`},
		{Promise{Epsilon: 1, Delta: 0}, `"delta"`},
		{Promise{Epsilon: 1, Delta: 1e-5, Bound: 9}, `"bound"`},
		{Promise{Epsilon: 1e-3, Delta: 1e-12}, "fewer releases"},
	} {
		if _, err := plan64().Sigma(c.promise); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	p := plan64()
	p.Adjacency, p.Rate = ZeroOut, 0.5
	if _, err := p.Sigma(Promise{Epsilon: 1, Delta: 1e-5, Bound: Tight}); !errors.Is(err, ErrNoTight) {
		t.Errorf("tight promise of a sampled plan: %v", err)
	}
}
