package agent

import (
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// One outcome of any size, reported among the starting designs or later, does not end the search
// of the others, and the user is warned of it once.
func TestDivergedOutcomeIsLeftOut(t *testing.T) {
	square := newTask(t, "square", "type: alone")
	best := func(trial int, outcome float64) (regret float64, warnings int) {
		d, evaluation := newDriver(t, configOf(t, square, 1)), 0
		regret = math.Inf(1)
		d.run(20, func(design task.Design) float64 {
			if evaluation++; evaluation == trial {
				return outcome
			}
			value := math.Pow(design.Float("x")-0.3, 2) + math.Pow(design.Float("y")-0.7, 2)
			regret = min(regret, value)
			return value
		})
		for _, event := range d.events {
			if event.Type == Warning && strings.Contains(event.Message, "has diverged") {
				warnings++
			}
		}
		return regret, warnings
	}
	without, warned := best(0, 0)
	if warned != 0 {
		t.Errorf("%d warnings without such an outcome", warned)
	}
	for _, trial := range []int{2, 9} {
		for _, outcome := range []float64{1e12, 1e300} {
			regret, warned := best(trial, outcome)
			if change := math.Abs(math.Log10(regret / without)); change > 1.5 || warned != 1 {
				t.Errorf("%g at trial %d: regret %.2g, without it %.2g; %d warnings", outcome, trial, regret, without, warned)
			}
		}
	}
}
