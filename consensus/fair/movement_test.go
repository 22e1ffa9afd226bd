package fair

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// path is a task of a list of eight designs in a row, each beside the next.
func path(t *testing.T, steps, initial int) *task.Task {
	t.Helper()
	var rows [][]task.Value
	var neighbors [][]int
	for i := range 8 {
		rows = append(rows, []task.Value{task.IntValue(int64(i))})
		beside := []int{i - 1, i + 1}
		neighbors = append(neighbors, slices.DeleteFunc(beside, func(j int) bool { return j < 0 || j > 7 }))
	}
	space, err := task.NewListed([]task.Parameter{{Name: "n", Kind: task.Int, Low: 0, High: 7}}, rows, neighbors)
	if err != nil {
		t.Fatal(err)
	}
	return &task.Task{Space: space, MaxMoves: steps, Strategy: task.Strategy{InitialDesigns: initial}}
}

func TestMovesReachNeighboursWithinSteps(t *testing.T) {
	at := func(design int, value float64) visit { return visit{design, &value} }
	failed := func(design int) visit { return visit{design: design} }
	for name, c := range map[string]struct {
		steps, initial int
		visits         []visit
		want           []int
	}{
		"anywhere":                       {0, 1, []visit{at(3, 1)}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"before the first":               {1, 2, nil, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"from the best start":            {1, 3, []visit{at(1, -2), at(5, -1), at(7, -3)}, []int{4, 6}},
		"the first start has failed":     {1, 3, []visit{failed(1), at(5, -1), at(7, -3)}, []int{4, 6}},
		"the last start has failed":      {1, 2, []visit{at(5, -1), failed(1)}, []int{4, 6}},
		"all starts have failed":         {1, 2, []visit{failed(5), failed(1)}, []int{0, 2}},
		"from the latest":                {1, 2, []visit{at(1, 9), at(5, 8), at(4, 0)}, []int{3}},
		"two steps":                      {2, 1, []visit{at(1, 9), at(4, 0)}, []int{2, 3, 5, 6}},
		"all beside were visited":        {1, 1, []visit{at(3, 1), at(5, 1), at(4, 0)}, []int{2, 6}},
		"all that there are":             {1, 1, []visit{at(0, 1), at(1, 1), at(2, 1), at(3, 1), at(4, 1), at(5, 1), at(6, 1), at(7, 1)}, []int{0, 1, 2, 3, 4, 5, 6}},
		"from where the last failed":     {1, 1, []visit{at(1, 9), failed(4)}, []int{3, 5}},
		"equal starts, the first counts": {1, 2, []visit{at(1, 2), at(6, 2)}, []int{0, 2}},
	} {
		if got := moves(path(t, c.steps, c.initial), c.visits); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
