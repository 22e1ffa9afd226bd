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
// these are worth, and of equal ones from the earlier. All feasible ones come in order.
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
	for name, c := range map[string]struct {
		designs [][]float64
		want    []float64
	}{
		"best":     {search.New(&spec).Best(view), []float64{3, 5, 6, 2, 1}},
		"feasible": {search.New(&spec).Feasible(view), []float64{2, 3, 5, 6}},
	} {
		var order []float64
		for _, x := range c.designs {
			order = append(order, 1+8*x[0])
		}
		if !slices.Equal(order, c.want) {
			t.Errorf("%s: trials %v, want %v", name, order, c.want)
		}
	}
}
