package search_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Who has only seen what is false is blind, whatever numbers say; failures count where the
// task says so.
func TestBlind(t *testing.T) {
	done := func(sound bool) strategy.Trial {
		return strategy.Trial{State: strategy.Done, Outcome: &strategy.Outcome{Constraints: map[string]task.Reading{"sound": task.Truth(sound), "size": task.Number(9)}}}
	}
	failed := strategy.Trial{State: strategy.Failed}
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
		"failures alone":         {task.Task{FailuresCount: true}, []strategy.Trial{failed}, true},
		"failures and a success": {task.Task{FailuresCount: true}, []strategy.Trial{failed, done(false)}, false},
		"ignored failures":       {task.Task{}, []strategy.Trial{failed}, false},
	} {
		if got := search.Blind(strategy.View{Task: &c.task, Trials: c.trials}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
