package attack

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func frontTask(t *testing.T, keys string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), `name: fronts
objectives: [{name: a, goal: minimize}, {name: b, goal: maximize}]
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 64}
strategy: {%s}
`, keys)
}

// TestFrontsDiscloseMoreThanOneOptimum checks what docs/privacy.md states: a share of exact designs discloses
// most designs of a front, and coarse cells none of them. Several cells locate the front better than one.
func TestFrontsDiscloseMoreThanOneOptimum(t *testing.T) {
	run := func(keys string, repeats int) Report {
		return report(t, Plan{Task: frontTask(t, keys), Observations: []int{20}, Repeats: repeats, Seed: 3, Noises: []float64{0.1}})
	}
	exact := run("type: density", 3)
	if f := exact.lineOf(t, "the designs of all fronts, the newest first").Found; f.FrontFound < 0.6*f.Front || f.Front < 2 {
		t.Errorf("%g of %g designs of the front found from exact shares, expected most", f.FrontFound, f.Front)
	}
	coarse := run("type: peer-prior", 6)
	several, one := coarse.lineOf(t, "the middles of the cells of the last front").Found, coarse.lineOf(t, "the middle of one cell of the last front").Found
	if several.FrontFound > 1.5 || several.FrontDistance > 0.2 {
		t.Errorf("%g designs of the front found from cells, at a median distance of %g; expected at most 1.5 and .2", several.FrontFound, several.FrontDistance)
	}
	if several.FrontDistance >= one.FrontDistance {
		t.Errorf("median distance %g from several cells, %g from one; expected less", several.FrontDistance, one.FrontDistance)
	}
	for _, r := range []Report{exact, coarse} {
		for _, line := range r.Lines {
			if !strings.Contains(line.Attack, "front") || !strings.Contains(line.Text(), "designs of the front") {
				t.Errorf("%s: an attack for one objective", line.Text())
			}
		}
	}
}

// TestScalarisationsAreNotAttacked: no attack reads samples of scalarisations, and the plan reports it.
func TestScalarisationsAreNotAttacked(t *testing.T) {
	err := Plan{Task: frontTask(t, "type: fts"), Observations: []int{5}, Repeats: 1, Noises: []float64{0}}.Check()
	if err == nil || !strings.Contains(err.Error(), "no attack here reads samples of scalarisations") {
		t.Errorf("%v", err)
	}
}

func TestScoreOfAFront(t *testing.T) {
	var s Score
	s.scoreFront([][]float64{{0, 0}, {1, 1}, {0.5, 0.5}}, [][]float64{{0.01, 0}, {0.5, 0.6}})
	if s.Front != 3 || s.FrontFound != 1 || s.FrontDistance < 0.0999 || s.FrontDistance > 0.1001 {
		t.Errorf("%+v, expected 1 of 3 found, median distance .1", s)
	}
}
