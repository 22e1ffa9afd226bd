//go:build unix

package main_test

import (
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestNoEvaluations: --evals 0 evaluates nothing and ends; what it is to import is
// imported.
func TestNoEvaluations(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	past := writeFile(t, "past.csv", "x,y,value\n1,1,3\n")
	text := must(t, join(runLine(file, dir, "--evals", "0", "--import", past), objective("exit"))...)
	if !strings.Contains(text, "\n--evals 0: nothing is evaluated\n") {
		t.Errorf("got\n%s", text)
	}
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].Outcome.Value != 3 {
		t.Errorf("trials %+v", trials)
	}
	p := start(t, join(runLine(file, dir, "--evals", "0", "--json"), objective("exit"))...)
	if code := p.wait(t); code != base.ExitDone || len(p.of("budget_spent")) != 1 || len(p.of("trial_started")) != 0 {
		t.Errorf("exit code %d, events %+v", code, p.all())
	}
}

// TestGivingUpAndGoingOn: a broken command ends the run with an exit code of its
// own, as often as it is started; once it is mended the same line makes all its
// evaluations, and none before it is made again.
func TestGivingUpAndGoingOn(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	for range 2 {
		e := call(t, join(runLine(file, dir, "--evals", "3"), objective("exit"))...)
		if e.code != base.ExitGaveUp || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, "the same command tries again") {
			t.Fatalf("exit code %d, %q", e.code, e.stderr)
		}
	}
	text := must(t, join(runLine(file, dir, "--evals", "3"), objective("bowl"))...)
	for _, want := range []string{"resumes after 20 evaluations (20 failed); 3 of the 3 that --evals asks for are left\n", "in 23 evaluations (20 failed)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	text = must(t, join(runLine(file, dir, "--evals", "3"), objective("exit"))...)
	if !strings.Contains(text, "earlier runs made all 3 evaluations that --evals asks for") {
		t.Errorf("got\n%s", text)
	}
	e := call(t, join(runLine(file, dir, "--max-failures", "2"), objective("exit"))...)
	if want := "fbo-node: too many evaluations have failed: 2 in this run failed, the last (trial 25): "; e.code != base.ExitGaveUp || !strings.HasPrefix(e.stderr, want) {
		t.Errorf("exit code %d, %q, want %q", e.code, e.stderr, want)
	}
}

// TestMistypedCommandCostsNothing checks that a run with the right command makes the evaluations that
// it would have made without the failures before it.
func TestMistypedCommandCostsNothing(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	designs := func(dir string) (all []string) {
		must(t, join(runLine(file, dir, "--evals", "4", "--seed", "1"), objective("bowl"))...)
		for _, trial := range historyOf(t, dir) {
			if trial.State == "done" {
				all = append(all, string(trial.Parameters))
			}
		}
		return all
	}
	failed, fresh := shortTempDir(t), shortTempDir(t)
	must(t, "peer-id", "--data-dir", failed) // the seed's decisions are of the identity too
	key, err := os.ReadFile(failed + "/identity.key")
	if err == nil {
		err = os.WriteFile(fresh+"/identity.key", key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if e := call(t, join(runLine(file, failed, "--evals", "4", "--seed", "1"), objective("exit"))...); e.code != base.ExitGaveUp {
		t.Fatalf("exit code %d, %q", e.code, e.stderr)
	}
	if got, want := designs(failed), designs(fresh); len(got) != 4 || !slices.Equal(got[:3], want[:3]) {
		t.Errorf("after a mistyped command the starting designs are\n%q, want\n%q", got[:3], want[:3])
	}
}

// hearHangUps makes processes that are started from here on heed SIGHUP, under nohup too.
func hearHangUps() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

// TestHangUpSignalEndsRun: SIGHUP ends a run as Ctrl-C does, twice in a row too, and its
// evaluation with it. Under nohup it does nothing.
func TestHangUpSignalEndsRun(t *testing.T) {
	t.Parallel()
	hearHangUps()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("family", g.address))...)
	parent, child := g.next(t), g.next(t)
	p.signal(t, syscall.SIGHUP)
	_ = p.command.Process.Signal(syscall.SIGHUP) // it may have ended
	if code := p.wait(t); code != base.ExitDone || p.stderr.String() != "" {
		t.Errorf("exit code %d (%v), %q", code, p.command.ProcessState, p.stderr.String())
	}
	parent.waitGone(t)
	child.waitGone(t)
	if last := p.all()[len(p.all())-1]; last.Event != "interrupted" {
		t.Errorf("the last event is %q", last.Event)
	}
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != "waiting" || trials[0].Attempts != 0 {
		t.Errorf("history %+v, want one trial that was handed back", trials)
	}

	line := nodeCommand(join(runLine(file, dir, "--json", "--evals", "2"), objective("gate", g.address))...)
	shell := nodeCommand(join([]string{"-c", `trap "" HUP; exec "$0" "$@"`, line.Args[0]}, line.Args[1:])...)
	shell.Path, shell.Args[0] = "/bin/sh", "sh"
	p = startCommand(t, shell)
	h := g.next(t)
	p.signal(t, syscall.SIGHUP)
	h.release()
	g.next(t).release() // an ending run would not begin another
	if code := p.wait(t); code != base.ExitDone || len(p.of("trial_finished")) != 2 {
		t.Errorf("under nohup: exit code %d, events %+v", code, p.all())
	}
}

// TestHangUpOfTheReader: in a closed terminal who reads the output, as with
// `| tee`, ends by the same signal.
func TestHangUpOfTheReader(t *testing.T) {
	t.Parallel()
	hearHangUps()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t)
	command := nodeCommand(join(runLine(file, dir), objective("gate", g.address))...)
	command.Stdout = writer
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	h := g.next(t)
	if err := command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if err := command.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	h.waitGone(t)
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != "waiting" {
		t.Errorf("history %+v, want one trial that was handed back", trials)
	}
}

// TestKilledNodeIsNotRunning: what status and history say after kill -9, and what
// the next start says that it takes up.
func TestKilledNodeIsNotRunning(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "9"), objective("gate", g.address, "3"))...)
	h := g.next(t)
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
	h.release() // the next start makes another
	text := must(t, "status", "--data-dir", dir)
	for _, want := range []string{"trials    2 done, 0 failed, 1 interrupted (offered again by the next start, three times at most)\n", "node      not running\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if s := statusOf(t, dir); s.Running || s.Trials["running"] != 0 || s.Trials["interrupted"] != 1 {
		t.Errorf("status %+v", s)
	}
	if trials := historyOf(t, dir); len(trials) != 3 || trials[2].State != "interrupted" {
		t.Errorf("history %+v", trials)
	}

	p = start(t, join(runLine(file, dir, "--json", "--evals", "9"), objective("gate", g.address, "3"))...)
	c := p.await(t, "what it resumes", isEvent("resumed"))
	if c.Evaluations != 2 || c.Best == nil || len(c.Retried) != 1 || c.Retried[0] != 3 {
		t.Errorf("continued %+v", c)
	}
	g.next(t)
	p.signal(t, os.Interrupt)
	p.wait(t)
	for _, evals := range []string{"0", "2"} { // which leave nothing to evaluate
		text = must(t, join(runLine(file, dir, "--evals", evals), objective("bowl"))...)
		if !strings.Contains(text, "resumes after 2 evaluations") || strings.Contains(text, "again") {
			t.Errorf("--evals %s: got\n%s", evals, text)
		}
	}
	text = must(t, join(runLine(file, dir, "--evals", "4"), objective("bowl"))...)
	if !regexp.MustCompile(`(?m)^resumes after 2 evaluations \(0 failed\); 2 of the 4 that --evals asks for are left\nbest so far \S+: trial [12], x=\S+ y=\S+  \[random start\]\ntrial 3 was interrupted and is evaluated again$`).MatchString(text) {
		t.Errorf("got\n%s", text)
	}
}

// TestSignalSentTwice: timeout(1) does so, with little between the two, and means a
// clean end.
func TestSignalSentTwice(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address))...)
	g.next(t)
	p.signal(t, syscall.SIGTERM)
	time.Sleep(100 * time.Millisecond)            // a node that is too slow for this gets one signal
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != "waiting" {
		t.Errorf("history %+v, want one trial that was handed back", trials)
	}
}

// TestInterruptedTrialsAreNoQueries: the summary of a run that is interrupted
// counts what has ended.
func TestInterruptedTrialsAreNoQueries(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address, "5"))...) // three random starts, one more
	g.next(t)
	p.signal(t, os.Interrupt)
	p.wait(t)
	if s := p.of("summary"); len(s) != 1 || s[0].Evaluations != 4 || s[0].ModelBasedTrials != 1 {
		t.Errorf("summary %+v", s)
	}
}

// TestFirstDesignsAreEvaluatedOnce: what the user gives comes first, counts, and comes once, over
// restarts too.
func TestFirstDesignsAreEvaluatedOnce(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	list := writeFile(t, "now.csv", "x,y,value\n0.25,0.5,\n-1,1,7\n")
	asJSON := writeFile(t, "more.json", `[{"x": 0.25, "y": 0.5}, {"x": 2, "y": -2}]`)
	text := must(t, join(runLine(file, dir, "--evals", "1", "--enqueue", list), objective("bowl"))...)
	if !regexp.MustCompile(`(?m)^   1  \S+ +new best +x=0.25 y=0.5  \[given by the user\]$`).MatchString(text) {
		t.Errorf("got\n%s", text)
	}
	must(t, join(runLine(file, dir, "--evals", "3", "--enqueue", list), objective("bowl"))...)
	must(t, join(runLine(file, dir, "--evals", "5", "--enqueue", asJSON), objective("bowl"))...)
	var got []string
	for _, trial := range historyOf(t, dir) {
		got = append(got, string(trial.Why.Source))
		if trial.ID == 2 && trial.Outcome.Value == 7 {
			t.Error("the value in the file was taken for an outcome")
		}
	}
	if want := "enqueued enqueued initial enqueued own"; strings.Join(got, " ") != want {
		t.Errorf("sources %v, want %s", got, want)
	}
}

// TestBestCommandInEveryFormat: in every format, of a running and of a stopped node, and when there is
// none.
func TestBestCommandInEveryFormat(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	e := call(t, "best", "--data-dir", dir)
	if e.code != base.ExitFailed || e.stderr != "fbo-node: nothing has run with data directory "+dir+" yet\n" {
		t.Errorf("nothing: exit code %d, %q", e.code, e.stderr)
	}
	call(t, join(runLine(file, dir, "--max-failures", "1"), objective("exit"))...)
	e = call(t, "best", file, "--data-dir", dir)
	if want := "has no best design yet: of 1 trial none has an outcome\n"; e.code != base.ExitFailed || !strings.HasSuffix(e.stderr, want) || e.stdout != "" {
		t.Errorf("only failures: exit code %d, %q%q", e.code, e.stdout, e.stderr)
	}

	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address, "6"))...)
	g.next(t)
	whileRunning := must(t, "best", file, "--data-dir", dir)
	p.signal(t, os.Interrupt)
	p.wait(t)
	if after := must(t, "best", file, "--data-dir", dir); after != whileRunning {
		t.Errorf("%q after the end, %q before", after, whileRunning)
	}
	best := statusOf(t, dir).Best
	var asJSON shownTrial
	decode(t, must(t, "best", "--format", "json", "--data-dir", dir), &asJSON)
	if asJSON.ID != best.ID || string(asJSON.Parameters) != string(best.Parameters) {
		t.Errorf("%+v, status says %+v", asJSON, best)
	}
	if !regexp.MustCompile(`\Avalue  \S+ \(trial \d, .*\)\nlr  \S+\nunits  \d+\nkind  (sgd|a, b|7)\n\z`).MatchString(whileRunning) {
		t.Errorf("got\n%s", whileRunning)
	}
	flags := must(t, "best", "--format", "flags", "--data-dir", dir)
	if !regexp.MustCompile(`\A--lr \S+ --units \d+ --kind (sgd|'a, b'|7)\n\z`).MatchString(flags) {
		t.Errorf("got %q", flags)
	}
	env := must(t, "best", "--format", "env", "--data-dir", dir)
	if !regexp.MustCompile(`\AFBO_PARAM_LR=\S+\nFBO_PARAM_UNITS=\d+\nFBO_PARAM_KIND=(sgd|'a, b'|7)\n\z`).MatchString(env) {
		t.Errorf("got %q", env)
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain-1.5e+3", "two words", "it's", `"$HOME"`, "a\nb", "ü", "*", "-1"} {
		command := nodeCommand("-c", "printf %s "+base.ShellQuote(text))
		command.Path, command.Args[0] = "/bin/sh", "sh"
		if e := finish(t, command); e.stdout != text || e.code != 0 {
			t.Errorf("%q is read as %q by the shell", text, e.stdout)
		}
	}
	if base.ShellQuote("adam-1.5e+3") != "adam-1.5e+3" {
		t.Error("quoted without need")
	}
}
