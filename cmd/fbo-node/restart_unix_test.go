//go:build unix

package main_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// finished maps trials to the values that a node has printed for them.
func finished(p *process) map[uint64]float64 {
	values := map[uint64]float64{}
	for _, e := range p.of("trial_finished") {
		values[e.Trial.ID] = e.Trial.Outcome.Value
	}
	return values
}

func TestKilledNodeGoesOn(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	g := newGate(t)
	// Both peers evaluate until they are interrupted.
	first := start(t, join(runLine(file, shortTempDir(t), "--json"), objective("steady"))...)
	peer := first.address(t)
	third := start(t, join(runLine(file, shortTempDir(t), "--json", "--peer", peer), objective("steady"))...)

	const cut = 6
	dir := shortTempDir(t)
	line := join(runLine(file, dir, "--json", "--peer", peer, "--evals", "9"), objective("gate", g.address, "6"))
	victim := start(t, line...)
	id := victim.await(t, "its start", isEvent("node_started")).PeerID
	from := func(e event) bool { return e.Event == "share_received" && e.Peer == id }
	orphan := g.next(t)
	if orphan.trial != cut {
		t.Fatalf("trial %d is at the gate, want %d", orphan.trial, cut)
	}
	first.await(t, "a share of the node, before it is killed", from)
	third.await(t, "a share of the node, before it is killed", from)
	startsBefore := statusOf(t, dir).Starts
	victim.signal(t, syscall.SIGKILL)
	victim.wait(t)
	printed := finished(victim)

	again := historyOf(t, dir) // readable at once, in spite of the stale socket
	if len(printed) != cut-1 || len(again) != cut {
		t.Fatalf("%d trials finished before the kill, %d in the history", len(printed), len(again))
	}
	seen := map[*process]int{first: len(first.all()), third: len(third.all())}
	for p, before := range seen {
		p.awaitAfter(t, before, "work of the peers while the node is down", isEvent("trial_finished"))
	}

	victim = start(t, line...)
	offered := victim.await(t, "a trial", isEvent("trial_started"))
	if offered.Trial.ID != cut {
		t.Errorf("the restarted node begins with trial %d, want the cut one", offered.Trial.ID)
	}
	victim.await(t, "its peers", isEvent("peers")) // its budget may be spent sooner than it is connected
	seen = map[*process]int{first: len(first.all()), third: len(third.all())}
	go func() {
		for h := range g.waiting {
			h.release()
		}
	}()
	if code := victim.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d", code)
	}
	for p, before := range seen {
		p.awaitAfter(t, before, "a share of the restarted node", from)
	}
	if s := statusOf(t, dir); s.Starts <= startsBefore || s.Trials["done"] != 9 {
		t.Errorf("status %+v after %d starts", s, startsBefore)
	}
	trials := historyOf(t, dir)
	for _, trial := range trials {
		if value, ok := printed[trial.ID]; ok && (trial.Outcome == nil || trial.Outcome.Value != value) {
			t.Errorf("trial %d: printed %g, in the history %+v", trial.ID, value, trial.Outcome)
		}
		want := 1
		if trial.ID == cut {
			want = 2
		}
		if trial.Attempts != want {
			t.Errorf("trial %d: %d attempts, want %d", trial.ID, trial.Attempts, want)
		}
	}
	for _, p := range []*process{first, third} {
		p.signal(t, syscall.SIGINT)
		if code := p.wait(t); code != base.ExitDone {
			t.Errorf("a peer ended with code %d: %s", code, p.stderr.String())
		}
	}
}

func TestInterruptedRunContinues(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "3"), objective("family", g.address))...)
	parent, child := g.next(t), g.next(t)
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != base.ExitDone || p.stderr.String() != "" {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
	parent.waitGone(t)
	child.waitGone(t)
	if last := p.all()[len(p.all())-1]; last.Event != "interrupted" {
		t.Errorf("the last event is %q", last.Event)
	}
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != "waiting" || trials[0].Attempts != 0 {
		t.Errorf("history %+v, want one trial that waits and was not attempted", trials)
	}

	// The same for people, cut before and after the first evaluation.
	e := call(t, join(runLine(file, dir, "--evals", "3"), objective("bowl"))...)
	if e.code != base.ExitDone || e.stderr != "" || !strings.Contains(e.stdout, "in 3 evaluations (0 failed)") {
		t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	for _, trial := range historyOf(t, dir) {
		if trial.State != "done" || trial.Attempts != 1 {
			t.Errorf("trial %+v", trial)
		}
	}
	e = call(t, join(runLine(file, dir, "--evals", "3"), objective("exit"))...)
	if e.code != base.ExitDone || !strings.Contains(e.stdout, "in 3 evaluations (0 failed)") {
		t.Errorf("with the budget used up: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}

func TestInterruptedBeforeTheFirstOutcome(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	command := nodeCommand(join(runLine(file, dir), objective("gate", g.address))...)
	e := finishAnd(t, command, func() {
		select {
		case <-g.waiting:
		case <-time.After(patienceOfTests):
			t.Error("no evaluator came to the gate")
		}
		if err := command.Process.Signal(syscall.SIGTERM); err != nil { // as a service manager does
			t.Error(err)
		}
	})
	if e.code != base.ExitDone || e.stderr != "" {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	if !strings.HasSuffix(e.stdout, "no result: no evaluation has ended yet\nstopped; the same command continues from here\n") {
		t.Errorf("got\n%s", e.stdout)
	}
}
