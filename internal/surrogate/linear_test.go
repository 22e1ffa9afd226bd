package surrogate

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// uneven varies ten times as fast along the third of six coordinates as along the others.
func uneven(x []float64) float64 {
	sum := math.Sin(10 * x[2])
	for i, u := range x {
		if i != 2 {
			sum += 0.4 * math.Sin(u+float64(i))
		}
	}
	return sum
}

func learnedLinear(t *testing.T, count int) (definition *task.Task, model Model, obs Observations, h Hyperparameters) {
	t.Helper()
	definition = newTask(t, "rff", 512, floatParameters(6)...)
	model, err := New(definition)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.SeedOf(11).Stream("data", 0)
	for range count {
		x := sample(definition.Space, rng)
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, uneven(x))
	}
	if h, err = model.Fit(t.Context(), obs, nil, random.SeedOf(11).Stream("fit", 0)); err != nil {
		t.Fatal(err)
	}
	return definition, model, obs, h
}

func conditioned(t *testing.T, model Model, obs Observations, h Hyperparameters, previous Posterior) Posterior {
	t.Helper()
	p, err := model.Condition(obs, h, previous)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// commonScales are the hyperparameters of the model over the shared features alone.
func commonScales(h Hyperparameters) Hyperparameters { return Hyperparameters{Noise: h.SharedNoise} }

// TestLinearLearnsLengthscales: after 60 observations the own features predict unseen values at
// least three times as well as features at the task's lengthscales.
func TestLinearLearnsLengthscales(t *testing.T) {
	definition, model, obs, h := learnedLinear(t, 60)
	fast := h.Lengthscales[2]
	for i, l := range h.Lengthscales {
		if i != 2 && l < 3*fast {
			t.Errorf("lengthscale %d is %g, want at least three times that of the fast coordinate, %g", i, l, fast)
		}
	}
	own, shared := conditioned(t, model, obs, h, nil), conditioned(t, model, obs, commonScales(h), nil)
	rng := random.SeedOf(12).Stream("points", 0)
	var off, offShared float64
	for range 300 {
		x := sample(definition.Space, rng)
		want := own.(Scaled).Units().Standardised(uneven(x))
		mean, _ := own.Predict(x)
		meanShared, _ := shared.Predict(x)
		off += (mean - want) * (mean - want)
		offShared += (meanShared - want) * (meanShared - want)
	}
	t.Logf("root mean square errors %.3f and %.3f", math.Sqrt(off/300), math.Sqrt(offShared/300))
	if !(9*off < offShared) {
		t.Errorf("squared errors add up to %g with learned lengthscales and to %g with the task's, want a ninth", off, offShared)
	}
}

// TestLinearSharesOverSharedFeatures: what peers receive does not depend on the learned
// lengthscales, bit for bit, also where the posterior has been extended.
func TestLinearSharesOverSharedFeatures(t *testing.T) {
	_, model, obs, h := learnedLinear(t, 30)
	few := Observations{X: obs.X[:25], Y: obs.Y[:25]}
	for _, asked := range []bool{false, true} {
		before, beforeShared := conditioned(t, model, few, h, nil), conditioned(t, model, few, commonScales(h), nil)
		if asked {
			before.Mean()
			beforeShared.Mean()
		} else {
			beforeShared = nil
		}
		p, want := conditioned(t, model, obs, h, before), conditioned(t, model, obs, commonScales(h), beforeShared)
		if got, want := drawn(p, random.SeedOf(13).Stream("draw", 0)), drawn(want, random.SeedOf(13).Stream("draw", 0)); !slices.Equal(got, want) {
			t.Errorf("asked before: %t: the drawn weights differ", asked)
		}
		_, got := p.DetailedMean()
		if _, want := want.DetailedMean(); !slices.Equal(got, want) {
			t.Errorf("asked before: %t: the means differ", asked)
		}
		average, got := p.Explained()
		if wantAverage, want := want.Explained(); average != wantAverage || !slices.Equal(got, want) {
			t.Errorf("asked before: %t: what is explained differs, %g and %g", asked, average, wantAverage)
		}
	}
}

// TestLinearIsRestored: the posterior by hyperparameters that a journal has kept is the same.
func TestLinearIsRestored(t *testing.T) {
	definition, model, obs, h := learnedLinear(t, 30)
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var kept Hyperparameters
	if err := json.Unmarshal(text, &kept); err != nil || !reflect.DeepEqual(kept, h) {
		t.Fatalf("%+v became %+v, %v", h, kept, err)
	}
	again, err := New(definition)
	if err != nil {
		t.Fatal(err)
	}
	p, restored := conditioned(t, model, obs, h, nil), conditioned(t, again, obs, kept, nil)
	if mean, variance := p.Predict(obs.X[3]); true {
		if gotMean, gotVariance := restored.Predict(obs.X[3]); mean != gotMean || variance != gotVariance {
			t.Errorf("predicts %g, %g and restored %g, %g", mean, variance, gotMean, gotVariance)
		}
	}
	if !slices.Equal(drawn(p, random.SeedOf(14).Stream("draw", 0)), drawn(restored, random.SeedOf(14).Stream("draw", 0))) {
		t.Error("the restored posterior shares other weights")
	}
}

// TestLinearRejects covers hyperparameters that are no model's.
func TestLinearRejects(t *testing.T) {
	_, model, obs, h := learnedLinear(t, 10)
	for name, change := range map[string]func(h *Hyperparameters){
		"few lengthscales":   func(h *Hyperparameters) { h.Lengthscales = h.Lengthscales[1:] },
		"a lengthscale of 0": func(h *Hyperparameters) { h.Lengthscales = make([]float64, 6) },
		"no features":        func(h *Hyperparameters) { h.Features = 0 },
		"negative noise":     func(h *Hyperparameters) { h.Noise = -1 },
		"shared noise":       func(h *Hyperparameters) { h.SharedNoise = math.Inf(1) },
	} {
		wrong := h
		change(&wrong)
		if _, err := model.Condition(obs, wrong, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
