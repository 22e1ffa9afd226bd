package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

// noisyView returns a view of 20 designs of the valley, measured with noise.
func noisyView(t *testing.T, kind string) strategy.View {
	t.Helper()
	definition := parse(t, kind, "logei")
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: definition}
	rng := random.SeedOf(5).Stream("designs", 0)
	var obs surrogate.Observations
	for id := uint64(1); id <= 20; id++ {
		x := acquisition.Sample(definition.Space, rng)
		design := definition.Space.Decode(x)
		value := valley(design) + 0.2*rng.NormFloat64()
		view.Trials = append(view.Trials, strategy.Trial{ID: id, Design: design, State: strategy.Done, Outcome: &strategy.Outcome{Value: value}})
		obs.X, obs.Y = append(obs.X, definition.Space.Encode(design)), append(obs.Y, -value)
	}
	h, err := model.Fit(t.Context(), obs, nil, random.SeedOf(5).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	if view.Posterior, err = model.Condition(obs, h, nil); err != nil {
		t.Fatal(err)
	}
	return view
}

// incumbentOf returns the encoded design with the largest posterior mean.
func incumbentOf(view strategy.View) (best []float64, mean float64) {
	mean = math.Inf(-1)
	for _, trial := range view.Trials {
		x := view.Task.Space.Encode(trial.Design)
		if m, _ := view.Posterior.Predict(x); m > mean {
			best, mean = x, m
		}
	}
	return best, mean
}

// Another evaluation of the incumbent improves nothing, although its value is uncertain. Elsewhere
// the improvement is at most that over a known number, and the same where the values are independent.
func TestIncumbentHasNoImprovement(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		view := noisyView(t, kind)
		f, _ := alone.NewLogEI(view.Task).Score(view)
		incumbent, best := incumbentOf(view)
		without := acquisition.LogEI(view.Posterior, best)
		if got, before := f.Value(incumbent), without.Value(incumbent); got > before-10 {
			t.Errorf("%s: log improvement %g at the incumbent, expected much less than %g", kind, got, before)
		}
		rng := random.SeedOf(6).Stream("designs", 0)
		for range 50 {
			x := acquisition.Sample(view.Task.Space, rng)
			if got, most := f.Value(x), without.Value(x); got > most+1e-9 {
				t.Errorf("%s at %v: log improvement %g, expected at most %g", kind, x, got, most)
			}
		}
	}
}

// The gradient agrees with differences of the value.
func TestGradientOverTheIncumbent(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		view := noisyView(t, kind)
		f, _ := alone.NewLogEI(view.Task).Score(view)
		rng := random.SeedOf(7).Stream("designs", 0)
		const step = 1e-5
		for range 20 {
			x := acquisition.Sample(view.Task.Space, rng)
			grad := make([]float64, len(x))
			if value, want := f.Gradient(grad, x), f.Value(x); math.Abs(value-want) > 1e-9*math.Abs(want) {
				t.Fatalf("%s: Gradient returns %g, Value %g", kind, value, want)
			}
			for i := range x {
				at := x[i]
				x[i] = at + step
				above := f.Value(x)
				x[i] = at - step
				below := f.Value(x)
				x[i] = at
				if slope := (above - below) / (2 * step); math.Abs(slope-grad[i]) > 1e-4*(1+math.Abs(slope)) {
					t.Errorf("%s at %v: slope %g along %d, the gradient has %g", kind, x, slope, i, grad[i])
				}
			}
		}
	}
}
