package drive

import (
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func newTask(t *testing.T, kind string) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().NewTask(task.Spec{
		Name: "start", Goal: task.Minimize, Strategy: task.Strategy{Type: kind},
		Parameters: []task.Parameter{{Name: "a", Kind: task.Float, High: 1}, {Name: "b", Kind: task.Float, High: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func evaluate(d task.Design) strategy.Outcome {
	return strategy.Outcome{Value: d.Float("a") - d.Float("b")}
}

// What starts by Start starts as an agent with any strategy for one alone, whose ways
// part after that.
func TestStartsAreThoseOfAnAgent(t *testing.T) {
	seed := random.SeedOf(8)
	var starts []task.Design
	own := newTask(t, "logei")
	if err := Start(own, seed, 20, func(d task.Design) strategy.Outcome {
		starts = append(starts, d)
		return evaluate(d)
	}); err != nil {
		t.Fatal(err)
	}
	if len(starts) != own.Strategy.InitialDesigns {
		t.Errorf("%d starts, and a task has %d", len(starts), own.Strategy.InitialDesigns)
	}
	fourth := map[string]bool{}
	for _, kind := range []string{"logei", "ts"} {
		d, err := New(newTask(t, kind), nil, 0, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(starts) + 1 {
			trial, err := d.Ask()
			if err != nil {
				t.Fatal(err)
			}
			if i == len(starts) {
				fourth[trial.Design.Key()] = true
			} else if trial.Design.Key() != starts[i].Key() {
				t.Errorf("%s: start %d is %v, and by Start %v", kind, i, trial.Design, starts[i])
			}
			if err := d.Tell(trial.ID, evaluate(trial.Design)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(fourth) != 2 {
		t.Error("both strategies go on with the same design")
	}
}

func TestStartIsNoLongerThanTheRun(t *testing.T) {
	evaluated := 0
	if err := Start(newTask(t, "logei"), random.SeedOf(8), 2, func(d task.Design) strategy.Outcome {
		evaluated++
		return evaluate(d)
	}); err != nil || evaluated != 2 {
		t.Errorf("%d designs, %v; want 2", evaluated, err)
	}
}
