package sums

import (
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func cellTask(t *testing.T, parameters string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{register()}, "name: summed\ngoal: minimize\nparameters: [%s]\nstrategy: {type: summing, share: sum, roster: [%s]}\n", parameters, fbotest.Roster(t, 5))
}

// designs draws encoded designs.
func designs(definition *task.Task, count int) (x [][]float64) {
	rng := random.SeedOf(1).Stream("designs", 0)
	for range count {
		at := acquisition.Sample(definition.Space, rng)
		definition.Space.Snap(at)
		x = append(x, at)
	}
	return x
}

// Every observation is in one cell, whose numbers are within the limit, and vectors add up.
func TestCellsAddUp(t *testing.T) {
	for _, parameters := range []string{"{name: x, type: float, low: 0, high: 1}", "{name: x, type: float, low: 0, high: 1}, {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green]}", "{name: c, type: categorical, choices: [red, green, blue]}"} {
		definition := cellTask(t, parameters)
		c := NewCells(definition)
		if !reflect.DeepEqual(c, NewCells(definition)) {
			t.Fatal("two nodes of one task have different cells")
		}
		together, m := make([]float64, c.Numbers()), len(c.centres)
		count, total := 0.0, 0.0
		for i, x := range designs(definition, 200) {
			one, y := make([]float64, c.Numbers()), 4*math.Sin(float64(i))
			c.Add(one, x, y)
			c.Add(together, x, y)
			for _, v := range one {
				if math.Abs(v) > c.Limit() {
					t.Errorf("%v adds %g, above the limit %g", x, v, c.Limit())
				}
			}
			j := c.of(x)
			if one[j] != 1 || one[m+j] != y {
				t.Errorf("%v adds %g and %g to its cell, expected 1 and %g", x, one[j], one[m+j], y)
			}
			count, total = count+1, total+y
		}
		for i := range m {
			count, total = count-together[i], total-together[m+i]
		}
		if count != 0 || math.Abs(total) > 1e-9 {
			t.Errorf("%s: %g observations and outputs of %g are missing from the sums", parameters, count, total)
		}
	}
	if c := NewCells(cellTask(t, "{name: c, type: categorical, choices: [red, green, blue]}")); len(c.centres) != 3 {
		t.Errorf("%d cells of a space of three designs, expected one each", len(c.centres))
	}
}
