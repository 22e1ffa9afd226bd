package search_test

import (
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// TestBestAsksTheTask: searches start from feasible designs before others, whatever
// these are worth, and of equal ones from the earlier.
func TestBestAsksTheTask(t *testing.T) {
	spec := *newTask(t, spaces["floats"]) // maximize
	spec.Constraints = []task.Constraint{{Output: "memory", Low: math.Inf(-1), High: 10}}
	var view strategy.View
	for i, c := range []struct{ value, memory float64 }{{9, 11}, {1, 2}, {3, 2}, {8, 12}, {3, 10}, {2, 1}} {
		design := spec.Space.Decode([]float64{float64(i) / 8, 0})
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: design, State: strategy.Done,
			Outcome: &strategy.Outcome{Value: c.value, Constraints: map[string]task.Reading{"memory": task.Number(c.memory)}}})
	}
	view.Trials = append(view.Trials, strategy.Trial{ID: 7, Design: spec.Space.Decode([]float64{1, 0}), State: strategy.Failed})
	var order []float64
	for _, x := range search.New(&spec).Best(view) {
		order = append(order, 1+8*x[0])
	}
	if want := []float64{3, 5, 6, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("trials %v, want %v", order, want)
	}
}
