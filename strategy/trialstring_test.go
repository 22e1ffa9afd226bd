package strategy_test

import (
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestTrialStringIsOneLine(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "n", Kind: task.Int, Low: 1, High: 9}})
	if err != nil {
		t.Fatal(err)
	}
	trial := strategy.Trial{ID: 7, State: strategy.Running, Design: space.Decode([]float64{0.5, 0}), Why: strategy.Why{Source: strategy.Initial}}
	done, failed := trial, trial
	done.State, done.Outcome = strategy.Done, &strategy.Outcome{Value: 0.125}
	broken := done
	broken.Violated = []task.Output{"radius", "noise"}
	failed.State, failed.Reason = strategy.Failed, "out of memory\n\x1b[2J"
	for want, trial := range map[string]strategy.Trial{
		"trial 0 : (no design)":                                                      {},
		"trial 7 running: x=0.5 n=1 [random start]":                                  trial,
		"trial 7 done: 0.125 at x=0.5 n=1 [random start]":                            done,
		"trial 7 done: 0.125 at x=0.5 n=1, infeasible: radius, noise [random start]": broken,
		`trial 7 failed: x=0.5 n=1: out of memory \x1b[2J [random start]`:            failed,
	} {
		if got := trial.String(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
