//go:build unix

package main_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

func TestParallelEvaluations(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--parallel", "3", "--evals", "8"), objective("gate", g.address))...)
	batch := []*held{g.next(t), g.next(t), g.next(t)} // all three at once, or it hangs here
	for _, h := range batch {
		h.release()
	}
	go func() {
		for h := range g.waiting {
			h.release()
		}
	}()
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	running, most := 0, 0
	for _, e := range p.all() {
		switch e.Event {
		case "trial_started":
			running++
		case "trial_finished":
			running--
		}
		most = max(most, running)
	}
	designs := map[string]bool{}
	for _, trial := range historyOf(t, dir) {
		designs[string(trial.Parameters)] = true
	}
	if len(designs) != 8 || most != 3 {
		t.Errorf("%d different designs of 8, up to %d at once", len(designs), most)
	}
}

func TestSeedRepeatsDesigns(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", mixedTask)
	designs := func(flags ...string) string {
		dir := shortTempDir(t)
		must(t, join(runLine(file, dir, append(flags, "--evals", "6")...), objective("bowl"))...)
		var all []string
		for _, trial := range historyOf(t, dir) {
			all = append(all, string(trial.Parameters))
		}
		return strings.Join(all, "\n")
	}
	seven := designs("--seed", "7")
	if again := designs("--seed", "7"); again != seven {
		t.Errorf("the same seed gave\n%s\nand\n%s", seven, again)
	}
	if designs("--seed", "8") == seven || designs() == seven {
		t.Error("another seed, or none, gave the same designs")
	}
}

func TestKeyAndVersion(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t) + "/new"
	id := must(t, "peer-id", "--data-dir", dir)
	if !regexp.MustCompile(`\A12D3Koo\w{45}\n\z`).MatchString(id) {
		t.Errorf("key prints %q", id)
	}
	if again := must(t, "peer-id", "--data-dir", dir); again != id {
		t.Errorf("key printed %q, then %q", id, again)
	}
	if other := must(t, "peer-id", "--data-dir", shortTempDir(t)); other == id {
		t.Error("two directories, one identity")
	}
	file := writeFile(t, "task.yaml", bowlTask)
	if text := must(t, join(runLine(file, dir, "--evals", "1"), objective("bowl"))...); !strings.Contains(text, "node "+strings.TrimSpace(id)+", data in "+dir+"\n") {
		t.Errorf("run uses another identity:\n%s", text)
	}
	if version := must(t, "version"); !regexp.MustCompile(`\Afbo-node \S+, revision \S+, go\S+ \w+/\w+\n\z`).MatchString(version) {
		t.Errorf("version prints %q", version)
	}
}

// TestRunJSON: every line is an event, the summary comes last, and the events
// of a trial come in order.
func TestRunJSON(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "5"), objective("bowl"))...)
	if code := p.wait(t); code != base.ExitDone || p.stderr.String() != "" {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
	events := p.all()
	if events[0].Event != "node_started" || events[len(events)-1].Event != "summary" {
		t.Errorf("from %q to %q", events[0].Event, events[len(events)-1].Event)
	}
	next, running := uint64(1), false
	for _, e := range events {
		switch e.Event {
		case "trial_started":
			if e.Trial.ID != next || running {
				t.Errorf("trial %d started, want %d", e.Trial.ID, next)
			}
			running = true
		case "trial_finished":
			if e.Trial.ID != next || !running || e.Best == nil {
				t.Errorf("trial %d finished, want %d, best %v", e.Trial.ID, next, e.Best)
			}
			next, running = next+1, false
		}
	}
	if next != 6 {
		t.Errorf("%d trials finished, want 5", next-1)
	}
}

func TestRunForPeople(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	text := must(t, join(runLine(file, dir, "--evals", "4", "--seed", "1"), objective("bowl"))...)
	for _, want := range []string{
		`(?m)\Atask "bowl": minimize over 2 parameters, id \w+$`,
		`(?m)^node 12D3\w+, data in \S+$`,
		`(?m)^The task is open: each host that reaches a port of one of its nodes learns its ID, can join, read all shares and publish its own .*--invite FILE .*--allow FILE`,
		`(?m)^others reach it with --peer /ip4/127.0.0.1/\S+/p2p/12D3\w+$`,
		`(?m)^   1  \S+ +new best +x=\S+ y=\S+  \[random start\]$`,
		`(?m)^   4  \S+ .*\[own sample\]$`,
		`(?m)^best \S+ in 4 evaluations \(0 failed\): trial \d, x=\S+ y=\S+  \[`,
		`(?m)^peers: 0 of 1 design after the random start used peers' shares$`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
