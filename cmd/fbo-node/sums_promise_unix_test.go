//go:build unix

package main_test

import (
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// With little noise the sum is what the journals say that the nodes knew: for each
// part of the space the average of the clipped means of those that explore it.
func TestSumsAreRight(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 8, 9, "cells: 2, initial_designs: 6", "epsilon: 100, clip: 0.5, adjacency: zero-out, releases: 1, min_contributors: 7, committee: 4, max_colluding: 1")
	f.flags = []string{"--seed", "7"} // so that those of a cell know the same, and the average is long
	for _, n := range f.nodes {
		n.shift = 0
	}
	f.startAll(t)
	allow(t, f.due(1)-1, f.nodes...)
	eventually(t, "its outcomes before the first round", f.nodes, func(n *fleetNode) bool { return n.measured(f.due(1) - 1) })
	allow(t, f.due(1), f.nodes[0]) // alone begins the round; the others give what they have
	f.summed(t, 1, f.nodes)
	var vectors [][]float64
	for _, n := range f.nodes {
		n.process().signal(t, syscall.SIGINT)
	}
	for i, n := range f.nodes {
		n.process().wait(t)
		vectors = append(vectors, f.vectorOf(t, i, n))
	}
	s := f.check(t)[1]
	if f.closest(t, s, vectors, -1) {
		return
	}
	for left := range f.nodes { // one may have been late
		if s.Contributors == len(f.nodes)-1 && f.closest(t, s, vectors, left) {
			return
		}
	}
	t.Errorf("the sum is not that of any %d of the nodes", s.Contributors)
}

// vectorOf is the mean of the posterior of all that a node has observed, clipped to
// a cell's part of the norm.
func (f *fleet) vectorOf(t *testing.T, index int, n *fleetNode) []float64 {
	t.Helper()
	j := n.journal(t)
	observations := strategy.Observed(f.task, j.Trials, task.Objective)
	if j.fitted == nil || j.fitted.Observations != len(observations.Y) {
		t.Fatalf("%s: no hyperparameters of %d observations", n.id, len(observations.Y))
	}
	cells := ftsde.NewCells(f.task.Space, f.task.Strategy.Settings.(ftsde.Settings).Cells)
	for _, x := range observations.X {
		if cell := cells.Of(x); cell != index%cells.Len() {
			t.Errorf("%s explored %v of cell %d", n.id, x, cell)
		}
	}
	model, err := surrogate.New(f.task)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Condition(observations, j.fitted.Hyperparameters, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, weights := posterior.Mean()
	limit := f.task.Privacy.Clip / math.Sqrt(float64(cells.Len()))
	if length := norm(weights); length > limit {
		for i := range weights {
			weights[i] *= limit / length
		}
	}
	return weights
}

// closest tells whether the sum differs from that of all vectors but one by no more
// than its noise.
func (f *fleet) closest(t *testing.T, s ftsde.Sum, vectors [][]float64, left int) bool {
	t.Helper()
	for cell, got := range s.Weights {
		want, members := make([]float64, len(got)), 0.0
		for i, v := range vectors {
			if i%len(s.Weights) != cell || i == left {
				continue
			}
			members++
			for k, w := range v {
				want[k] += w
			}
		}
		difference := make([]float64, len(got))
		for k := range want {
			want[k] /= members
			difference[k] = got[k] - want[k]
		}
		// Noise is outside of these once in a hundred million times, all of it and along
		// what is wanted. A sign or scale that is wrong shows in the latter, and that
		// there is none, or none to speak of, in the former.
		least, most, maxAlong := 0.8*s.Noise[cell], s.Noise[cell]*(math.Sqrt(float64(len(got)))+6), 6*s.Noise[cell]
		along := 0.0
		for k := range want {
			along += difference[k] * want[k] / norm(want)
		}
		t.Logf("cell %d without node %d: an average of norm %.3g, off by %.3g of %.2g to %.3g, along it %.3g of at most %.3g",
			cell, left, norm(want), norm(difference), least, most, along, maxAlong)
		if 2*maxAlong > norm(want) {
			t.Errorf("noise of deviation %g hides an average of norm %g", s.Noise[cell], norm(want))
		}
		if norm(difference) < least || norm(difference) > most || math.Abs(along) > maxAlong {
			return false
		}
	}
	return true
}

func TestSumsAreForTheRoster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, 1, "share_every: 1", "epsilon: 8, releases: 1")
	dir := shortTempDir(t)
	id := strings.TrimSpace(must(t, "peer-id", "--data-dir", dir))
	e := call(t, join(runLine(f.file, dir, "--evals", "1"), objective("bowl"))...)
	want := `: this node, ` + id + `, is not on the task's roster: only nodes on it can take part in its sums` + "\n"
	if e.code != base.ExitFailed || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || !strings.HasSuffix(e.stderr, want) {
		t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}
