package show

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// curvesOf returns a running trial, one that was stopped for a hostile reason, and one that ended by
// patience.
func curvesOf(t *testing.T) past.History {
	of := clitest.MixedTask(t)
	design := of.Space.Decode([]float64{0.5, 0.5, 1, 0, 0, 0, 0}[:of.Space.Dim()])
	why := strategy.Why{Source: strategy.Own}
	curve := curves.Curve{{Step: 1, Value: 0.5}, {Step: 12, Value: 0.4100001}}
	return past.History{Task: of, Running: &node.Status{}, Trials: []strategy.Trial{
		{ID: 1, Design: design, Why: why, State: strategy.Running, Steps: curve, Attempts: 1},
		{ID: 2, Design: design, Why: why, State: strategy.StoppedEarly, Steps: curve[:1], Stop: &curves.Stop{Rule: "program", Step: 1, Reason: "loss \x1b[2Jrose\u202e"}},
		{ID: 3, Design: design, Why: why, State: strategy.Done, Steps: curve, Stop: &curves.Stop{Rule: "patience", Step: 12, Reason: "no improvement"}, Outcome: &strategy.Outcome{Value: 0.4100001}},
		{ID: 4, Design: design, Why: why, State: strategy.Failed, Steps: curve, Reason: "out of memory"},
		{ID: 5, Design: design, Why: why, State: strategy.Running},
	}}
}

func TestCurvesInViews(t *testing.T) {
	t.Parallel()
	p := curvesOf(t)
	var table, csv, status, asJSON, tasks strings.Builder
	writeStatus(&status, p)
	summaries := past.Summaries{Tasks: []trialserver.Summary{trialserver.Summarise(p.Task, p.Trials)}}
	if err := errors.Join(writeTable(&table, p), writeCSV(&csv, p), writeTrials(&asJSON, p), writeSummaries(&tasks, summaries, false)); err != nil {
		t.Fatal(err)
	}
	one := func(i int) string {
		var out strings.Builder
		q := p
		q.Trials = p.Trials[i : i+1]
		writeTrial(&out, q)
		return out.String()
	}
	for _, c := range []struct{ what, text, want string }{
		{"history", table.String(), "(0.41 at step 12)"},
		{"history", table.String(), "2      stopped  (0.5 at step 1) "},
		{"history", table.String(), `stopped at step 1 with 0.5 by rule program: loss \x1b[2Jrose\u202e`},
		{"history", table.String(), "4      failed   - "},
		{"csv", csv.String(), `,program,1,loss \x1b[2Jrose\u202e,"[[1,0.5]]"`},
		{"csv", csv.String(), `,12,0.4100001,patience,12,no improvement,"[[1,0.5],[12,0.4100001]]"`},
		{"json", asJSON.String(), `"steps":[{"step":1,"value":0.5},{"step":12,"value":0.4100001}]`},
		{"json", asJSON.String(), `"stop":{"rule":"program","step":1,"reason":"loss \u001b[2Jrose\u202e"}`},
		{"status", status.String(), "trials    1 done, 1 failed, 1 stopped early, 2 running, 0 waiting\nrunning   trial 1: 0.41 at step 12\n"},
		{"a running trial", one(0), "trial      1, running\nsteps      2 values, from 0.5 at step 1 to 0.41 at step 12\n"},
		{"a stopped trial", one(1), "steps      1 value, 0.5 at step 1\nstop       program at step 1: loss \\x1b[2Jrose\\u202e\n"},
		{"a patient trial", one(2), "value      0.4100001\nsteps      2 values, from 0.5 at step 1 to 0.41 at step 12\nstop       patience at step 12: no improvement\n"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.what, c.want, c.text)
		}
		if strings.Contains(c.text, "\x1b") || strings.Contains(c.text, "\u202e") {
			t.Errorf("%s has control characters", c.what)
		}
	}
	if fields := strings.Fields(strings.Split(tasks.String(), "\n")[1]); strings.Join(fields[2:6], " ") != "1 1 1 2" {
		t.Errorf("the table of tasks:\n%s", tasks.String())
	}
}

// A running trial whose stop is decided is still running.
func TestStatusOfATrialToBeStopped(t *testing.T) {
	p := curvesOf(t)
	p.Trials[0].Stop = &curves.Stop{Rule: "median", Step: 12, Reason: "worse"}
	var status strings.Builder
	writeStatus(&status, p)
	if want := "running   trial 1: 0.41 at step 12, to be stopped by median at step 12: worse\n"; !strings.Contains(status.String(), want) {
		t.Errorf("got\n%s", status.String())
	}
}

// Of many running trials a status shows the first.
func TestStatusOfManyRunningTrials(t *testing.T) {
	trials := curvesOf(t).Trials[:1]
	for range 30 {
		trials = append(trials, trials[0])
	}
	if lines := runningSteps(trials); len(lines) != maxRunningSteps+1 || lines[maxRunningSteps] != "and more" {
		t.Errorf("%q", lines)
	}
}

// watch reads the events of values by step, and of stopped trials.
func TestEventsOfCurves(t *testing.T) {
	of := clitest.MixedTask(t)
	trial := curvesOf(t).Trials[1]
	trial.Finished = time.Unix(1, 0).UTC()
	data, err := json.Marshal(map[string]any{"event": "trial_reported", "trial": trial})
	if err != nil {
		t.Fatal(err)
	}
	e, err := decodeEvent(data, of)
	if err != nil || e.Trial.State != strategy.StoppedEarly || e.Trial.Steps.Last().Value != 0.5 || e.Trial.Stop.Rule != "program" {
		t.Errorf("%+v, %v", e, err)
	}
}
