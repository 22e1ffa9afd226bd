//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/curves"
)

const curveTask = bowlTask + "stop: {type: asha, reduction_factor: 2}\n"

// curveSteps is the number of steps of a complete evaluation by playCurve.
const curveSteps = 8

// curveValue is the value of a trial at a step. Every odd trial is better than all before it at every
// step, and every even one is worse than trial 1 at every step.
func curveValue(trial, step int) float64 {
	base := float64(-trial)
	if trial%2 == 0 {
		base = float64(trial)
	}
	return base + 1/float64(step)
}

// playCurve reports values by step, and continues after those of an earlier attempt. It adds a line
// to a file in the folder for each start. Even trials wait after their first step until they are
// stopped; the stubborn ones ignore SIGTERM. In a first attempt the trials with a number in waits,
// TRIAL:STEP, then wait at the gate until they are killed.
func playCurve(trial int, folder, address string, waits []string) int {
	file, err := os.OpenFile(filepath.Join(folder, "starts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	first := 1
	fmt.Fprintf(file, "%d attempt %s step %s\n", trial, os.Getenv("FBO_ATTEMPT"), os.Getenv("FBO_STEP"))
	file.Close()
	if text := os.Getenv("FBO_STEP"); text != "" {
		first = atoi(text) + 1
	}
	if slices.Contains(waits, fmt.Sprintf("%d:stubborn", trial)) {
		signal.Ignore(syscall.SIGTERM)
	}
	for step := first; step <= curveSteps; step++ {
		fmt.Printf("{\"step\": %d, \"value\": %g}\n", step, curveValue(trial, step))
		if trial%2 == 0 {
			time.Sleep(time.Minute)
		}
		if os.Getenv("FBO_ATTEMPT") == "1" && slices.Contains(waits, fmt.Sprintf("%d:%d", trial, step)) {
			waitAtGate(address, trial)
		}
	}
	fmt.Println(curveValue(trial, curveSteps))
	return 0
}

// curveTrial is a trial with its values by step, as history --json and events have it.
type curveTrial struct {
	trialJSON
	Steps curves.Curve `json:"steps"`
	Stop  *curves.Stop `json:"stop"`
}

func curvesOf(t *testing.T, dir string) (trials []curveTrial) {
	t.Helper()
	decode(t, must(t, "history", "--json", "--data-dir", dir), &trials)
	return trials
}

// reported returns the values of trial_reported events by trial, and how often each trial ended as
// stopped by trial_finished.
func reported(t *testing.T, processes ...*process) (values map[uint64]curves.Curve, stopped map[uint64]int) {
	t.Helper()
	values, stopped = map[uint64]curves.Curve{}, map[uint64]int{}
	for _, p := range processes {
		for _, line := range strings.Split(strings.TrimSpace(p.printed()), "\n") {
			var e struct {
				Event string
				Trial *curveTrial
			}
			decode(t, line, &e)
			switch {
			case e.Event == "trial_reported":
				values[e.Trial.ID] = append(values[e.Trial.ID], e.Trial.Steps...)
			case e.Event == "trial_finished" && e.Trial.State == "stopped":
				stopped[e.Trial.ID]++
			}
		}
	}
	return values, stopped
}

// awaitReport waits until a value of a trial at this step is on disk, and with stop also the decision.
func awaitReport(t *testing.T, p *process, trial, step int, stop bool) {
	t.Helper()
	p.await(t, fmt.Sprintf("step %d of trial %d", step, trial), func(event) bool {
		for _, line := range strings.Split(p.printed(), "\n") {
			var e struct {
				Event string
				Trial *curveTrial
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "trial_reported" && e.Trial.ID == uint64(trial) &&
				e.Trial.Steps.Last().Step >= uint64(step) && (e.Trial.Stop != nil) == stop {
				return true
			}
		}
		return false
	})
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestKilledNodeKeepsCurves: kill -9 in the middle of an evaluation, and of the end of one that is to
// be stopped. No value that was acknowledged is lost, the first continues after its last step, and the
// second has ended.
func TestKilledNodeKeepsCurves(t *testing.T) {
	t.Parallel()
	file, dir, folder, g := writeFile(t, "task.yaml", curveTask), shortTempDir(t), shortTempDir(t), newGate(t)
	line := func(evals string) []string {
		return join(runLine(file, dir, "--json", "--evals", evals), objective("curve", folder, g.address, "3:5", "4:stubborn"))
	}

	first := start(t, line("4")...)
	if h := g.next(t); h.trial != 3 {
		t.Fatalf("trial %d is at the gate, want 3", h.trial)
	}
	awaitReport(t, first, 3, 5, false)
	first.signal(t, syscall.SIGKILL)
	first.wait(t)

	second := start(t, line("4")...)
	awaitReport(t, second, 4, 1, true)
	_ = second.command.Process.Kill() // within the grace of two seconds; later the run has ended
	second.wait(t)

	third := start(t, line("6")...)
	if code := third.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, third.stderr.String())
	}
	want := []string{"1 attempt 1 step ", "2 attempt 1 step ", "3 attempt 1 step ", "3 attempt 2 step 5", "4 attempt 1 step ", "5 attempt 1 step ", "6 attempt 1 step "}
	if got := linesOf(t, filepath.Join(folder, "starts")); !slices.Equal(got, want) {
		t.Errorf("evaluated\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	values, stopped := reported(t, first, second, third)
	trials := curvesOf(t, dir)
	if len(trials) != 6 {
		t.Fatalf("history %+v", trials)
	}
	for _, trial := range trials {
		steps, state := curveSteps, "done"
		if trial.ID%2 == 0 {
			steps, state = 1, "stopped"
		}
		if trial.State != state || len(trial.Steps) != steps || (trial.Stop != nil) != (state == "stopped") {
			t.Errorf("trial %d: %s with %v and %v, want %s with %d values", trial.ID, trial.State, trial.Steps, trial.Stop, state, steps)
		}
		for i, s := range trial.Steps {
			if s.Step != uint64(i+1) || s.Value != curveValue(int(trial.ID), i+1) {
				t.Errorf("trial %d: value %d is %+v", trial.ID, i+1, s)
			}
		}
		for _, s := range values[trial.ID] {
			if !slices.Contains(trial.Steps, s) {
				t.Errorf("trial %d: the value %+v was reported and is lost", trial.ID, s)
			}
		}
		if stopped[trial.ID] > 1 {
			t.Errorf("trial %d was stopped %d times", trial.ID, stopped[trial.ID])
		}
	}
	summary := third.of("summary")
	if len(summary) != 1 || summary[0].Evaluations != 6 || summary[0].Stopped != 3 || summary[0].Best.ID != 5 {
		t.Errorf("summary %+v", summary)
	}
}

// TestStoppedTrialsAreShown to people, and a command that ignores SIGTERM is killed.
func TestStoppedTrialsAreShown(t *testing.T) {
	t.Parallel()
	file, dir, folder, g := writeFile(t, "task.yaml", curveTask), shortTempDir(t), shortTempDir(t), newGate(t)
	line := join(runLine(file, dir, "--evals", "3"), objective("curve", folder, g.address, "2:stubborn"))
	began := time.Now()
	e := call(t, line...)
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d, %s", e.code, e.stderr)
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("took %v, want the grace of two seconds", took)
	}
	for _, want := range []string{
		`(?m)^   2  stopped at step 1 with 3 by rule asha: 3 at step 1 is 2nd of 2 trials; expected among the best 1  x=\S+ y=\S+  \[`,
		`(?m)^best -2.875 in 3 evaluations \(0 failed, 1 stopped early\): trial 3, `,
	} {
		if !regexp.MustCompile(want).MatchString(e.stdout) {
			t.Errorf("run does not print %s:\n%s", want, e.stdout)
		}
	}
	again := must(t, join(runLine(file, dir, "--evals", "3"), objective("curve", folder, g.address))...)
	if want := "resumes after 3 evaluations (0 failed, 1 stopped early)\n"; !strings.Contains(again, want) {
		t.Errorf("the next run does not print %q:\n%s", want, again)
	}
	if log := must(t, "log", "2", "--data-dir", dir); !strings.Contains(log, "[fbo: asked to stop after step 1: 3 at step 1 is 2nd of 2 trials") {
		t.Errorf("log prints\n%s", log)
	}
}

// TestWrongValuesByStep: one clear line for each kind, and nothing is lost.
func TestWrongValuesByStep(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "2"), objective("wild"))...)
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, p.stderr.String())
	}
	var warnings []string
	for _, e := range p.of("warning") {
		warnings = append(warnings, e.Message)
	}
	want := []string{
		`trial 1: a value by step is not stored: printed "{\"step\": 1, \"value\": NaN}": the value: "NaN" is not a number; expected a finite number`,
		`trial 1: a value of an earlier step is not stored: step 3 after step 5; expected increasing steps`,
		`trial 1: values by step after the first 1000 are not stored: the last is that of step 1001; expected fewer, such as one in ten steps`,
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	for _, trial := range curvesOf(t, dir) {
		if trial.State != "done" || len(trial.Steps) != curves.MaxSteps || trial.Steps.Last().Step != 1001 {
			t.Errorf("trial %d: %s with %d values", trial.ID, trial.State, len(trial.Steps))
		}
	}
}

// playCurveWorker is playCurve for a worker, which stops when it is asked to. It returns its exit
// code.
func playCurveWorker(lines *bufio.Scanner, request []byte) {
	var of struct{ Trial, Step int }
	if err := json.Unmarshal(request, &of); err != nil {
		panic(err)
	}
	for step := of.Step + 1; step <= curveSteps; step++ {
		fmt.Printf("{\"trial\": %d, \"step\": %d, \"value\": %g}\n", of.Trial, step, curveValue(of.Trial, step))
		if of.Trial%2 == 0 {
			var stop struct {
				Trial int
				Stop  string
			}
			if !lines.Scan() {
				return
			}
			if err := json.Unmarshal(lines.Bytes(), &stop); err != nil || stop.Trial != of.Trial || stop.Stop == "" {
				panic(lines.Text())
			}
			fmt.Printf("{\"trial\": %d, \"stopped\": true}\n", of.Trial)
			return
		}
	}
	fmt.Printf("{\"trial\": %d, \"value\": %g, \"process\": %d}\n", of.Trial, curveValue(of.Trial, curveSteps), os.Getpid())
}

// TestWorkerStopsTrials: one process evaluates all.
func TestWorkerStopsTrials(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", curveTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "6", "--worker"), worker("curve"))...)
	for _, trial := range curvesOf(t, dir) {
		if even := trial.ID%2 == 0; even != (trial.State == "stopped") || !even && len(trial.Steps) != curveSteps {
			t.Errorf("trial %d: %s with %v", trial.ID, trial.State, trial.Steps)
		}
	}
	if processes := processesOf(t, dir); len(processes) != 1 {
		t.Errorf("trials by process %v, want one", processes)
	}
}

// TestInterruptedCurveContinues: after Ctrl-C too, although that is no attempt.
func TestInterruptedCurveContinues(t *testing.T) {
	t.Parallel()
	file, dir, folder, g := writeFile(t, "task.yaml", curveTask), shortTempDir(t), shortTempDir(t), newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "1"), objective("curve", folder, g.address, "1:3"))...)
	g.next(t)
	awaitReport(t, p, 1, 3, false)
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d", code)
	}
	text := must(t, join(runLine(file, dir, "--evals", "1"), objective("curve", folder, g.address))...)
	if want := "trial 1 was interrupted after step 3 and is evaluated again\n"; !strings.Contains(text, want) {
		t.Errorf("the next run does not print %q:\n%s", want, text)
	}
	if got := linesOf(t, filepath.Join(folder, "starts")); len(got) != 2 || got[1] != "1 attempt 1 step 3" {
		t.Errorf("evaluated %q", got)
	}
	if trials := curvesOf(t, dir); len(trials) != 1 || len(trials[0].Steps) != curveSteps {
		t.Errorf("history %+v", trials)
	}
}

// TestCheckpointExample runs the program of docs/command-line.md#values-by-step, and kills the node in
// its first trial: the second attempt begins with the step after the last.
func TestCheckpointExample(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3:", err)
	}
	f := newFollower(t)
	for _, b := range blocksOf(t, "command-line.md") {
		if b.file != "train.py" && b.file != "task.yaml" {
			continue
		}
		const epoch = "    time.sleep(0.1)"
		if b.file == "train.py" && !strings.Contains(b.text, epoch) {
			t.Fatalf("the program has no line %q", epoch)
		}
		b.text = strings.Replace(b.text, epoch, `    if os.environ["FBO_TRIAL"] == os.environ["FBO_ATTEMPT"] == "1" and step == 4:
        time.sleep(600)
`+epoch, 1)
		f.follow(t, b)
	}
	dir := shortTempDir(t)
	run := func() *process {
		command := nodeCommand(join(runLine("task.yaml", dir, "--json", "--evals", "4", "--seed", "1"), []string{"--", "python3", "train.py"})...)
		command.Dir = f.dir
		return startCommand(t, command)
	}
	first := run()
	awaitReport(t, first, 1, 4, false)
	first.signal(t, syscall.SIGKILL)
	first.wait(t)
	second := run()
	if code := second.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, second.stderr.String())
	}
	if log := must(t, "log", "1", "--data-dir", dir); !strings.HasPrefix(log, `{"step": 5, `) {
		t.Errorf("the second attempt begins with %.100q, want step 5", log)
	}
	trials := curvesOf(t, dir)
	if len(trials) != 4 || trials[0].Attempts != 2 || len(trials[0].Steps) != 30 || trials[0].State != "done" {
		t.Errorf("history %+v", trials)
	}
	stopped := 0
	for _, trial := range trials {
		if trial.State == "stopped" {
			stopped++
		}
	}
	if stopped == 0 {
		t.Errorf("no trial was stopped: %+v", trials)
	}
}

// TestQuartilesOfPeers: a node that starts after another compares its evaluations with those of the
// other, whose curves it never receives.
func TestQuartilesOfPeers(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", strings.Replace(curveTask, "stop: {", "stop: {share: quartiles, ", 1))
	dirs, folders := []string{shortTempDir(t), shortTempDir(t)}, []string{shortTempDir(t), shortTempDir(t)}
	g := newGate(t)
	first := start(t, join(runLine(file, dirs[0], "--json", "--evals", "8", "--keep-after"), objective("curve", folders[0], g.address))...)
	first.await(t, "the end of its evaluations", isEvent("summary"))
	second := start(t, join(runLine(file, dirs[1], "--json", "--evals", "12", "--peer", first.address(t)), objective("curve", folders[1], g.address))...)
	second.await(t, "quartiles of the peer", func(e event) bool { return e.Event == "share_received" && e.Kind == "curves" })
	if code := second.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d, %s", code, second.stderr.String())
	}
	byPeers := 0
	for _, trial := range curvesOf(t, dirs[1]) {
		if trial.Stop != nil && strings.Contains(trial.Stop.Reason, "with those of peers") {
			byPeers++
		}
		if trial.ID%2 == 1 && trial.State != "done" { // the best so far
			t.Errorf("trial %d is %s: %+v", trial.ID, trial.State, trial.Stop)
		}
	}
	if byPeers == 0 {
		t.Error("no decision rests on the peer's quartiles")
	}
	if text := must(t, "task", "check", file); !strings.Contains(text, "quartiles") {
		t.Errorf("task check prints\n%s", text)
	}
}
