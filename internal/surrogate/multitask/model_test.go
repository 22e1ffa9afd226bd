package multitask

import (
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

var (
	kernels = []string{gp.Matern52, gp.SE}
	h2      = gp.Hyperparameters{Lengthscales: []float64{0.4, 0.6}, Noise: 1e-3}
)

func spec2(kernel string) gp.Spec { return gp.Spec{Kernel: kernel, Groups: []int{0, 1}} }

func hill(x []float64) float64 { return math.Sin(5*x[0]) + math.Cos(4*x[1]) }

func waves(x []float64) float64 { return math.Cos(17*x[0]+2) * math.Sin(13*x[1]) }

// observe evaluates f at random designs.
func observe(count int, seed uint64, f func([]float64) float64) (d Data) {
	rng := random.SeedOf(seed).Stream("designs", 0)
	for range count {
		x := []float64{rng.Float64(), rng.Float64()}
		d.X, d.Y = append(d.X, x), append(d.Y, f(x))
	}
	return d
}

func model(t testing.TB, own Data, peers ...Data) *Model {
	t.Helper()
	m, err := New(spec2(gp.Matern52), h2, own, peers)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The kernel at the distance of two tasks is their similarity.
func TestDistanceIsThatOfTheSimilarity(t *testing.T) {
	for _, kernel := range kernels {
		for _, similarity := range []float64{1e-6, 0.1, 0.5, 0.97, 1} {
			d := distance(kernel, similarity)
			if k, _ := radial.Evaluate(kernel, d*d); math.Abs(k-similarity) > 1e-9 {
				t.Errorf("%s: similarity %g, want %g", kernel, k, similarity)
			}
		}
	}
}

// Level and size solve the generalised least squares: the residual has mean 0 up to the prior, and
// another affine form of the outputs has the same scaled outputs where the prior is weak.
func TestScaledOutputs(t *testing.T) {
	b := builder{spec2(gp.SE), h2}
	d := observe(40, 1, hill)
	y, level, size := b.scaled(d)
	for i := range y {
		if back := level + size*y[i]; math.Abs(back-d.Y[i]) > 1e-9 {
			t.Fatalf("output %d is %g, want %g", i, back, d.Y[i])
		}
	}
	k := gp.Covariance(b.spec, d.X, h2.Lengthscales)
	for i := range d.X {
		for j := range i + 1 {
			k.SetSym(i, j, k.At(i, j)+levelVariance)
		}
		k.SetSym(i, i, k.At(i, i)+h2.Noise)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(k); err != nil {
		t.Fatal(err)
	}
	want := 0.0 // the posterior mean of the constant: its covariance with each output is levelVariance
	for i := range d.X {
		for j := range d.X {
			want += levelVariance * inverse.At(i, j) * d.Y[j]
		}
	}
	if math.Abs(level-want) > 1e-5 {
		t.Errorf("level %g, want %g", level, want)
	}
}

// Peers with the same function are similar, whatever the unit and the level of their outputs, and
// others are not.
func TestSimilarityIsLearned(t *testing.T) {
	own := observe(12, 1, hill)
	affine := func(x []float64) float64 { return 1 + 0.6*hill(x) }
	negated := func(x []float64) float64 { return -hill(x) }
	forged := observe(30, 5, hill)
	rng := random.SeedOf(9).Stream("values", 0)
	for i := range forged.Y {
		forged.Y[i] = rng.NormFloat64()
	}
	m := model(t, own, observe(30, 2, hill), observe(30, 3, affine), observe(30, 4, negated), observe(30, 6, waves), forged)
	for i, name := range []string{"same", "affine", "negated", "waves", "forged"} {
		s, similar := m.Peers[i].Similarity, i < 2
		if similar && s < 0.9 || !similar && s > 0.35 || name == "negated" && s > -0.9 {
			t.Errorf("%s: similarity %.2f", name, s)
		}
	}
}

// A model with similar peers predicts the agent's function better than its own observations do, and
// with dissimilar peers hardly worse.
func TestPeersImprovePredictions(t *testing.T) {
	loss := func(peers ...Data) float64 {
		total := 0.0
		for seed := range uint64(10) {
			m := model(t, observe(6, 100+seed, hill), peers...)
			for _, x := range observe(50, 200+seed, hill).X {
				mean, variance := m.Predict(x)
				variance += m.Noise()
				total += (hill(x)-mean)*(hill(x)-mean)/(2*variance) + math.Log(variance)/2
			}
		}
		return total / 500
	}
	alone := loss()
	for name, f := range map[string]func([]float64) float64{"same": hill, "negated": func(x []float64) float64 { return -hill(x) }} {
		if related := loss(observe(30, 1, f)); related > alone-0.5 {
			t.Errorf("%s: log loss %.2f with a related peer, %.2f alone", name, related, alone)
		}
	}
	if other := loss(observe(30, 1, waves)); other > alone+0.3 {
		t.Errorf("log loss %.2f with a dissimilar peer, %.2f alone", other, alone)
	}
}

// Two peers that share all observations are not counted twice as evidence.
func TestAgreementOfPeersIsNotIndependent(t *testing.T) {
	own, peer := observe(3, 1, hill), observe(20, 2, hill)
	x := observe(10, 3, hill).X
	one, five := model(t, own, peer), model(t, own, peer, peer, peer, peer, peer)
	for _, at := range x {
		_, v1 := one.Predict(at)
		_, v5 := five.Predict(at)
		if v5 < 0.5*v1 {
			t.Errorf("variance %g with five equal peers, %g with one", v5, v1)
		}
	}
}

func TestModelWithoutObservations(t *testing.T) {
	m := model(t, Data{}, observe(30, 1, hill))
	best, _ := m.Predict([]float64{math.Pi / 10, 0})
	if worst, _ := m.Predict([]float64{0.94, math.Pi / 4}); best < worst+1 {
		t.Errorf("means %g at the peer's best design and %g at its worst", best, worst)
	}
	if _, err := New(spec2(gp.SE), h2, Data{}, nil); err != nil {
		t.Error(err)
	}
}

// Whatever the outputs are, the model is finite.
func TestDegenerateOutputs(t *testing.T) {
	point := Data{X: slices.Repeat([][]float64{{1, 1}}, 50)}
	for i := range point.X {
		point.Y = append(point.Y, float64(i%2*2-1))
	}
	equal := observe(20, 1, func([]float64) float64 { return 0 })
	for name, own := range map[string]Data{"none": {}, "equal": equal, "one": observe(1, 2, hill), "some": observe(9, 2, hill)} {
		m := model(t, own, point, equal, observe(1, 4, hill))
		mean, variance := m.Predict([]float64{0.3, 0.4})
		if math.IsNaN(mean) || !(variance >= 0) || math.IsInf(mean, 0) {
			t.Errorf("%s: mean %g, variance %g", name, mean, variance)
		}
	}
}

// The outcomes of pending designs equal their predictions.
func TestPendingDesigns(t *testing.T) {
	m := model(t, observe(5, 1, hill), observe(20, 2, hill))
	x, far := []float64{0.9, 0.1}, []float64{0.2, 0.7}
	next, err := m.WithPending([][]float64{x})
	if err != nil {
		t.Fatal(err)
	}
	before, wide := m.Predict(x)
	after, narrow := next.Predict(x)
	if math.Abs(before-after) > 1e-6 || narrow > wide {
		t.Errorf("mean %g and variance %g, before %g and %g", after, narrow, before, wide)
	}
	a, _ := m.Predict(far)
	if b, _ := next.Predict(far); math.Abs(a-b) > 1e-6 {
		t.Errorf("mean %g elsewhere, before %g", b, a)
	}
	if same, err := m.WithPending(nil); same != m || err != nil {
		t.Errorf("%v, %v", same, err)
	}
}

func TestGradientOfImprovement(t *testing.T) {
	m := model(t, observe(5, 1, hill), observe(20, 2, hill), observe(20, 3, waves))
	f := m.Improvement(observe(5, 1, hill).X)
	for _, x := range observe(10, 4, hill).X {
		grad := make([]float64, 2)
		f.Gradient(grad, x)
		fbotest.CheckGradient(t, grad, x, f.Value, 1e-3)
	}
}

// Fifty peers with 200 observations each: the number of used observations is bounded, and the model
// takes less than ten seconds with the race detector on a busy machine (a tenth of a second without).
func TestCostIsBounded(t *testing.T) {
	own := observe(60, 1, hill)
	var peers []Data
	for i := range uint64(50) {
		peers = append(peers, observe(200, 10+i, hill))
	}
	start := time.Now()
	m := model(t, own, peers...)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	used, observations := 0, 0
	for _, p := range m.Peers {
		if p.Used > 0 {
			used++
		}
		observations += p.Used
	}
	if used != maxPeers || observations > maxOfPeers || m.Posterior.Len() != 60+observations {
		t.Errorf("%d observations of %d peers in a process of %d", observations, used, m.Posterior.Len())
	}
}

// Half of the chosen observations are the best.
func TestChosenObservations(t *testing.T) {
	b := builder{spec2(gp.SE), h2}
	d, own := observe(100, 1, hill), [][]float64{{0.9, 0.9}}
	got := b.choose(d, 1, own, 20)
	if len(got.X) != 20 || len(got.Y) != 20 {
		t.Fatalf("%d observations", len(got.X))
	}
	sorted := slices.Sorted(slices.Values(d.Y))
	for i, y := range slices.Sorted(slices.Values(got.Y[:10])) {
		if y != sorted[90+i] {
			t.Errorf("%g is not among the best", y)
		}
	}
	for i, x := range got.X {
		if got.Y[i] != hill(x) {
			t.Errorf("observation %d does not belong to its design", i)
		}
	}
}

func TestFixedCoordinates(t *testing.T) {
	m := model(t, observe(5, 1, hill), observe(5, 2, hill))
	path := m.Posterior.Draw(64, random.SeedOf(1).Stream("path", 0))
	f := Fixed(path, m.self)
	var _ acquisition.Function = f
	for _, x := range observe(10, 3, hill).X {
		if got, want := f.Value(x), path.Value(slices.Concat(x, m.self)); got != want {
			t.Errorf("%g, want %g", got, want)
		}
		grad := make([]float64, 2)
		f.Gradient(grad, x)
		fbotest.CheckGradient(t, grad, x, f.Value, 1e-4)
	}
	if Fixed(path, nil) != acquisition.Function(path) {
		t.Error("without coordinates it is another function")
	}
}
