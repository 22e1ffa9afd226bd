package tsampling

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

const several = "name: test\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n" +
	"parameters: [{name: x, type: float, low: 0, high: 1}]\nsurrogate: {features: 64}\nstrategy: {type: fts, message: projection}\n"

// severalView returns the view of an agent that minimises the squared distances to .25 and to .75. Its front
// is from .25 to .75.
func severalView(t *testing.T) strategy.View {
	t.Helper()
	spec := strategytest.Task(t, strategy.Set{RegisterFTS()}, "%s", several)
	view := strategy.View{Task: spec}
	for i, x := range []float64{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1} {
		view.Observations++
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode([]float64{x}), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: (x - .25) * (x - .25), Metrics: map[string]float64{"b": (x - .75) * (x - .75)}}})
	}
	strategytest.ConditionObjectives(t, &view)
	return view
}

// TestSamplesOfFronts: shared and own samples have their maxima on the front, at different places of it for
// different weights, not at the optimum of one objective.
func TestSamplesOfFronts(t *testing.T) {
	view := severalView(t)
	features, err := surrogate.SharedMap(view.Task)
	if err != nil {
		t.Fatal(err)
	}
	s, sharing := NewFTS(view.Task, features), NewSharing(view.Task)
	const draws = 12
	places := map[string][]float64{}
	for i := range uint64(draws) {
		seed := random.SeedOf(i)
		weights, err := sharing.drawWeights(t.Context(), view, seed)
		if err != nil {
			t.Fatal(err)
		}
		sample := features.Function(weights.(protocol.Weights).Values)
		x, _, err := s.search.Maximizer.Maximize(t.Context(), sample, nil, seed.Stream("maximise", 0))
		if err != nil {
			t.Fatal(err)
		}
		own, err := s.ownSample(t.Context(), view, 10, seed, 1)
		if err != nil {
			t.Fatal(err)
		}
		if own.Why.Source != strategy.Own {
			t.Errorf("an own sample by %+v", own.Why)
		}
		places["shared"] = append(places["shared"], x[0])
		places["own"] = append(places["own"], own.Design.Float("x"))
	}
	for name, all := range places {
		near, low, high := 0, 1.0, 0.0
		for _, x := range all {
			if x > 0.15 && x < 0.85 {
				near++
			}
			low, high = min(low, x), max(high, x)
		}
		if near < draws-2 || low > 0.42 || high < 0.58 {
			t.Errorf("%s samples have their maxima at %.2f, expected places all over the front from .25 to .75", name, all)
		}
	}
}

// TestScalarisationNeedsAllObjectives: before each objective has a model, nothing is shared and the node
// evaluates a random design.
func TestScalarisationNeedsAllObjectives(t *testing.T) {
	view := severalView(t)
	view.Objectives = nil
	features, err := surrogate.SharedMap(view.Task)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := NewSharing(view.Task).drawWeights(t.Context(), view, random.SeedOf(1)); got != nil || err != nil {
		t.Errorf("%v, %v, expected no share", got, err)
	}
	if got, err := NewFTS(view.Task, features).ownSample(t.Context(), view, 10, random.SeedOf(1), 1); err != nil || got.Design.IsZero() {
		t.Errorf("%v, %v, expected a design", got.Design, err)
	}
}

// TestEvidenceIsForOneObjective: peers: evidence compares samples with one objective.
func TestEvidenceIsForOneObjective(t *testing.T) {
	_, err := strategy.Set{RegisterFTS()}.Parse("test", []byte(strings.Replace(several, "message: projection", "peers: evidence", 1)))
	if err == nil || !strings.Contains(err.Error(), "peers evidence compares a sample with the outcomes of one objective; expected with several: uniform or weighted") {
		t.Errorf("%v", err)
	}
}
