package strategy_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// boundedTask minimises over x and lets memory be 10.
func boundedTask(t *testing.T) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().NewTask(task.Spec{Name: "bounded", Goal: task.Minimize, Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	bounded := *parsed
	bounded.Constraints = []task.Constraint{{Output: "memory", Low: math.Inf(-1), High: 10}}
	return &bounded
}

func measured(value, memory float64) *strategy.Outcome {
	return &strategy.Outcome{Value: value, Constraints: map[string]task.Reading{"memory": task.Number(memory)}}
}

// trialsOf makes trials in state done of outcomes, failed ones of nil.
func trialsOf(t *testing.T, spec *task.Task, outcomes ...*strategy.Outcome) (trials []strategy.Trial) {
	t.Helper()
	for i, outcome := range outcomes {
		design, err := spec.Space.ParseDesign(map[string]any{"x": float64(i) / 10})
		if err != nil {
			t.Fatal(err)
		}
		trial := strategy.Trial{ID: uint64(i + 1), Design: design, State: strategy.Done, Outcome: outcome}
		if outcome == nil {
			trial.State = strategy.Failed
		}
		trials = append(trials, trial)
	}
	return trials
}

func TestObservedByOutput(t *testing.T) {
	spec := boundedTask(t)
	trials := trialsOf(t, spec, measured(1, 20), nil, &strategy.Outcome{Value: 3}, measured(4, -5))
	for output, want := range map[task.Output]struct {
		at []float64
		y  []float64
	}{
		task.Objective:  {[]float64{0, 0.2, 0.3}, []float64{-1, -3, -4}}, // larger is better
		"memory":        {[]float64{0, 0.3}, []float64{20, -5}},          // as measured
		"latency":       {nil, nil},
		task.Completion: {[]float64{0, 0.1, 0.2, 0.3}, []float64{1, 0, 1, 1}},
	} {
		got := strategy.Observed(spec, trials, output)
		var at []float64
		for _, x := range got.X {
			at = append(at, x[0])
		}
		if !slices.Equal(at, want.at) || !slices.Equal(got.Y, want.y) {
			t.Errorf("%q: %v at %v, want %v at %v", output, got.Y, at, want.y, want.at)
		}
	}
}

func TestBestTrial(t *testing.T) {
	spec := boundedTask(t)
	for name, c := range map[string]struct {
		outcomes []*strategy.Outcome
		want     uint64 // 0: none
	}{
		"no trial":                 {nil, 0},
		"failed":                   {[]*strategy.Outcome{nil}, 0},
		"infeasible better value":  {[]*strategy.Outcome{measured(1, 11), measured(5, 9), measured(2, 11)}, 2},
		"of equal ones the first":  {[]*strategy.Outcome{nil, measured(5, 1), measured(5, 9)}, 2},
		"no feasible trial at all": {[]*strategy.Outcome{measured(1, 11), nil, measured(2, 12)}, 0},
	} {
		trials := trialsOf(t, spec, c.outcomes...)
		got := strategy.Best(spec, trials)
		switch {
		case c.want == 0 && got != nil:
			t.Errorf("%s: trial %d", name, got.ID)
		case c.want > 0 && (got == nil || !reflect.DeepEqual(*got, trials[c.want-1])):
			t.Errorf("%s: %+v, want trial %d", name, got, c.want)
		}
	}
}
