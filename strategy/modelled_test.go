package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const maxModelled = 24

func modelledTask(t *testing.T, goal, surrogate, more string) *task.Task {
	t.Helper()
	spec, err := all.Strategies().Parse("modelled", fmt.Appendf(nil, `
name: modelled
goal: %s
parameters: [{name: a, type: float, low: 0, high: 1}, {name: b, type: float, low: 0, high: 1}]
surrogate: {type: %s}
%s`, goal, surrogate, more))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// manyTrials are done ones at random designs, of which every seventh has the design before it
// and every ninth has failed.
func manyTrials(spec *task.Task, count int) (trials []strategy.Trial) {
	rng := random.SeedOf(1).Stream("trials", 0)
	for i := range count {
		trial := strategy.Trial{ID: uint64(i + 1), State: strategy.Done, Design: spec.Space.Decode([]float64{rng.Float64(), rng.Float64()})}
		if i%7 == 6 {
			trial.Design = trials[i-1].Design
		}
		if i%9 == 8 {
			trial.State = strategy.Failed
		} else {
			trial.Outcome = &strategy.Outcome{Value: rng.NormFloat64(), Constraints: map[string]task.Reading{"c": task.Number(rng.Float64())}}
		}
		trials = append(trials, trial)
	}
	return trials
}

func TestModelledAreFewAndHaveTheBest(t *testing.T) {
	for _, goal := range []string{"minimize", "maximize"} {
		spec := modelledTask(t, goal, "exact", "constraints: [{name: c, high: 0.5}]")
		trials := manyTrials(spec, 120)
		for _, output := range []task.Output{task.Objective, "c", task.Completion} {
			for count := range len(trials) + 1 {
				view := strategy.View{Task: spec, Trials: trials[:count], MaxObservations: maxModelled}
				places := view.Modelled(output)
				whole := len(strategy.Observed(spec, view.Trials, output).Y)
				if want := min(whole, maxModelled); len(places) > want || len(places) < want*7/8 || !slices.IsSorted(places) || len(slices.Compact(slices.Clone(places))) != len(places) {
					t.Fatalf("%s, output %q, %d trials: %d of %d observations, want up to %d in ascending order: %v", goal, output, count, len(places), whole, want, places)
				}
				if !slices.Equal(places, view.Modelled(output)) {
					t.Fatalf("%s, output %q, %d trials: two choices differ", goal, output, count)
				}
				best := strategy.Best(spec, view.Trials)
				if best != nil && whole > 0 && !slices.Contains(places, int(best.ID)-1) {
					t.Fatalf("%s, output %q, %d trials: the best trial, %d, is none of %v", goal, output, count, best.ID, places)
				}
				if last := count - 1; last >= 0 && trials[last].State == strategy.Done && whole > 0 && !slices.Contains(places, last) {
					t.Fatalf("%s, output %q, %d trials: the newest is none of %v", goal, output, count, places)
				}
			}
		}
	}
}

// TestModelledStayWhileTrialsAreAdded: the choice is extended, and made anew once in three
// observations, so that a posterior can be extended too.
func TestModelledStayWhileTrialsAreAdded(t *testing.T) {
	spec := modelledTask(t, "minimize", "exact", "")
	trials := manyTrials(spec, 400)
	var before []int
	anew := 0
	for count := range len(trials) + 1 {
		places := strategy.Modelled(spec, trials[:count], task.Objective, maxModelled)
		if len(places) < len(before) || !slices.Equal(places[:len(before)], before) {
			anew++
		}
		before = places
	}
	if observations := 400 - 400/9; anew > (observations-maxModelled)/3+1 {
		t.Errorf("%d choices were made anew in %d observations", anew, observations)
	}
}

// TestModelledCoverTheSpace: what is neither good nor new is learned from where it is far from
// the others, although a hundred times as many observations are at one place.
func TestModelledCoverTheSpace(t *testing.T) {
	spec := modelledTask(t, "minimize", "exact", "")
	rng := random.SeedOf(2).Stream("trials", 0)
	var trials []strategy.Trial
	for i := range 1000 {
		x, value := []float64{0.5 + 0.01*rng.Float64(), 0.5 + 0.01*rng.Float64()}, rng.Float64()
		if i < 10 {
			x, value = []float64{float64(i%2) * 0.9, float64(i/2) * 0.2}, 2
		}
		trials = append(trials, strategy.Trial{ID: uint64(i + 1), State: strategy.Done, Design: spec.Space.Decode(x), Outcome: &strategy.Outcome{Value: value}})
	}
	places := strategy.Modelled(spec, trials, task.Objective, 60)
	for i := range 10 {
		if !slices.Contains(places, i) {
			t.Errorf("trial %d, far from all others, is none of %v", i+1, places)
		}
	}
}

func TestModelledOfAll(t *testing.T) {
	features := modelledTask(t, "minimize", "rff", "")
	trials := manyTrials(features, 400)
	view := strategy.View{Task: features, Trials: trials, MaxObservations: maxModelled}
	if got, want := len(view.Observed(task.Objective).Y), 400-400/9; got != want {
		t.Errorf("a model of random features learns from %d observations, want all %d", got, want)
	}
	if got := len(view.ExactlyModelled()); got > maxModelled {
		t.Errorf("an exact process of its task learns from %d observations, want at most %d", got, maxModelled)
	}
	exact := modelledTask(t, "minimize", "exact", "")
	view = strategy.View{Task: exact, Trials: trials[:strategy.DefaultMaxObservations]}
	if got, want := view.Observed(task.Objective), strategy.Observed(exact, view.Trials, task.Objective); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("below the limit the model does not learn from all observations")
	}
	view.Trials = trials
	if got := len(view.Modelled(task.Objective)); got > strategy.DefaultMaxObservations {
		t.Errorf("without a limit of the node's the model learns from %d observations, want at most %d", got, strategy.DefaultMaxObservations)
	}
}
