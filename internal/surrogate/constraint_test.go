package surrogate_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func lineTask(t testing.TB, c task.Constraint) *task.Task {
	t.Helper()
	got, err := all.Strategies().NewTask(task.Spec{Name: "line", Goal: task.Minimize,
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}}, Constraints: []task.Constraint{c}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A constraint's model, fitted to a steep curve that crosses the limits, tells between the
// observed designs which ones keep them, in whatever units.
func TestConstraintsAreTold(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		curve     func(x float64) float64
		low, high float64
	}{
		"at most":  {func(x float64) float64 { return 10 * x }, -inf, 4},
		"at least": {func(x float64) float64 { return 1e6 * (x - 0.5) }, 1e5, inf},
		"both":     {func(x float64) float64 { return 3 + math.Sin(6*x) }, 2.5, 3.5},
		"one that has diverged": {func(x float64) float64 {
			if x > 0.9 {
				return 1e12
			}
			return 10 * x
		}, -inf, 4},
		"one of two limits": {func(x float64) float64 {
			if x > 0.9 {
				return 1e300
			}
			return 10 * x
		}, 2, 4},
		"bad tail of hundreds": {func(x float64) float64 { return math.Exp(6 * x) }, -inf, 3},
	} {
		constraint := task.Constraint{Output: "c", Low: c.low, High: c.high}
		spec := lineTask(t, constraint)
		model, err := surrogate.NewConstraint(spec, constraint)
		if err != nil {
			t.Fatal(err)
		}
		obs := surrogate.Observations{}
		for i := range 12 {
			x := (float64(i) + 0.5) / 12
			obs.X, obs.Y = append(obs.X, []float64{x}), append(obs.Y, c.curve(x))
		}
		before := slices.Clone(obs.Y)
		h, err := model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0))
		if err != nil {
			t.Fatal(err)
		}
		posterior, err := model.Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		known := posterior.(*surrogate.Constraint)
		wrong, count := 0, 0
		for x := 0.02; x < 1; x += 0.01 {
			mean, _ := known.Predict([]float64{x})
			count++
			if keeps := known.Low <= mean && mean <= known.High; keeps != constraint.Keeps(c.curve(x)) {
				wrong++
			}
		}
		if wrong > 3 { // next to a limit
			t.Errorf("%s: wrong at %d of %d designs", name, wrong, count)
		}
		if !slices.Equal(obs.Y, before) {
			t.Errorf("%s: the observations have changed", name)
		}
		again, err := model.Condition(obs, h, posterior)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.(*surrogate.Constraint); got.Low != known.Low || got.High != known.High {
			t.Errorf("%s: limits %g and %g, after an extension %g and %g", name, known.Low, known.High, got.Low, got.High)
		}
	}
}

// Limits are standardised as the observations are: who keeps them before does after.
func TestLimitsKeepTheirPlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Float64Range(-3, 3).Draw(rt, "limit")
		constraint := task.Constraint{Output: "c", Low: limit, High: math.Inf(1)}
		switch rapid.IntRange(0, 2).Draw(rt, "sides") {
		case 1:
			constraint.Low, constraint.High = math.Inf(-1), limit
		case 2:
			constraint.High = limit + rapid.Float64Range(0.1, 3).Draw(rt, "width")
		}
		obs := surrogate.Observations{}
		for i, y := range rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-4, 4), rapid.Float64Range(-1e3, 1e3)), 1, 9).Draw(rt, "y") {
			obs.X, obs.Y = append(obs.X, []float64{float64(i) / 9}), append(obs.Y, y)
		}
		model, err := surrogate.NewConstraint(lineTask(t, constraint), constraint)
		if err != nil {
			rt.Fatal(err)
		}
		// Next to no noise: the mean is at the observations.
		posterior, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{0.03}, Noise: 1e-4}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		known := posterior.(*surrogate.Constraint)
		for i, x := range obs.X {
			mean, _ := known.Predict(x)
			inside, near := known.Low <= mean && mean <= known.High, min(math.Abs(mean-known.Low), math.Abs(mean-known.High)) < 0.01
			if inside != constraint.Keeps(obs.Y[i]) && !near {
				rt.Fatalf("%g of %v has the mean %g in %g to %g", obs.Y[i], constraint, mean, known.Low, known.High)
			}
		}
	})
}

// Somebody has found a design that is exactly what is asked for: the mean goes there, and
// what is said of the other side of two limits is left out.
func TestGivenOfEqualLimits(t *testing.T) {
	constraint := task.Constraint{Output: "c", Low: 2, High: 2}
	model, err := surrogate.NewConstraint(lineTask(t, constraint), constraint)
	if err != nil {
		t.Fatal(err)
	}
	obs := surrogate.Observations{X: [][]float64{{0.1}, {0.9}}, Y: []float64{0, 5}}
	posterior, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{0.3}, Noise: 1e-3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	known, at := posterior.(*surrogate.Constraint), []float64{0.5}
	given, err := known.Given([][]float64{at, {0.6}}, []bool{true, false})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := known.Predict(at)
	if mean, _ := given.Predict(at); math.Abs(mean-known.Low) > 0.01 || math.Abs(before-known.Low) < 0.05 {
		t.Errorf("the mean is %g, before %g; asked is %g", mean, before, known.Low)
	}
	if same, err := known.Given([][]float64{at}, []bool{false}); err != nil || same != known {
		t.Errorf("%v, %v", same, err)
	}
}

// Given pending designs the mean of a number stays, and its variance shrinks. A label is
// expected to be what it is likelier to be, and becomes likelier still.
func TestConstraintWithPending(t *testing.T) {
	for name, c := range map[string]task.Constraint{"number": {Output: "c", Low: 0.5, High: math.Inf(1)}, "label": task.TruthOf("c")} {
		spec := lineTask(t, c)
		model, err := surrogate.NewConstraint(spec, c)
		if err != nil {
			t.Fatal(err)
		}
		obs := surrogate.Observations{X: [][]float64{{0}, {0.1}, {0.2}, {0.6}, {0.7}}, Y: []float64{0, 0, 0, 1, 1}}
		known, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{0.3}, Noise: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := known.(*surrogate.Constraint)
		pending := [][]float64{{0.4}, {1}}
		given, err := before.WithPending(pending)
		if err != nil {
			t.Fatal(err)
		}
		if given.Low != before.Low || given.High != before.High || given.Noise != before.Noise || given.Output != before.Output {
			t.Errorf("%s: limits or noise %+v, before %+v", name, given, before)
		}
		for _, x := range pending {
			mean, variance := before.Predict(x)
			got, left := given.Predict(x)
			if !(left < variance/2) {
				t.Errorf("%s at %v: variance %g, without the pending design %g", name, x, left, variance)
			}
			if farther := math.Abs(got-before.Low) - math.Abs(mean-before.Low); (got > before.Low) != (mean > before.Low) ||
				c.Truth && farther <= 0 || !c.Truth && math.Abs(farther) > 1e-6 {
				t.Errorf("%s at %v: mean %g, without the pending design %g; the limit is %g", name, x, got, mean, before.Low)
			}
		}
	}
}
