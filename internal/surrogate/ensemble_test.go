package surrogate_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/task"
)

// observed is what is measured.
func observed(count int) surrogate.Observations {
	x, y := measured(count)
	return surrogate.Observations{X: x, Y: y}
}

// learnedPosterior is that of an objective with these hyperparameters, or those of a fit
// where there are none.
func learnedPosterior(t *testing.T, definition *task.Task, h *surrogate.Hyperparameters) surrogate.Posterior {
	t.Helper()
	model := fixedModel(t, definition)
	obs := observed(12)
	if h == nil {
		fitted, err := model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0))
		if err != nil {
			t.Fatal(err)
		}
		h = &fitted
	}
	p, err := model.Condition(obs, *h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func membersOf(t *testing.T, p surrogate.Posterior, count int, stream uint64) []surrogate.Posterior {
	t.Helper()
	all, err := p.(surrogate.Ensemble).Members(t.Context(), count, random.SeedOf(2).Stream("members", stream))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Members are as many as asked for, of the same observations, each as the model would have
// it under hyperparameters that are drawn; the same again, and others of another stream.
func TestEnsembleMembers(t *testing.T) {
	definition := newTask(t, "exact", 2)
	p := learnedPosterior(t, definition, nil)
	all := membersOf(t, p, 8, 0)
	if len(all) != 8 {
		t.Fatalf("%d members", len(all))
	}
	y, units, err := surrogate.Outputs(definition, observed(12))
	if err != nil {
		t.Fatal(err)
	}
	draws, err := gp.Sample(t.Context(), surrogate.ProcessSpec(definition), observed(12).X, y, nil, p.Hyperparameters().Process(), 8, random.SeedOf(2).Stream("members", 0))
	if err != nil {
		t.Fatal(err)
	}
	again, others := membersOf(t, p, 8, 0), membersOf(t, p, 8, 1)
	at := []float64{0.35, 0.8}
	mean, variance := p.Predict(at)
	for i, member := range all {
		h := member.Hyperparameters()
		if !h.Process().Equal(draws[i]) {
			t.Errorf("member %d has %v, drawn are %v", i, h, draws[i])
		}
		if got := member.(surrogate.Scaled).Units(); !reflect.DeepEqual(got, units) {
			t.Errorf("member %d is in units %+v, want %+v", i, got, units)
		}
		m, v := member.Predict(at)
		wantM, wantV := learnedPosterior(t, definition, &h).Predict(at)
		if m != wantM || v != wantV {
			t.Errorf("member %d predicts %g and %g, the model under its hyperparameters %g and %g", i, m, v, wantM, wantV)
		}
		if m == mean || v == variance {
			t.Errorf("member %d predicts what the fitted one does: %g and %g", i, m, v)
		}
		if am, av := again[i].Predict(at); am != m || av != v {
			t.Errorf("member %d of the same stream predicts %g and %g, then %g and %g", i, m, v, am, av)
		}
		if om, _ := others[i].Predict(at); om == m {
			t.Errorf("member %d of another stream predicts the same", i)
		}
	}
	if m, v := p.Predict(at); m != mean || v != variance {
		t.Error("asking changes the posterior")
	}
}

// With fixed hyperparameters nothing is drawn, whatever was observed.
func TestMembersOfFixedHyperparameters(t *testing.T) {
	definition := fixedTask(t, task.Maximize)
	model := fixedModel(t, definition)
	for _, count := range []int{0, 12} {
		h, err := model.Fit(t.Context(), observed(count), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.Condition(observed(count), h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := membersOf(t, p, 8, 0); len(all) != 1 || all[0] != p {
			t.Errorf("%d observations: %d members, want the posterior itself", count, len(all))
		}
	}
}

// The features' surrogate learns no hyperparameters that matter, and has one posterior.
func TestFeaturesHaveNoMembers(t *testing.T) {
	if _, ok := learnedPosterior(t, newTask(t, "rff", 2), nil).(surrogate.Ensemble); ok {
		t.Error("members of a posterior by features")
	}
}

func TestMembersEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := learnedPosterior(t, newTask(t, "exact", 2), nil)
	if all, err := p.(surrogate.Ensemble).Members(ctx, 8, random.SeedOf(2).Stream("members", 0)); !errors.Is(err, context.Canceled) || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// Outputs that are all the same have members too, whose predictions are numbers.
func TestMembersOfConstantOutputs(t *testing.T) {
	definition := newTask(t, "exact", 2)
	x, y := measured(3)
	for i := range y {
		y[i] = 5
	}
	p, err := fixedModel(t, definition).Condition(surrogate.Observations{X: x, Y: y}, surrogate.Hyperparameters{Lengthscales: []float64{0.4, 0.4}, Noise: 1e-4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, member := range membersOf(t, p, 8, 0) {
		if m, v := member.Predict(x[0]); !(math.Abs(m) < 1e-9) || !(v >= 0) {
			t.Errorf("member %d predicts %g and %g", i, m, v)
		}
	}
}

// TestPredictedOutputs: an output with a large deviation has little influence on the posterior, one
// without a deviation the same as without the field, and fits ignore outputs without information.
func TestPredictedOutputs(t *testing.T) {
	definition := newTask(t, "exact", 2)
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	known := observed(12)
	h, err := model.Fit(t.Context(), known, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	at := known.X[3]
	predict := func(obs surrogate.Observations, previous surrogate.Posterior) (float64, float64, surrogate.Posterior) {
		p, err := model.Condition(obs, h, previous)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := p.Predict(at)
		return mean, variance, p
	}
	mean, variance, p := predict(known, nil)
	exact := known
	exact.Deviations = make([]float64, 12)
	if m, v, _ := predict(exact, nil); math.Abs(m-mean) > 1e-9 || math.Abs(v-variance) > 1e-9 {
		t.Errorf("without deviations %v and %v, with zeros %v and %v", mean, variance, m, v)
	}
	vague := known
	vague.Deviations = make([]float64, 12)
	vague.Deviations[3] = 1e200
	_, vagueVariance, fromMeasured := predict(vague, p) // not an extension of a posterior in which it is measured
	if vagueVariance < 1.2*variance {
		t.Errorf("variance %v at a vague output, %v at a measured one", vagueVariance, variance)
	}
	if _, v, _ := predict(known, fromMeasured); math.Abs(v-variance) > 1e-9 {
		t.Errorf("variance %v after it was measured, want %v", v, variance)
	}
	members, err := fromMeasured.(surrogate.Ensemble).Members(t.Context(), 2, random.SeedOf(2).Stream("members", 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range members {
		if _, v := member.Predict(at); v < variance {
			t.Errorf("a member has the variance %v at a vague output", v)
		}
	}
	fits := surrogate.Observations{X: append(slices.Clone(known.X), known.X[0]), Y: append(slices.Clone(known.Y), 50), Deviations: append(make([]float64, 12), 1e200)}
	with, err := model.Fit(t.Context(), fits, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	fits.Deviations[12] = 0
	without, err := model.Fit(t.Context(), fits, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil || !(with.Noise < without.Noise) {
		t.Errorf("noise %v with a vague contradiction, %v with a measured one; %v", with.Noise, without.Noise, err)
	}
}
