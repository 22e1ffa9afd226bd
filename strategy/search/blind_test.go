package search_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// A node that has only measured what is false is blind, whatever its numbers are; failures count
// where the task counts them. So is one on a plateau: most outcomes are equal, and none is better.
func TestBlindWithoutFeasibleTrials(t *testing.T) {
	done := func(sound bool) strategy.Trial {
		return strategy.Trial{State: strategy.Done, Outcome: &strategy.Outcome{Constraints: map[string]task.Reading{"sound": task.Truth(sound), "size": task.Number(9)}}}
	}
	failed := strategy.Trial{State: strategy.Failed}
	valued := func(values ...float64) (trials []strategy.Trial) {
		for _, v := range values {
			trials = append(trials, strategy.Trial{State: strategy.Done, Outcome: &strategy.Outcome{Value: v}})
		}
		return trials
	}
	minimize := task.Task{Goal: task.Minimize}
	size := task.Constraint{Output: "size", Low: math.Inf(-1), High: 1}
	for name, c := range map[string]struct {
		task   task.Task
		trials []strategy.Trial
		want   bool
	}{
		"a number":               {task.Task{Constraints: []task.Constraint{size}}, []strategy.Trial{done(false)}, false},
		"nothing tried":          {task.Task{Constraints: []task.Constraint{task.TruthOf("sound")}}, nil, true},
		"false alone":            {task.Task{Constraints: []task.Constraint{size, task.TruthOf("sound")}}, []strategy.Trial{done(false), failed}, true},
		"true once":              {task.Task{Constraints: []task.Constraint{size, task.TruthOf("sound")}}, []strategy.Trial{done(false), done(true)}, false},
		"failures alone":         {task.Task{Failures: task.ConstrainFailures}, []strategy.Trial{failed}, true},
		"failures and a success": {task.Task{Failures: task.ConstrainFailures}, []strategy.Trial{failed, done(false)}, false},
		"ignored failures":       {task.Task{}, []strategy.Trial{failed}, false},
		"a plateau":              {minimize, valued(3, 3, 3+1e-13, 3), true},
		"zeros":                  {minimize, valued(0, 0), true},
		"one outcome":            {minimize, valued(3), false},
		"one better":             {minimize, valued(3, 3, 3, 3, 2), false},
		"one of five worse":      {minimize, valued(3, 3, 3, 3, 9), true},
		"half of them worse":     {minimize, valued(3, 3, 9, 9), false},
		"a plateau and a number": {task.Task{Goal: task.Minimize, Constraints: []task.Constraint{size}}, valued(3, 3), false},
	} {
		if got := search.Uninformed(strategy.View{Task: &c.task, Trials: c.trials}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
