//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/curves"
)

// benchTask has a constraint and a parameter whose value needs quoting.
const benchTask = `name: alloy
goal: maximize
parameters:
  - {name: temperature, type: float, low: 20, high: 900}
  - {name: gas, type: categorical, choices: [argon, "no gas"]}
constraints:
  - {name: cracks, type: bool}
strategy: {type: logei, initial_designs: 3}
`

// heldTrial is a trial as ask --json prints it.
type heldTrial struct {
	trialJSON
	Client    string    `json:"client"`
	LeaseEnds time.Time `json:"lease_ends"`
}

// toldJSON is the output of tell --json.
type toldJSON struct {
	Trial trialJSON   `json:"trial"`
	Best  *shownTrial `json:"best"`
}

func TestAskAndTellByHand(t *testing.T) {
	t.Parallel()
	dir, file := shortTempDir(t), writeFile(t, "alloy.yaml", benchTask)
	p, _ := startServe(t, dir)

	e := call(t, "ask", file, "--data-dir", dir)
	for _, want := range []string{"trial 1 of task \"alloy\"  [random start]\ntemperature  460\ngas  ", "report: fbo-node tell " + file + " 1 VALUE cracks=true|false --data-dir " + dir, "held by \"by hand\" until "} {
		if e.code != base.ExitDone || !strings.Contains(e.stdout, want) {
			t.Errorf("ask: %d, no %q in\n%s%s", e.code, want, e.stdout, e.stderr)
		}
	}
	if !strings.Contains(e.stderr, `task "alloy" (`) || !strings.Contains(e.stderr, "is joined") {
		t.Errorf("the first ask of a task file: %s", e.stderr)
	}
	e = call(t, "ask", "--data-dir", dir)
	if e.code != base.ExitDone || !strings.HasPrefix(e.stdout, "trial 2 of") || !strings.Contains(e.stderr, "this client also holds 1 other trial;") {
		t.Errorf("the second ask: %d, %s%s", e.code, e.stdout, e.stderr)
	}
	e = call(t, "ask", "--data-dir", dir, "--client", "bob", "--format", "env", "--count", "2")
	if e.code != base.ExitDone || !strings.HasPrefix(e.stdout, "FBO_TRIAL=3\nFBO_ATTEMPT=1\nFBO_PARAM_TEMPERATURE=") || !strings.Contains(e.stdout, "\nFBO_TRIAL=4\n") {
		t.Errorf("another client: %d, %s%s", e.code, e.stdout, e.stderr)
	}

	// The node is killed between ask and tell.
	p.signal(t, syscall.SIGKILL)
	<-p.ended
	for _, args := range [][]string{{"tell", "1", "-0.5", "cracks=true"}, {"ask"}} {
		e := call(t, append(args, "--data-dir", dir)...)
		if e.code != base.ExitFailed || !strings.Contains(e.stderr, "no node runs on data directory "+dir+"; `fbo-node serve --data-dir "+dir+"` starts one") {
			t.Errorf("%q without a node: %d, %s", args, e.code, e.stderr)
		}
	}
	startServe(t, dir)
	var open []heldTrial
	decode(t, must(t, "ask", "--open", "--json", "--data-dir", dir), &open)
	if len(open) != 2 || open[0].ID != 1 || open[1].ID != 2 || open[0].Client != "by hand" || time.Until(open[0].LeaseEnds) < 6*24*time.Hour {
		t.Errorf("after the restart these are open: %+v", open)
	}

	// A result is stored once. One that is refused changes nothing.
	for _, bad := range []struct {
		code int
		want string
		args []string
	}{
		{base.ExitUsage, `constraint "cracks" is missing in the outcome; nothing has changed`, []string{"1", "-0.5"}},
		{base.ExitUsage, `"cracks": "maybe": expected a finite number`, []string{"1", "-0.5", "cracks=maybe"}},
		{base.ExitUsage, `value "0,5": expected a finite number`, []string{"1", "0,5", "cracks=true"}},
		{base.ExitFailed, "unknown trial 99: trials 1 to 4 exist; nothing has changed", []string{"99", "1", "cracks=true"}},
		{base.ExitFailed, `client "bob" holds it, and --client bob reports for that one; nothing has changed`, []string{"3", "--failed", "broken"}},
		{base.ExitFailed, "and not on task tin; the result is not stored", []string{"tin", "1", "-0.5"}},
	} {
		e := call(t, append([]string{"tell", "--data-dir", dir}, bad.args...)...)
		if e.code != bad.code || !strings.Contains(e.stderr, bad.want) || e.stdout != "" {
			t.Errorf("tell %q: %d, %s%s", bad.args, e.code, e.stdout, e.stderr)
		}
	}
	if s := statusOf(t, dir); s.Trials["done"]+s.Trials["failed"] != 0 {
		t.Errorf("after refused results: %v", s.Trials)
	}
	for range 2 {
		text := must(t, "tell", "1", "-0.5", "cracks=true", "hardness=41", "--data-dir", dir)
		if !strings.HasPrefix(text, "trial 1 is stored: -0.5, hardness=41\nbest -0.5: trial 1, temperature=460 gas=") {
			t.Errorf("tell: %s", text)
		}
	}
	e = call(t, "tell", "1", "-0.4", "cracks=true", "--data-dir", dir)
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, "trial 1 is done with the value -0.5; nothing has changed") {
		t.Errorf("another result: %d, %s", e.code, e.stderr)
	}
	if text := must(t, "tell", "2", "--failed", "the sample broke", "--data-dir", dir); !strings.HasPrefix(text, "trial 2 is stored as failed: the sample broke\nbest -0.5: ") {
		t.Errorf("a failure: %s", text)
	}
	var told toldJSON
	decode(t, must(t, "tell", "alloy", "3", "7", "cracks=false", "--json", "--data-dir", dir), &told)
	if told.Trial.ID != 3 || told.Trial.State != "done" || told.Best == nil || told.Best.ID != 1 {
		t.Errorf("an infeasible result: %+v", told)
	}
	if text := must(t, "ask", "--open", "--data-dir", dir); text != "client \"by hand\" holds no trials of task \"alloy\"\n" {
		t.Errorf("at the end these are open: %s", text)
	}
	if s := statusOf(t, dir); fmt.Sprint(s.Trials) != "map[done:2 failed:1 running:1]" {
		t.Errorf("status %v", s.Trials)
	}
}

// TestStepsByHand reports values by step, and ends trials by the decision of the rule and of the user.
func TestStepsByHand(t *testing.T) {
	t.Parallel()
	dir, file := shortTempDir(t), writeFile(t, "curve.yaml", curveTask)
	startServe(t, dir)
	call(t, "ask", file, "--count", "4", "--data-dir", dir)
	for range 2 { // a repeated report changes nothing
		if text := must(t, "tell", file, "1", "-0.5", "--step", "1", "--data-dir", dir); text != "trial 1, step 1: continue\n" {
			t.Errorf("the first value: %s", text)
		}
	}
	const why = "3 at step 1 is 2nd of 2 trials; expected among the best 1"
	e := call(t, "tell", file, "2", "3", "--step", "1", "--data-dir", dir)
	if e.code != base.ExitDone || e.stdout != "trial 2, step 1: stop by rule asha: "+why+"\n" || e.stderr != "end the trial: fbo-node tell "+file+" 2 --stopped --data-dir "+dir+"\n" {
		t.Errorf("a decision: %d, %s%s", e.code, e.stdout, e.stderr)
	}
	var reported struct {
		Stop *curves.Stop `json:"stop"`
	}
	decode(t, must(t, "tell", "2", "2.5", "--step", "2", "--json", "--data-dir", dir), &reported)
	if reported.Stop == nil || reported.Stop.Rule != "asha" || reported.Stop.Step != 1 || reported.Stop.Reason != why {
		t.Errorf("the decision stays: %+v", reported.Stop)
	}
	if text := must(t, "tell", "1", "-0.75", "--step", "2", "--json", "--data-dir", dir); strings.Join(strings.Fields(text), "") != `{"stop":null}` {
		t.Errorf("no decision: %s", text)
	}
	for range 2 {
		if text := must(t, "tell", "2", "--stopped", "--tag", "early", "--data-dir", dir); text != "trial 2 is stored as stopped at step 2 with 2.5 by rule asha: "+why+"; it keeps #early\n" {
			t.Errorf("an end: %s", text)
		}
	}
	for _, bad := range []struct {
		code int
		want string
		args []string
	}{
		{base.ExitUsage, `--step "0": expected a whole number from 1 to 1000000000`, []string{"1", "0.5", "--step", "0"}},
		{base.ExitUsage, `--step "-1": expected a whole number from 1 to 1000000000`, []string{"1", "-0.5", "--step", "-1"}},
		{base.ExitUsage, "--step, --stopped: expected at most one of these flags", []string{"1", "0.5", "--step", "1", "--stopped"}},
		{base.ExitFailed, "step 1 with value 9 after step 2; expected increasing steps; nothing has changed", []string{"1", "9", "--step", "1"}},
		{base.ExitFailed, "no values by step: trial 3; nothing has changed", []string{"3", "--stopped"}},
		{base.ExitFailed, "stopped at step 2 with 2.5 by rule asha: " + why + "; nothing has changed", []string{"2", "9"}},
		{base.ExitFailed, `client "by hand" holds it, and --client 'by hand' reports for that one; nothing has changed`, []string{"3", "9", "--step", "1", "--client", "bob"}},
		{base.ExitFailed, "unknown trial 99: trials 1 to 4 exist; nothing has changed", []string{"99", "9", "--step", "1"}},
	} {
		e := call(t, append([]string{"tell", "--data-dir", dir}, bad.args...)...)
		if e.code != bad.code || !strings.Contains(e.stderr, bad.want) || strings.Count(e.stderr, "\n") != 1 || e.stdout != "" {
			t.Errorf("tell %q: %d, %s%s", bad.args, e.code, e.stdout, e.stderr)
		}
	}
	must(t, "tell", "3", "-1", "--step", "5", "--data-dir", dir)
	var told toldJSON
	decode(t, must(t, "tell", "3", "--stopped", "--reason", "the mould broke", "--json", "--data-dir", dir), &told)
	if told.Trial.ID != 3 || told.Trial.State != "stopped" || told.Best != nil {
		t.Errorf("an end by the user: %+v", told)
	}
	if text := must(t, "tell", "1", "-0.8", "--data-dir", dir); !strings.HasPrefix(text, "trial 1 is stored: -0.8\nbest -0.8: trial 1, ") {
		t.Errorf("an outcome after values by step: %s", text)
	}
	if s := statusOf(t, dir); fmt.Sprint(s.Trials) != "map[done:1 running:1 stopped:2]" {
		t.Errorf("status %v", s.Trials)
	}
}

// TestAskOfARun checks that the node of run gives trials by hand besides its own evaluations.
func TestAskOfARun(t *testing.T) {
	t.Parallel()
	dir, file := shortTempDir(t), writeFile(t, "bowl.yaml", bowlTask)
	p := start(t, append(runLine(file, dir, "--json"), "--", "sleep", "600")...)
	p.await(t, "the first evaluation", isEvent("trial_started"))
	var asked []heldTrial
	decode(t, must(t, "ask", "--json", "--lease", "24h", "--data-dir", dir), &asked)
	if len(asked) != 1 || time.Until(asked[0].LeaseEnds) > 24*time.Hour {
		t.Fatalf("asked %+v", asked)
	}
	must(t, "tell", fmt.Sprint(asked[0].ID), "0.25", "--data-dir", dir)
	other := strings.Replace(bowlTask, "bowl", "plate", 1)
	e := call(t, "ask", writeFile(t, "plate.yaml", other), "--data-dir", dir)
	if e.code != base.ExitFailed || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("another task than that of run: %d, %s", e.code, e.stderr)
	}
}

// TestAskJoinsATaskWithATable checks that ask sends the table of designs and the invitation.
func TestAskJoinsATaskWithATable(t *testing.T) {
	t.Parallel()
	dir, folder := shortTempDir(t), shortTempDir(t)
	startServe(t, dir)
	for name, text := range map[string]string{
		"roads.csv":  "x,y\n1,2\n3,4\n5,6\n",
		"roads.yaml": "name: roads\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 10}\n  - {name: y, type: float, low: 0, high: 10}\ndesigns: {file: roads.csv}\n",
	} {
		if err := os.WriteFile(folder+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, invite := folder+"/roads.yaml", folder+"/roads.invite"
	must(t, "task", "invite", file, "--out", invite)
	e := call(t, "ask", file, "--invite", invite, "--json", "--data-dir", dir)
	var asked []heldTrial
	if err := json.Unmarshal([]byte(e.stdout), &asked); err != nil || len(asked) != 1 {
		t.Fatalf("asked %s%s, %v", e.stdout, e.stderr, err)
	}
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, "\ninvited   announced as ") {
		t.Errorf("status does not name the invitation:\n%s", text)
	}
}
