package surrogate_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// Labels of a line, a seventh of them wrong: what is probable is right, by the probability of
// the label with its noise, which the posterior of the function alone would overstate.
func TestTruthsAreTold(t *testing.T) {
	constraint := task.TruthOf("sound")
	model, err := surrogate.NewConstraint(lineTask(t, constraint), constraint)
	if err != nil {
		t.Fatal(err)
	}
	obs := surrogate.Observations{}
	rng := random.SeedOf(2).Stream("wrong", 0)
	for i := range 70 {
		x := (float64(i) + 0.5) / 70
		label := 0.0
		if (x > 0.4) != (rng.IntN(7) == 0) {
			label = 1
		}
		obs.X, obs.Y = append(obs.X, []float64{x}), append(obs.Y, label)
	}
	h, err := model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	known := posterior.(*surrogate.Constraint)
	if known.Low != 0 || !math.IsInf(known.High, 1) || known.Noise != h.Noise {
		t.Errorf("%+v", known)
	}
	probability := acquisition.LogFeasibility(acquisition.Limit{Predictor: known, Low: known.Low, High: known.High, Noise: known.Noise})
	for x := 0.0; x <= 1; x += 0.05 {
		got := math.Exp(probability.Value([]float64{x}))
		if math.Abs(x-0.4) > 0.1 && (got > 0.5) != (x > 0.4) {
			t.Errorf("at %g: %g", x, got)
		}
		if got > 0.99 || got < 0.01 {
			t.Errorf("at %g: %g is too sure of labels of which a seventh is wrong", x, got)
		}
	}
}

// Labels that are all the same leave the lengthscales where they are before any.
func TestEqualLabelsTeachNoLengthscale(t *testing.T) {
	constraint := task.TruthOf("sound")
	model, err := surrogate.NewConstraint(lineTask(t, constraint), constraint)
	if err != nil {
		t.Fatal(err)
	}
	var first surrogate.Hyperparameters
	for n := 1; n <= 9; n += 4 {
		obs := surrogate.Observations{}
		for i := range n {
			obs.X, obs.Y = append(obs.X, []float64{float64(i) / 9}), append(obs.Y, 0)
		}
		h, err := model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0))
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			first = h
		}
		if h.Noise != first.Noise || h.Lengthscales[0] != first.Lengthscales[0] || h.Lengthscales[0] > 1 {
			t.Errorf("%d labels: %+v", n, h)
		}
	}
}

func TestTruthsAreChecked(t *testing.T) {
	constraint := task.TruthOf("sound")
	model, err := surrogate.NewConstraint(lineTask(t, constraint), constraint)
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range [][]float64{nil, {0.5}, {math.NaN()}, {2}} {
		obs := surrogate.Observations{Y: y}
		for range y {
			obs.X = append(obs.X, []float64{0.5})
		}
		if _, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{1}, Noise: 0.1}, nil); err == nil {
			t.Errorf("%v: accepted", y)
		}
	}
}
