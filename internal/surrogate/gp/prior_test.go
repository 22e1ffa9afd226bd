package gp

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

var groupsOfThree = Spec{Kernel: Matern52, Groups: []int{0, 1, 1}}

// waves are outputs at points.
func waves(x [][]float64) (y []float64) {
	for _, row := range x {
		y = append(y, math.Sin(5*row[0])+row[1])
	}
	return y
}

// The standard prior is what Fit goes by, whichever way it is said.
func TestFitUnderTheStandardPrior(t *testing.T) {
	rng := random.SeedOf(1).Stream("points", 0)
	x := uniformPoints(12, 3, rng)
	y := waves(x)
	want, err := Fit(t.Context(), groupsOfThree, x, y, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	same, err := FitUnder(t.Context(), groupsOfThree, nil, x, y, nil, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil || !same.Equal(want) {
		t.Errorf("%+v, %v, want %+v", same, err, want)
	}
	prior := StandardPrior(groupsOfThree)
	got, err := FitUnder(t.Context(), groupsOfThree, &prior, x, y, nil, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	if got.Equal(want) {
		t.Error("the result does not name its prior")
	}
	for i, v := range got.Logarithms() {
		if math.Abs(v-want.Logarithms()[i]) > 0.05 {
			t.Errorf("hyperparameter %d is %g, want %g", i, v, want.Logarithms()[i])
		}
	}
}

// A narrow prior decides, for the fit and for samples, and is part of what is stored.
func TestNarrowPrior(t *testing.T) {
	rng := random.SeedOf(1).Stream("points", 0)
	x := uniformPoints(12, 3, rng)
	prior := Prior{Location: []float64{-2, 0.5, -3}, Spread: []float64{0.01, 0.01, 0.01}}
	h, err := FitUnder(t.Context(), groupsOfThree, &prior, x, waves(x), nil, nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var read Hyperparameters
	if err := json.Unmarshal(text, &read); err != nil || !read.Equal(h) {
		t.Errorf("%s was read as %+v, %v", text, read, err)
	}
	posterior, err := NewPosterior(groupsOfThree, x, waves(x), read)
	if err != nil || !posterior.Hyperparameters().Equal(h) {
		t.Errorf("a posterior has %+v, %v", posterior.Hyperparameters(), err)
	}
	draws, err := Sample(t.Context(), groupsOfThree, x, waves(x), nil, read, 5, rng)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range append(draws, h) {
		for i, v := range got.Logarithms() {
			if math.Abs(v-prior.Location[i]) > 0.1 {
				t.Errorf("hyperparameter %d is %g, the prior is at %g", i, v, prior.Location[i])
			}
		}
	}
}

func TestWrongPriors(t *testing.T) {
	x := [][]float64{{0, 0, 0}}
	for name, prior := range map[string]Prior{
		"short":    {Location: []float64{0, 0}, Spread: []float64{1, 1}},
		"spreads":  {Location: []float64{0, 0, 0}, Spread: []float64{1, 1}},
		"zero":     {Location: []float64{0, 0, 0}, Spread: []float64{1, 0, 1}},
		"infinite": {Location: []float64{0, 0, 0}, Spread: []float64{1, math.Inf(1), 1}},
		"NaN":      {Location: []float64{0, math.NaN(), 0}, Spread: []float64{1, 1, 1}},
		"far":      {Location: []float64{0, 21, 0}, Spread: []float64{1, 1, 1}},
	} {
		if _, err := FitUnder(t.Context(), groupsOfThree, &prior, x, []float64{0}, nil, nil, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
		h := PriorMode(groupsOfThree)
		h.Prior = &prior
		if _, err := Sample(t.Context(), groupsOfThree, x, []float64{0}, nil, h, 1, nil); err == nil {
			t.Errorf("%s: sampled", name)
		}
	}
}
