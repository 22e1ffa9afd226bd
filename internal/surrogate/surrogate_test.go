package surrogate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, kind string, features int, parameters ...task.Parameter) *task.Task {
	t.Helper()
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return &task.Task{
		Name: "test", Goal: task.Maximize, Space: space,
		Surrogate: task.Surrogate{
			Type: kind, Kernel: "matern52", Features: features,
			Lengthscale: 0.3 * math.Sqrt(float64(len(parameters))), CategoryLengthscale: 1,
		},
		Strategy: task.Strategy{Type: "ts", InitialDesigns: 5},
	}
}

func floatParameters(count int) []task.Parameter {
	var all []task.Parameter
	for i := range count {
		all = append(all, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	return all
}

func mixedParameters() []task.Parameter {
	return append(floatParameters(2),
		task.Parameter{Name: "n", Kind: task.Int, Low: 1, High: 20},
		task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}})
}

// smooth is a gentle function of an encoded design in units far from
// standardised ones.
func smooth(x []float64) float64 {
	sum := 0.0
	for i, u := range x {
		sum += math.Sin(3*u+float64(i)) / float64(i+1)
	}
	return 1000 + 50*sum
}

func sample(space *task.Space, rng *rand.Rand) []float64 {
	x := make([]float64, space.Dim())
	for i := range x {
		x[i] = rng.Float64()
	}
	space.Snap(x)
	return x
}

func observe(space *task.Space, count int, rng *rand.Rand) Observations {
	var obs Observations
	for range count {
		x := sample(space, rng)
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, smooth(x))
	}
	return obs
}

func fitted(t testing.TB, model Model, obs Observations, seed random.Seed) Posterior {
	t.Helper()
	h, err := model.Fit(t.Context(), obs, nil, seed.Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestModelConditionAndPredict is what every surrogate must do.
func TestModelConditionAndPredict(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		for name, parameters := range map[string][]task.Parameter{"floats": floatParameters(3), "mixed": mixedParameters()} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				definition := newTask(t, kind, 200, parameters...)
				model, err := New(definition)
				if err != nil {
					t.Fatal(err)
				}
				a := adapter{task: definition, model: model}
				t.Run("deterministic", a.deterministic)
				t.Run("repeatable", a.repeatable)
				t.Run("few observations", a.fewObservations)
				t.Run("units", a.units)
				t.Run("extends", a.extends)
				t.Run("interpolates", a.interpolates)
				t.Run("weights", a.weights)
				t.Run("gradient", a.gradient)
				t.Run("concurrent", a.concurrent)
				t.Run("inputs", a.inputs)
				t.Run("rejects", a.rejects)
				t.Run("cancelled", a.cancelled)
			})
		}
	}
}

type adapter struct {
	task  *task.Task
	model Model
}

// trace is everything a posterior says, to be compared exactly.
func (a adapter) trace(p Posterior, seed random.Seed) []float64 {
	x := sample(a.task.Space, seed.Stream("point", 0))
	mean, variance := p.Predict(x)
	rng := seed.Stream("draw", 0)
	out := append([]float64{mean, variance}, p.Draw(rng).Value(x))
	return append(out, drawn(p, rng)...)
}

func (a adapter) deterministic(t *testing.T) {
	seed := random.SeedOf(1)
	obs := observe(a.task.Space, 20, seed.Stream("data", 0))
	first, second := fitted(t, a.model, obs, seed), fitted(t, a.model, obs, seed)
	if !slices.Equal(a.trace(first, seed), a.trace(second, seed)) {
		t.Error("the same arguments gave another posterior")
	}
	rng := seed.Stream("draw", 0)
	if slices.Equal(drawn(first, rng), drawn(first, rng)) {
		t.Error("two draws of weights are equal")
	}
}

func (a adapter) repeatable(t *testing.T) {
	seed := random.SeedOf(2)
	obs := observe(a.task.Space, 25, seed.Stream("data", 0))
	h, err := a.model.Fit(t.Context(), obs, nil, seed.Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var journaled Hyperparameters
	if err := json.Unmarshal(text, &journaled); err != nil {
		t.Fatal(err)
	}
	first, err := a.model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	restarted, err := New(a.task)
	if err != nil {
		t.Fatal(err)
	}
	second, err := restarted.Condition(obs, journaled, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.trace(first, seed), a.trace(second, seed)) {
		t.Error("after a restart with the journaled hyperparameters the draws differ")
	}
	if _, err := a.model.Fit(t.Context(), observe(a.task.Space, 30, seed.Stream("data", 0)), &journaled, seed.Stream("fit", 1)); err != nil {
		t.Errorf("a warm start: %v", err)
	}
}

func (a adapter) fewObservations(t *testing.T) {
	seed := random.SeedOf(3)
	one := observe(a.task.Space, 1, seed.Stream("data", 0))
	constant := observe(a.task.Space, 6, seed.Stream("data", 0))
	for i := range constant.Y {
		constant.Y[i] = 0.1
	}
	twice := Observations{X: [][]float64{one.X[0], one.X[0]}, Y: []float64{1, 2}}
	huge := observe(a.task.Space, 3, seed.Stream("data", 0))
	huge.Y = []float64{1e300, -1e308, 1.7e308}
	tiny := Observations{X: huge.X, Y: []float64{1e-320, 0, 5e-324}}
	for name, obs := range map[string]Observations{
		"one": one, "two": observe(a.task.Space, 2, seed.Stream("data", 0)),
		"constant": constant, "same design twice": twice, "huge": huge, "tiny": tiny,
	} {
		p := fitted(t, a.model, obs, seed)
		for i, v := range a.trace(p, seed) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: number %d of the posterior is %g", name, i, v)
				break
			}
		}
	}
}

// units: with Y in other units, the posterior stays.
func (a adapter) units(t *testing.T) {
	const factor, shift = 1e-3, -70.0
	seed := random.SeedOf(10)
	obs := observe(a.task.Space, 12, seed.Stream("data", 0))
	h, err := a.model.Fit(t.Context(), obs, nil, seed.Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	other := Observations{X: obs.X}
	for _, y := range obs.Y {
		other.Y = append(other.Y, factor*y+shift)
	}
	first, err := a.model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.model.Condition(other, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, got := a.trace(first, seed), a.trace(second, seed)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-6*(math.Abs(want[i])+1) {
			t.Fatalf("number %d of the posterior is %g, in the other units %g", i, want[i], got[i])
		}
	}
}

func (a adapter) interpolates(t *testing.T) {
	seed := random.SeedOf(4)
	rng := seed.Stream("data", 0)
	p := fitted(t, a.model, observe(a.task.Space, 60, rng), seed)
	var predicted, true_ []float64
	for range 100 {
		x := sample(a.task.Space, rng)
		mean, variance := p.Predict(x)
		if variance < 0 {
			t.Fatalf("variance %g", variance)
		}
		predicted, true_ = append(predicted, mean), append(true_, smooth(x))
	}
	if r := correlation(predicted, true_); r < 0.85 {
		t.Errorf("the mean's correlation with the objective is %.3f after 60 observations", r)
	}
}

func (a adapter) weights(t *testing.T) {
	seed := random.SeedOf(5)
	rng := seed.Stream("data", 0)
	p := fitted(t, a.model, observe(a.task.Space, 60, rng), seed)
	shared, err := SharedMap(a.task)
	if err != nil {
		t.Fatal(err)
	}
	w := drawn(p, seed.Stream("draw", 0))
	if len(w) != a.task.Surrogate.Features {
		t.Fatalf("%d weights, want %d", len(w), a.task.Surrogate.Features)
	}
	f := shared.Function(w)
	var shares, true_ []float64
	for range 200 {
		x := sample(a.task.Space, rng)
		shares, true_ = append(shares, f.Value(x)), append(true_, smooth(x))
	}
	square := 0.0
	for _, v := range w {
		square += v * v
	}
	r := correlation(shares, true_)
	t.Logf("norm %.1f, correlation %.3f", math.Sqrt(square), r)
	if r < 0.85 {
		t.Errorf("the correlation of a share with the objective is %.3f after 60 observations", r)
	}
}

func (a adapter) gradient(t *testing.T) {
	seed := random.SeedOf(6)
	f := fitted(t, a.model, observe(a.task.Space, 20, seed.Stream("data", 0)), seed).Draw(seed.Stream("draw", 0))
	x := sample(a.task.Space, seed.Stream("point", 0))
	grad := make([]float64, len(x))
	value := f.Gradient(grad, x)
	if math.Abs(value-f.Value(x)) > 1e-9 {
		t.Errorf("value %g, with the gradient %g", f.Value(x), value)
	}
	fbotest.CheckGradient(t, grad, x, f.Value, 1e-4)
}

// concurrent is for the race detector, and compares the results as well.
func (a adapter) concurrent(t *testing.T) {
	seed := random.SeedOf(7)
	obs := observe(a.task.Space, 15, seed.Stream("data", 0))
	model, err := New(a.task)
	if err != nil {
		t.Fatal(err)
	}
	posterior := fitted(t, model, obs, seed)
	traces := make([][]float64, 4)
	var wait sync.WaitGroup
	for i := range traces {
		wait.Go(func() {
			own, err := model.Fit(t.Context(), obs, nil, seed.Stream("fit", 0))
			if err != nil {
				t.Error(err)
				return
			}
			p, err := model.Condition(obs, own, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if i%2 == 0 {
				p = posterior
			}
			traces[i] = a.trace(p, seed)
		})
	}
	wait.Wait()
	for _, trace := range traces[1:] {
		if !slices.Equal(trace, traces[0]) {
			t.Error("concurrent use changed a result")
		}
	}
}

func (a adapter) inputs(t *testing.T) {
	seed := random.SeedOf(8)
	obs := observe(a.task.Space, 10, seed.Stream("data", 0))
	before := fmt.Sprint(obs)
	p := fitted(t, a.model, obs, seed)
	trace := a.trace(p, seed)
	if fmt.Sprint(obs) != before {
		t.Error("the observations were altered")
	}
	for i := range obs.X {
		clear(obs.X[i])
		obs.Y[i] = 0
	}
	if !slices.Equal(a.trace(p, seed), trace) {
		t.Error("the posterior kept its caller's slices")
	}
}

func (a adapter) rejects(t *testing.T) {
	seed := random.SeedOf(9)
	good := observe(a.task.Space, 3, seed.Stream("data", 0))
	h, err := a.model.Fit(t.Context(), good, nil, seed.Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	for name, obs := range map[string]Observations{
		"lengths":     {X: good.X, Y: good.Y[:2]},
		"NaN":         {X: good.X, Y: []float64{0, 1, math.NaN()}},
		"infinite":    {X: good.X, Y: []float64{0, 1, math.Inf(1)}},
		"NaN design":  {X: [][]float64{good.X[0], good.X[1], slices.Repeat([]float64{math.NaN()}, len(good.X[0]))}, Y: good.Y},
		"coordinates": {X: [][]float64{{0}, {0}, {0}}, Y: good.Y},
	} {
		if _, err := a.model.Fit(t.Context(), obs, nil, seed.Stream("fit", 0)); err == nil {
			t.Errorf("%s: Fit accepted it", name)
		}
		if _, err := a.model.Condition(obs, h, nil); err == nil {
			t.Errorf("%s: Condition accepted it", name)
		}
	}
	if _, err := a.model.Condition(Observations{}, h, nil); !errors.Is(err, ErrNoObservations) {
		t.Errorf("no observations: %v", err)
	}
	h.Noise = 0
	if _, err := a.model.Condition(good, h, nil); err == nil {
		t.Error("noise 0 was accepted")
	}
}

func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var sumA, sumB, aa, bb, ab float64
	for i := range a {
		sumA, sumB = sumA+a[i], sumB+b[i]
		aa, bb, ab = aa+a[i]*a[i], bb+b[i]*b[i], ab+a[i]*b[i]
	}
	return (ab - sumA*sumB/n) / math.Sqrt((aa-sumA*sumA/n)*(bb-sumB*sumB/n))
}

// extends: taking observations in one by one gives what taking them all at once
// gives, also where the number of observations passes that of the features.
func (a adapter) extends(t *testing.T) {
	seed := random.SeedOf(11)
	obs := observe(a.task.Space, 215, seed.Stream("data", 0)) // 200 features
	first := func(n int) Observations { return Observations{X: obs.X[:n], Y: obs.Y[:n]} }
	h, err := a.model.Fit(t.Context(), first(40), nil, seed.Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	grown, err := a.model.Condition(first(190), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 191; n <= len(obs.Y); n++ {
		if grown, err = a.model.Condition(first(n), h, grown); err != nil {
			t.Fatal(err)
		}
	}
	anew, err := a.model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		x := sample(a.task.Space, seed.Stream("point", 0))
		mean, variance := grown.Predict(x)
		wantMean, wantVariance := anew.Predict(x)
		if math.Abs(mean-wantMean) > 1e-5 || math.Abs(variance-wantVariance) > 1e-5 {
			t.Fatalf("mean %g, variance %g; anew %g, %g", mean, variance, wantMean, wantVariance)
		}
	}
	other := observe(a.task.Space, 5, seed.Stream("other data", 0))
	got, err := a.model.Condition(other, h, grown)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := a.model.Condition(other, h, nil)
	if !slices.Equal(a.trace(got, seed), a.trace(want, seed)) {
		t.Error("a posterior of other observations had an influence")
	}
}

// drawn are weights that cannot fail.
func drawn(p Posterior, rng *rand.Rand) []float64 {
	w, err := p.Weights(context.Background(), rng)
	if err != nil {
		panic(err)
	}
	return w
}

// Whoever ends a context gets its error and no result.
func (a adapter) cancelled(t *testing.T) {
	seed := random.SeedOf(9)
	obs := observe(a.task.Space, 8, seed.Stream("data", 0))
	p := fitted(t, a.model, obs, seed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h, err := a.model.Fit(ctx, obs, nil, seed.Stream("fit", 0)); !errors.Is(err, context.Canceled) || h.Noise != 0 {
		t.Errorf("Fit: %+v, %v", h, err)
	}
	if w, err := p.Weights(ctx, seed.Stream("draw", 0)); !errors.Is(err, context.Canceled) || w != nil {
		t.Errorf("Weights: %d, %v", len(w), err)
	}
	if w, err := p.WeightDraw(ctx, seed.Stream("draw", 0)); !errors.Is(err, context.Canceled) || w != nil {
		t.Errorf("WeightDraw: %d, %v", len(w), err)
	}
}
