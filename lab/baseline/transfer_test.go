package baseline

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// weightOn returns what RGPE's target gives to its own model and to the rest.
func weightOn(t *testing.T, f *federation, self int, seed random.Seed) (own, others float64) {
	t.Helper()
	e, err := rgpe{pool: f.pool, self: self}.ensemble(f.views[self], seed)
	if err != nil {
		t.Fatal(err)
	}
	for n, w := range e.mixture.weights {
		if e.mixture.models[n] == acquisition.Predictor(f.views[self].Posterior) {
			own += w
		} else {
			others += w
		}
	}
	if math.Abs(own+others-1) > 1e-12 {
		t.Errorf("weights add up to %g", own+others)
	}
	return own, others
}

// There is no noise. The function of member 1 is either upside down, and both are
// well known, or the same and better known to it than to the target.
func TestRGPEWeights(t *testing.T) {
	for seed := range uint64(5) {
		unlike := newFederation(t, gp.Matern52, 2, 2)
		unlike.observe(t, 0, hill(0.3), 15, nil)
		unlike.observe(t, 1, negative(hill(0.3)), 30, nil)
		if own, others := weightOn(t, unlike, 0, random.SeedOf(seed)); own != 1 || others != 0 {
			t.Errorf("seed %d, unlike: %g on the own model, want 1", seed, own)
		}
		alike := newFederation(t, gp.Matern52, 2, 2)
		alike.observe(t, 0, hill(0.3), 5, smooth(2))
		alike.observe(t, 1, hill(0.3), 30, smooth(2))
		if _, others := weightOn(t, alike, 0, random.SeedOf(seed)); others < 0.6 {
			t.Errorf("seed %d, alike: %g on the peer, want most", seed, others)
		}
	}
}

// fixed is a posterior with a mean that is linear in x and a variance that is
// quadratic.
type fixed struct{ slope, scale float64 }

func (p fixed) Predict(x []float64) (mean, variance float64) {
	g := make([]float64, len(x))
	return p.PredictGradient(g, g, x)
}

func (p fixed) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	for i, u := range x {
		mean += p.slope * u
		variance += p.scale * u * u
		dMean[i] = p.slope
		dVariance[i] = 2 * p.scale * u
	}
	return mean, variance
}

func TestMixturePredicts(t *testing.T) {
	m := &mixture{}
	m.add(fixed{2, 3}, 0.25)
	m.add(fixed{100, 100}, 0)
	m.add(fixed{-1, 8}, 0.75)
	x := []float64{0.5, 1}
	mean, variance := m.Predict(x)
	if wantMean, want := (0.25*2-0.75)*1.5, (3./16+8*9./16)*1.25; math.Abs(mean-wantMean) > 1e-15 || math.Abs(variance-want) > 1e-15 {
		t.Errorf("(%g, %g), want (%g, %g)", mean, variance, wantMean, want)
	}
	dMean, dVariance := make([]float64, 2), make([]float64, 2)
	for range 2 { // the second time with used memory
		again, andAgain := m.PredictGradient(dMean, dVariance, x)
		if again != mean || andAgain != variance {
			t.Errorf("with gradient (%g, %g), without (%g, %g)", again, andAgain, mean, variance)
		}
	}
	for i, u := range x {
		if math.Abs(dMean[i]+0.25) > 1e-15 || math.Abs(dVariance[i]-2*u*(3./16+8*9./16)) > 1e-14 {
			t.Errorf("gradients %g and %g", dMean, dVariance)
		}
	}
}

func TestRankWeight(t *testing.T) {
	for _, c := range []struct {
		name     string
		means, y []float64
		want     float64
	}{
		{"nothing to compare", []float64{1}, []float64{1}, 0},
		{"same order", []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, 0.75},
		{"reversed", []float64{4, 3, 2, 1}, []float64{1, 2, 3, 4}, 0},
		{"half wrong", []float64{2, 1}, []float64{5, 5}, 0},
		// One of six pairs: ¾(1 − (1/3)²) = 2/3.
		{"one pair", []float64{2, 1, 3, 4}, []float64{1, 2, 3, 4}, 2. / 3},
		// Two of six pairs: ¾(1 − (2/3)²) = 5/12.
		{"two pairs", []float64{2, 1, 4, 3}, []float64{1, 2, 3, 4}, 5. / 12},
	} {
		if got := rankWeight(c.means, c.y); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// line is a process with so little noise that it passes through (x, y), three
// points in one dimension.
func line(t *testing.T, y ...float64) *gp.Posterior {
	t.Helper()
	h := gp.Hyperparameters{Lengthscales: []float64{0.3}, Noise: 1e-12}
	p, err := gp.NewPosterior(gp.Spec{Kernel: gp.SE, Groups: []int{0}}, [][]float64{{0}, {0.5}, {1}}, y, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// constant is an acquisition function.
type constant float64

func (c constant) Value([]float64) float64            { return float64(c) }
func (c constant) Gradient(grad, _ []float64) float64 { clear(grad); return float64(c) }

// The target has seen x = 0, ½ and 1 with outputs -1, 0 and 1. The first peer
// passes through -1, 0, 2 there and so agrees: weight ¾. The second passes through
// 0, -1, 2, with one pair of three wrong: ¾(1 − (2/3)²) = 5/12. The third is upside
// down. At x = 1 no peer rises above what it had there.
func TestTransferWeightsByHand(t *testing.T) {
	own := &known{x: [][]float64{{0}, {0.5}, {1}}, y: []float64{-1, 0, 1}}
	f := &transfer{own: constant(0.4)}
	processes := []*gp.Posterior{line(t, -1, 0, 2), line(t, 0, -1, 2), line(t, 1, 0, -1)}
	weights := []float64{0.75, 5. / 12, 0}
	for n, p := range processes {
		s, ok := newSource(p, own)
		if ok != (weights[n] > 0) || math.Abs(s.weight-weights[n]) > 1e-15 {
			t.Fatalf("peer %d: weight %g, want %g", n, s.weight, weights[n])
		}
		if ok {
			f.sources = append(f.sources, s)
		}
	}
	total := 0.75 + 0.75 + 5./12
	if got, want := f.Value([]float64{1}), 0.75*0.4/total; math.Abs(got-want) > 1e-6 {
		t.Errorf("at 1: %g, want %g", got, want)
	}
	x := []float64{0.9}
	want := 0.75 * 0.4
	for n, p := range processes[:2] {
		want += weights[n] * max(p.Mean(x)-2, 0)
	}
	if got := f.Value(x); math.Abs(got-want/total) > 1e-6 {
		t.Errorf("at 0.9: %g, want %g", got, want/total)
	}
}

// Gradients against central differences, where peers do and do not improve.
func TestTransferGradient(t *testing.T) {
	f := newFederation(t, gp.Matern52, 3, 3)
	f.observe(t, 0, hill(0.3), 6, smooth(3))
	f.observe(t, 1, hill(0.35), 20, smooth(3))
	f.observe(t, 2, hill(0.2), 20, smooth(3))
	own := f.pool.now().members[0]
	a := &transfer{own: acquisition.EI(f.views[0].Posterior, own.best())}
	for _, p := range f.pool.now().peers(0) {
		process, err := p.process()
		if err != nil {
			t.Fatal(err)
		}
		s, ok := newSource(process, own)
		if !ok {
			t.Fatal("an alike peer has no weight")
		}
		a.sources = append(a.sources, s)
	}
	rng := random.SeedOf(1).Stream("test", 0)
	improving := 0
	for range 50 {
		x := acquisition.Sample(f.task.Space, rng)
		checkGradient(t, a, x)
		for _, s := range a.sources {
			improving += number(s.process.Mean(x) > s.reached)
		}
	}
	if improving < 10 || improving > 90 {
		t.Errorf("%d of 100 peers improve: the test sees one case only", improving)
	}
}

// checkGradient fails unless f's gradient and value at x are those of its values.
func checkGradient(t *testing.T, f acquisition.Function, x []float64) {
	t.Helper()
	grad := make([]float64, len(x))
	if value := f.Gradient(grad, x); math.Abs(value-f.Value(x)) > 1e-12 {
		t.Errorf("at %v: %g with gradient, %g without", x, value, f.Value(x))
	}
	fbotest.CheckGradient(t, grad, x, f.Value, 1e-5)
}

// Who listens says to whom; with nobody to listen to, both are expected
// improvement alone.
func TestTransferSaysWhy(t *testing.T) {
	for _, name := range []string{"rgpe", "taf"} {
		f := newFederation(t, gp.Matern52, 2, 3)
		f.observe(t, 0, hill(0.3), 5, smooth(2))
		s := methods[name](f.task, f.pool, 0)
		if why := f.suggest(t, s, 0, random.SeedOf(1)).Why; why.Source != "ei" || why.PeerCount != 0 {
			t.Errorf("%s alone: %+v", name, why)
		}
		f.observe(t, 1, hill(0.3), 30, smooth(2))
		f.observe(t, 2, negative(hill(0.3)), 30, smooth(2))
		if why := f.suggest(t, s, 0, random.SeedOf(1)).Why; why.Source != "peers" || why.PeerCount != 1 || why.Observations != 30 {
			t.Errorf("%s with one alike of two peers: %+v", name, why)
		}
	}
}

// With five own observations of a hill in four dimensions, a peer that knows it
// leads to a far better sixth design than the own model does: for either method in
// all of ten seeds when this was written; eight are asked for.
func TestTransferHelps(t *testing.T) {
	top := hill(0.7)
	best := top([]float64{0.7, 0.7, 0.7, 0.7})
	for _, name := range []string{"rgpe", "taf"} {
		f := newFederation(t, gp.Matern52, 4, 2)
		f.observe(t, 0, top, 5, smooth(4))
		s := methods[name](f.task, f.pool, 0)
		alone := f.task.Space.Encode(f.suggest(t, s, 0, random.SeedOf(1)).Design)
		f.observe(t, 1, top, 60, smooth(4))
		good := 0
		for seed := range uint64(10) {
			x := f.task.Space.Encode(f.suggest(t, s, 0, random.SeedOf(seed)).Design)
			good += number(top(x) > best-0.5)
		}
		if good < 8 || top(alone) > best-0.5 {
			t.Errorf("%s: %d of 10 designs are good; alone %.2f of %.2f", name, good, top(alone), best)
		}
	}
}
