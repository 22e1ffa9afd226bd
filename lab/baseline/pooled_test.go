package baseline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
)

// The process of a pool of one is what Thompson sampling alone has under the same
// hyperparameters.
func TestPoolOfOneIsTheOwnPosterior(t *testing.T) {
	for _, kernel := range kernels {
		for _, k := range kinds {
			f := newFederation(t, kernel, 3, 1)
			f.observe(t, 0, hill(0.4), 20, nil)
			now := f.pool.now()
			h, err := (*now.fitting.learned.of(k))()
			if err != nil {
				t.Fatal(err)
			}
			h.Lengthscales = h.Lengthscales[:3]
			obs := f.pool.observations(f.views[0])
			want, err := f.model.Condition(obs, surrogate.OfProcess(h), nil)
			if err != nil {
				t.Fatal(err)
			}
			process, err := now.process(k, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			rng := random.SeedOf(1).Stream("test", 0)
			for range 20 {
				x := acquisition.Sample(f.task.Space, rng)
				mean, variance := process.Predict(slices.Concat(x, newPooled(f.task, f.pool, 0, k).block(now)))
				wantMean, wantVariance := want.Predict(x)
				if math.Abs(mean-wantMean) > 1e-8 || math.Abs(variance-wantVariance) > 1e-8 {
					t.Errorf("%s, %+v: (%g, %g), want (%g, %g)", kernel, k, mean, variance, wantMean, wantVariance)
				}
			}
		}
	}
}

// With nobody to listen to, the pooled methods are Thompson sampling, query for
// query, and recommend what it recommends.
func TestPooledAloneIsThompsonSampling(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 3)
	seed := random.SeedOf(3)
	ts := alone.NewTS(f.task)
	for trial := 1; trial <= 8; trial++ {
		want := f.suggest(t, ts, 1, seed)
		for _, name := range pooledMethods {
			s := methods[name](f.task, f.pool, 1)
			if got := f.suggest(t, s, 1, seed); !got.Design.Equal(want.Design) || got.Why != want.Why {
				t.Errorf("%s: trial %d is %v (%v), want %v (%v)", name, trial, got.Design, got.Why, want.Design, want.Why)
			}
			got, alone := s.(strategy.Recommender).Recommend(t.Context(), f.views[1], seed), search.New(f.task).Recommend(t.Context(), f.views[1], seed)
			if !got.Equal(alone) {
				t.Errorf("%s: recommends %v, want %v", name, got, alone)
			}
		}
		f.tell(1, want.Design, hill(0.6))
		f.learn(t, 1, nil)
	}
}

// Between members the squared distance is larger by 2/ℓ²; under SE that is a
// factor of exp(−1/ℓ²).
func TestCovarianceBetweenMembers(t *testing.T) {
	for _, kernel := range kernels {
		spec := pooledSpec(gp.Spec{Kernel: kernel, Groups: []int{0, 1}}, kind{related: true}, 3)
		lengthscales := []float64{0.5, 2, 1.5}
		a, b := []float64{0.1, 0.2}, []float64{0.4, 0.9}
		square := 0.6*0.6 + 0.35*0.35
		var points [][]float64
		for member := range 3 {
			points = append(points, slices.Concat(a, multitask.Equidistant(member, 3)), slices.Concat(b, multitask.Equidistant(member, 3)))
		}
		k := gp.Covariance(spec, points, lengthscales)
		for i := range points {
			for j := range points {
				at := 0.0
				if i%2 != j%2 {
					at = square
				}
				want, _ := radial.Evaluate(kernel, at)
				if i/2 != j/2 {
					want, _ = radial.Evaluate(kernel, at+2/(1.5*1.5))
					if product, _ := radial.Evaluate(kernel, at); kernel == gp.SE && math.Abs(want-product*math.Exp(-1/(1.5*1.5))) > 1e-14 {
						t.Errorf("%g is not the product", want)
					}
				}
				if math.Abs(k.At(i, j)-want) > 1e-13 {
					t.Errorf("%s: covariance of %d and %d is %g, want %g", kernel, i, j, k.At(i, j), want)
				}
			}
		}
	}
}

// correlation is what two members' values at one place have, by what the pool
// has learned.
func correlation(t *testing.T, f *federation) float64 {
	t.Helper()
	h, err := (*f.pool.now().fitting.learned.of(kind{related: true}))()
	if err != nil {
		t.Fatal(err)
	}
	l := h.Lengthscales[len(h.Lengthscales)-1]
	k, _ := radial.Evaluate(f.task.Surrogate.Kernel, 2/(l*l))
	return k
}

// Functions drawn from the model with e = 0.1 and with nothing in common: the
// pool tells which is which, in each of two federations for either kernel.
func TestMultitaskLearnsHowAlike(t *testing.T) {
	for _, kernel := range kernels {
		for seed := range uint64(2) {
			for _, c := range []struct{ e, low, high float64 }{{0.1, 0.9, 1}, {1, 0, 0.3}} {
				f := newFederation(t, kernel, 2, 6)
				functions := f.draw(t, c.e, random.SeedOf(seed))
				for member, value := range functions {
					f.observe(t, member, value, 20, smooth(2))
				}
				if got := correlation(t, f); got < c.low || got > c.high {
					t.Errorf("%s, seed %d, e = %g: correlation %.3f", kernel, seed, c.e, got)
				}
			}
		}
	}
}

// draw returns √(1−e²) f₀ + e g_i for every member, of lengthscale 0.3.
func (f *federation) draw(t *testing.T, e float64, seed random.Seed) []func(x []float64) float64 {
	t.Helper()
	dim := f.task.Space.Dim()
	h := gp.Hyperparameters{Noise: 1e6} // the observation says nothing
	far := make([]float64, dim)
	for range dim {
		h.Lengthscales = append(h.Lengthscales, 0.3)
	}
	prior, err := gp.NewPosterior(f.pool.spec, [][]float64{far}, []float64{0}, h)
	if err != nil {
		t.Fatal(err)
	}
	var functions []func(x []float64) float64
	common := prior.Draw(512, seed.Stream("common", 0))
	for i := range f.views {
		own := prior.Draw(512, seed.Stream("own", uint64(i)))
		functions = append(functions, func(x []float64) float64 {
			return math.Sqrt(1-e*e)*(common.Value(x)-common.Constant()) + e*(own.Value(x)-own.Constant())
		})
	}
	return functions
}

// One member has four observations of a function in four dimensions, and four
// others twenty each of the same one: either process recommends a good design. Of
// functions with nothing in common the multitask process recommends what the own
// posterior does, or something as good, where the other is misled.
func TestPooledRecommends(t *testing.T) {
	for _, name := range pooledMethods {
		f := newFederation(t, gp.Matern52, 4, 5)
		value := hill(0.7)
		f.observe(t, 0, value, 4, nil)
		for member := 1; member < 5; member++ {
			f.observe(t, member, value, 20, nil)
		}
		s := methods[name](f.task, f.pool, 0).(strategy.Recommender)
		if got := value(f.task.Space.Encode(s.Recommend(t.Context(), f.views[0], random.SeedOf(1)))); got < 3.9 {
			t.Errorf("%s recommends %.2f, the best is 4", name, got)
		}
	}
	got := map[string]float64{}
	for _, name := range []string{"pooled", "multitask"} {
		f := newFederation(t, gp.Matern52, 2, 5)
		value := hill(0.2)
		f.observe(t, 0, value, 20, nil)
		for member := 1; member < 5; member++ {
			f.observe(t, member, negative(value), 20, nil)
		}
		s := methods[name](f.task, f.pool, 0).(strategy.Recommender)
		got[name] = value(f.task.Space.Encode(s.Recommend(t.Context(), f.views[0], random.SeedOf(1))))
	}
	if got["multitask"] < 1.9 || got["pooled"] > 1 {
		t.Errorf("among unlike members: %v, the best is 2", got)
	}
}

// Beyond 600 observations all own ones enter, the best of the others, and no
// observation twice.
func TestChooseLimitsObservations(t *testing.T) {
	f := newFederation(t, gp.SE, 2, 10)
	for member := range f.views {
		f.observe(t, member, hill(0.1*float64(member)), 80, smooth(2))
	}
	now := f.pool.now()
	all, err := gather(now.members, kind{})
	if err != nil {
		t.Fatal(err)
	}
	chosen := all.choose(4, random.SeedOf(1).Stream("test", 0))
	if len(chosen) != maxPooled {
		t.Fatalf("%d observations, want %d", len(chosen), maxPooled)
	}
	own, seen := 0, map[string]bool{}
	worst := math.Inf(1)
	for i, o := range chosen {
		key := fmt.Sprint(o)
		if seen[key] {
			t.Errorf("%s is chosen twice", key)
		}
		seen[key] = true
		own += number(o.member == 4)
		if i >= 80 && i < 80+bestOthers {
			worst = min(worst, o.y)
		}
	}
	if own != 80 {
		t.Errorf("%d own observations, want all 80", own)
	}
	better := 0
	for _, o := range all {
		better += number(o.member != 4 && o.y > worst)
	}
	if better >= bestOthers {
		t.Errorf("%d of the others are better than the worst of the best %d", better, bestOthers)
	}
	// Nobody else has room when the own observations are many.
	if got := all.atRandom(maxOwn, random.SeedOf(1).Stream("test", 0)); len(got) != maxOwn {
		t.Errorf("%d observations, want %d", len(got), maxOwn)
	}
}

// One function, which member 0 knows where it is low and member 1 where it is high:
// in common units the outputs stay in the order of the values, in own units each
// member's have mean zero.
func TestPooledUnits(t *testing.T) {
	f := newFederation(t, gp.SE, 1, 2)
	for i := range 6 {
		for member := range 2 {
			x := []float64{(float64(i) + 6*float64(member)) / 12}
			f.tell(member, f.task.Space.Decode(x), func(x []float64) float64 { return 40 + x[0] })
		}
	}
	for member := range 2 {
		f.learn(t, member, smooth(1))
	}
	for units, sorted := range map[Units]bool{OwnUnits: false, CommonUnits: true} {
		all, err := gather(f.pool.now().members, kind{units: units})
		if err != nil {
			t.Fatal(err)
		}
		x, y := all.points()
		if len(x) != 12 || slices.IsSorted(y) != sorted {
			t.Errorf("units %d: outputs %.2f", units, y)
		}
		mean := 0.0
		for _, v := range y[:6] {
			mean += v / 6
		}
		if sorted != (math.Abs(mean) > 0.5) {
			t.Errorf("units %d: member 0 has mean output %.2f", units, mean)
		}
	}
}

// Members that measure one function in units of their own agree only once each
// has standardised its own: own units recommend a good design, common ones do not.
func TestOwnUnitsBearOtherScales(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 6)
	value := hill(0.7)
	for member := range f.views {
		f.observe(t, member, func(x []float64) float64 { return math.Pow(10, float64(member))*(value(x)-1) + 5 }, 12, nil)
	}
	got := map[Units]float64{}
	for _, units := range []Units{OwnUnits, CommonUnits} {
		s := NewPooled(f.task, f.pool, 0, units).(strategy.Recommender)
		got[units] = value(f.task.Space.Encode(s.Recommend(t.Context(), f.views[0], random.SeedOf(1))))
	}
	if got[OwnUnits] < 1.95 || got[CommonUnits] > got[OwnUnits] {
		t.Errorf("own units recommend %.3f and common ones %.3f of 2", got[OwnUnits], got[CommonUnits])
	}
}

// The gradient of a function of some coordinates with the others held fixed.
func TestSliceGradient(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 3)
	for member := range f.views {
		f.observe(t, member, hill(0.3), 8, smooth(2))
	}
	process, err := f.pool.now().process(kind{related: true}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(1).Stream("test", 0)
	path := process.Draw(pathFeatures, rng)
	for range 10 {
		x := acquisition.Sample(f.task.Space, rng)
		s := multitask.Fixed(path, multitask.Equidistant(1, 3))
		if got, want := s.Value(x), path.Value(slices.Concat(x, []float64{0, 1, 0})); got != want {
			t.Errorf("%g, want %g", got, want)
		}
		checkGradient(t, s, x)
	}
}
