package ftsde

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func floats(count int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("{name: x%d, type: float, low: -1, high: 1}", i))
	}
	return strings.Join(all, ", ")
}

const colours = "{name: c, type: categorical, choices: [red, green, blue]}"

func cellsOf(t testing.TB, parameters string, count int) Cells {
	t.Helper()
	c := NewCells(newTask(t, setting{parameters: parameters}).Space, count)
	if c.Len() != count {
		t.Fatalf("%d cells, want %d", c.Len(), count)
	}
	return c
}

// The first coordinate is halved first, then the second, and so on from the first
// again. A border belongs to the lower side.
func TestCellsOfPoints(t *testing.T) {
	over := math.Nextafter(0.5, 1)
	for _, c := range []struct {
		parameters string
		cells      int
		x          []float64
		want       int
	}{
		{floats(1), 1, []float64{0.7}, 0},
		{floats(1), 2, []float64{0}, 0},
		{floats(1), 2, []float64{0.5}, 0},
		{floats(1), 2, []float64{over}, 1},
		{floats(1), 2, []float64{1}, 1},
		{floats(1), 16, []float64{0.0625}, 0},
		{floats(1), 16, []float64{0.07}, 1},
		{floats(1), 16, []float64{0.5}, 7},
		{floats(1), 16, []float64{1}, 15},
		{floats(2), 2, []float64{0.2, 0.9}, 0},
		{floats(2), 2, []float64{0.6, 0.1}, 1},
		{floats(2), 4, []float64{0.5, 0.5}, 0},
		{floats(2), 4, []float64{0.6, 0.5}, 1},
		{floats(2), 4, []float64{0.5, 0.6}, 2},
		{floats(2), 4, []float64{0.6, 0.6}, 3},
		{floats(2), 8, []float64{0.3, 0.1}, 1}, // the first in quarters, the second in halves
		{floats(2), 8, []float64{1, 0.1}, 3},
		{floats(2), 8, []float64{0.2, 0.9}, 4},
		{floats(3), 4, []float64{0.1, 0.9, 0.9}, 2}, // the third is not cut
		{colours + ", " + line, 2, []float64{1, 0, 0, 0.2}, 0},
		{colours + ", " + line, 2, []float64{0, 1, 0, 0.8}, 1},
		{colours + ", {name: n, type: int, low: 1, high: 4}", 4, []float64{0, 1, 0, 0.8}, 3},
		{colours, 2, []float64{1, 0, 0}, 1}, // whether it is red
		{colours, 2, []float64{0, 0, 1}, 0},
		{colours, 4, []float64{0, 1, 0}, 2},
		{colours, 8, []float64{0, 0, 1}, 4},
		{colours, 16, []float64{1, 0, 0}, 3},
	} {
		if got := cellsOf(t, c.parameters, c.cells).Of(c.x); got != c.want {
			t.Errorf("%s in %d cells: %v is in %d, want %d", c.parameters, c.cells, c.x, got, c.want)
		}
	}
}

// A point is in the first of the closed boxes that contain it. The boxes here are
// written down from their corners.
func TestEveryPointIsInTheFirstBoxAroundIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dim := rapid.IntRange(1, 5).Draw(rt, "dim")
		count := 1 << rapid.IntRange(0, 4).Draw(rt, "halvings")
		cells := cellsOf(t, floats(dim), count)
		x := make([]float64, dim)
		for i := range x {
			x[i] = rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.125, 0.25, 0.5, 0.75, 1})).Draw(rt, "coordinate")
		}
		want := -1
		for cell := range count {
			if inBox(cell, count, x) {
				want = cell
				break
			}
		}
		if got := cells.Of(x); got != want {
			rt.Fatalf("%v is in cell %d of %d, want %d", x, got, count, want)
		}
	})
}

func inBox(cell, count int, x []float64) bool {
	parts := slices.Repeat([]int{1}, len(x))
	for i := 0; 1<<i < count; i++ {
		parts[i%len(x)] *= 2
	}
	for i, v := range x {
		part := cell % parts[i]
		cell /= parts[i]
		if v < float64(part)/float64(parts[i]) || v > float64(part+1)/float64(parts[i]) {
			return false
		}
	}
	return true
}

// Of the 2^13 midpoints of a fine grid every cell has as many.
func TestCellsHaveEqualVolume(t *testing.T) {
	for dim := 1; dim <= 4; dim++ {
		side := 1 << (12 / dim)
		points := int(math.Pow(float64(side), float64(dim)))
		for count := 1; count <= 16; count *= 2 {
			cells, hits := cellsOf(t, floats(dim), count), make([]int, count)
			for i := range points {
				x := make([]float64, dim)
				for k, rest := 0, i; k < dim; k, rest = k+1, rest/side {
					x[k] = (float64(rest%side) + 0.5) / float64(side)
				}
				hits[cells.Of(x)]++
			}
			for cell, n := range hits {
				if n*count != points {
					t.Errorf("dimension %d: cell %d of %d has %d of %d points", dim, cell, count, n, points)
				}
			}
		}
	}
}

// A node's starting designs are designs of its cell, as long as there are any in it
// and chance finds one: of 64 draws none is in a cell of four once in 10^8 times, and
// in one of sixteen once in 62, so that of at most 60 such designs here 5 are elsewhere
// with a probability of less than 1 in 250.
func TestStartingDesignsLieInTheNodesCell(t *testing.T) {
	const nodes = 5
	elsewhere := map[int]int{}
	for _, parameters := range []string{line, plane, floats(6), plane + ", " + colours, colours, "{name: n, type: int, low: 1, high: 3}"} {
		for _, count := range []int{2, 4, 16} {
			definition := newTask(t, setting{nodes: nodes, parameters: parameters, strategy: fmt.Sprintf("cells: %d", count)})
			s := newStrategy(t, definition)
			cells := NewCells(definition.Space, count)
			for i, id := range definition.Privacy.Aggregate.Roster {
				sampled := samples(definition, 2000)
				empty := !slices.ContainsFunc(sampled, func(x []float64) bool { return cells.Of(x) == i%count })
				if empty && !strings.HasPrefix(parameters, "{name: c") && !strings.HasPrefix(parameters, "{name: n") {
					t.Errorf("%s: cell %d of %d has no design", parameters, i%count, count)
				}
				view := strategy.View{Task: definition, Self: id}
				for trial := uint64(1); trial <= 2; trial++ {
					got := suggest(t, s, view, trial, random.SeedOf(uint64(i)))
					if got.Why.Source != strategy.Initial {
						t.Fatalf("trial %d is %+v", trial, got.Why)
					}
					if cells.Of(definition.Space.Encode(got.Design)) != i%count && !empty {
						elsewhere[count]++
					}
				}
			}
		}
	}
	if elsewhere[2] > 0 || elsewhere[4] > 0 || elsewhere[16] >= 5 {
		t.Errorf("starting designs outside of the node's cell, by the number of cells: %v", elsewhere)
	}
}

func samples(definition *task.Task, count int) [][]float64 {
	rng := random.SeedOf(1).Stream("samples", 0)
	all := make([][]float64, count)
	for i := range all {
		all[i] = acquisition.Sample(definition.Space, rng)
	}
	return all
}

// e^(b-a_t), b = 1, where a_t is 16 for ten rounds, falls by half a unit in each of
// the next thirty, and is 1 from then on.
func TestOthersCountAsPublished(t *testing.T) {
	for _, c := range []struct {
		observations int
		a            float64
	}{{-3, 16}, {0, 16}, {9, 16}, {10, 16}, {11, 15.5}, {25, 8.5}, {39, 1.5}, {40, 1}, {41, 1}, {math.MaxInt32, 1}} {
		if got, want := Elsewhere(c.observations), math.Exp(1-c.a); !near(got, want, 1e-12*want) {
			t.Errorf("after %d observations others count %g, want %g", c.observations, got, want)
		}
	}
}

// The scale of a round follows from the plan alone: all contributors use the same.
func TestOthersFollowTheRound(t *testing.T) {
	p := newPlan(newTask(t, setting{strategy: "cells: 4, share_every: 5"}))
	for round, want := range map[uint64]int{1: 2, 2: 7, 3: 12, 10: 47} {
		if got := p.dueAt(round); got != want {
			t.Errorf("round %d is due after %d observations, want %d", round, got, want)
		}
		if got := p.others(round); got != Elsewhere(want-2) {
			t.Errorf("in round %d others count %g, want %g", round, got, Elsewhere(want-2))
		}
	}
}
