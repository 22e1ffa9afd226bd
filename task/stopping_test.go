package task_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func TestStopping(t *testing.T) {
	without := parseText(t, bare)
	for _, test := range []struct {
		text string
		want task.Stopping
	}{
		{"{type: asha}", task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3, StartupTrials: 5}},
		{"{type: asha, grace_period: 2, reduction_factor: 4}", task.Stopping{Type: task.ASHARule, GracePeriod: 2, ReductionFactor: 4, StartupTrials: 5}},
		{"{type: median, startup_trials: 9, patience: 3, min_delta: 0.1}", task.Stopping{Type: task.MedianRule, GracePeriod: 1, ReductionFactor: 3, StartupTrials: 9, Patience: 3, MinDelta: 0.1}},
		{"{patience: 3}", task.Stopping{Type: task.NoRule, GracePeriod: 1, ReductionFactor: 3, StartupTrials: 5, Patience: 3}},
	} {
		of := parseText(t, bare+"stop: "+test.text)
		if of.Stop == nil || *of.Stop != test.want {
			t.Errorf("%s: %+v", test.text, of.Stop)
		}
		if of.ID() != without.ID() || !bytes.Equal(of.Canonical(), without.Canonical()) {
			t.Errorf("%s changes the ID", test.text)
		}
		again := parseText(t, string(of.File()))
		if *again.Stop != test.want || !bytes.Equal(again.File(), of.File()) {
			t.Errorf("%s: the file is %s", test.text, of.File())
		}
	}
}

// TestSharedStoppingIsPartOfTheID: nodes that share quartiles must agree on the rungs.
func TestSharedStoppingIsPartOfTheID(t *testing.T) {
	ids := map[string]string{}
	for _, text := range []string{"{type: asha}", "{type: asha, share: quartiles}", "{type: asha, share: quartiles, grace_period: 2}", "{type: forecast, share: quartiles}"} {
		of := parseText(t, bare+"stop: "+text)
		if first, doubled := ids[of.ID().String()]; doubled {
			t.Errorf("%s has the ID of %s", text, first)
		}
		ids[of.ID().String()] = text
		again, err := all.Strategies().ParseCanonical("task", of.Canonical())
		if err != nil || again.ID() != of.ID() || again.Stop.Shares() && *again.Stop != *of.Stop || again.Stop.Shares() != of.Stop.Shares() {
			t.Errorf("%s: the canonical form %s, %v", text, of.Canonical(), err)
		}
		made, err := all.Strategies().NewTask(task.Spec{Name: of.Name, Goal: of.Goal, Parameters: of.Space.Parameters(), Constraints: of.Constraints,
			Strategy: of.Strategy, Stop: of.Stop})
		if err != nil || *made.Stop != *of.Stop || made.ID() != of.ID() {
			t.Errorf("%s: New: %v", text, err)
		}
	}
	if _, err := all.Strategies().Parse("task.yaml", []byte(bare+"stop: {type: asha, share: quartiles}\nstrategy: {type: fts-de}\nprivacy: {mechanism: aggregate, epsilon: 4, delta: 1e-5}\n")); err == nil ||
		!strings.Contains(err.Error(), "share quartiles has no differential privacy") {
		t.Errorf("with privacy: %v", err)
	}
}

func TestStoppingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                  `missing key "type"; accepted: forecast, asha, median, none`,
		"{type: hyperband}":                   `type must be one of forecast, asha, median, none, not the text "hyperband"`,
		"{type: asha, startup_trials: 3}":     `unknown key "startup_trials"`,
		"{type: median, reduction_factor: 3}": `unknown key "reduction_factor"`,
		"{type: asha, min_delta: 1}":          `unknown key "min_delta"`,
		"{type: asha, grace_period: 0}":       "grace_period 0 must be a whole number from 1 to 1000000000",
		"{type: asha, reduction_factor: 1.5}": "reduction_factor 1.5 must be a whole number from 2 to 100",
		"{patience: 3, min_delta: -1}":        "min_delta -1 must be from 0",
		"{type: asha, share: curves}":         `share must be one of quartiles, not the text "curves"`,
		"{type: median, share: quartiles}":    `unknown key "share"`,
		"asha":                                "stop must be",
	} {
		_, err := all.Strategies().Parse("task.yaml", []byte(bare+"stop: "+text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "task.yaml:11:") {
			t.Errorf("%s: %v, expected %q in line 11", text, err, want)
		}
	}
}
