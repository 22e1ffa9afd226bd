//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// playWorker is a user's command that stays. It returns its exit code.
func playWorker(manner string, args []string) int {
	if manner == "dies-at-once" {
		fmt.Fprintln(os.Stderr, "no module named torch")
		return 3
	}
	if os.Getenv("FBO_TRIAL") != "" || os.Getenv("FBO_PARAMS") != "" {
		panic("a worker has no trial of its own")
	}
	fmt.Fprintln(os.Stderr, "worker", os.Getpid(), "is ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			Trial      int
			Parameters map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			panic(err)
		}
		fmt.Println("epoch 1 of trial", request.Trial) // no answer
		if manner == "curve" {
			playCurveWorker(lines, slices.Clone(lines.Bytes()))
			continue
		}
		switch {
		case manner == "gate":
			if !waitAtGate(args[0], request.Trial) {
				return 1
			}
		case manner == "dies-in" && request.Trial == atoi(args[0]):
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		case manner == "sleeps-in" && request.Trial == atoi(args[0]):
			time.Sleep(time.Minute)
		}
		fmt.Printf("{\"trial\": %d, \"value\": %g, \"process\": %d}\n", request.Trial, bowlAt(request.Parameters), os.Getpid())
	}
	return 0
}

func worker(manner string, args ...string) []string {
	return objective("worker", append([]string{manner}, args...)...)
}

// processesOf counts the workers that evaluated, by the number that each told.
func processesOf(t *testing.T, dir string) map[float64]int {
	t.Helper()
	var trials []struct {
		Outcome *struct{ Metrics map[string]float64 }
	}
	decode(t, must(t, "history", "--json", "--data-dir", dir), &trials)
	processes := map[float64]int{}
	for _, trial := range trials {
		if trial.Outcome != nil {
			processes[trial.Outcome.Metrics["process"]]++
		}
	}
	return processes
}

// TestWorkerProcessEvaluatesAllTrials: one process evaluates all trials, and two in parallel.
func TestWorkerProcessEvaluatesAllTrials(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	for _, parallel := range []int{1, 2} {
		dir := shortTempDir(t)
		must(t, join(runLine(file, dir, "--evals", "8", "--parallel", strconv.Itoa(parallel), "--worker"), worker("plain"))...)
		processes := processesOf(t, dir)
		evaluated := 0
		for _, trials := range processes {
			evaluated += trials
		}
		if evaluated != 8 || len(processes) > parallel || processes[0] > 0 {
			t.Errorf("--parallel %d: trials by process %v", parallel, processes)
		}
		if text := must(t, "log", "1", "--data-dir", dir); !strings.Contains(text, "epoch 1 of trial 1\n") || !strings.Contains(text, "is ready\n") {
			t.Errorf("trial 1 has printed\n%s", text)
		}
	}
}

// A worker that dies fails its trial, and another process takes its place.
func TestWorkerThatDies(t *testing.T) {
	t.Parallel()
	checkFailedWorker(t, "dies-in", "the worker was killed by a signal: killed (perhaps the system ran out of memory) before it answered")
}

// checkFailedWorker runs a worker that fails in trial 3, and expects the reason.
func checkFailedWorker(t *testing.T, mode, reason string) {
	t.Helper()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "5", "--trial-timeout", "15s", "--worker"), worker(mode, "3"))...)
	for _, trial := range historyOf(t, dir) {
		if failed := trial.ID == 3; failed != (trial.State == "failed") || failed != strings.HasPrefix(trial.Reason, reason) {
			t.Errorf("trial %d: %s, %q", trial.ID, trial.State, trial.Reason)
		}
	}
	if processes := processesOf(t, dir); len(processes) != 2 {
		t.Errorf("trials by process %v, want two processes", processes)
	}
}

func TestWorkerThatNeverWorks(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	e := call(t, join(runLine(file, dir, "--evals", "9", "--worker"), worker("dies-at-once"))...)
	want := `\Afbo-node: no evaluation has worked: 10 in a row failed, the last \(trial 10\): the worker exited with code 3 before it read the trial; the last line of its standard error is "no module named torch" \(see \S+trial-10.log\); .*\n\z`
	if e.code != base.ExitGaveUp || !regexp.MustCompile(want).MatchString(e.stderr) {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
}

// TestInterruptedWorker: its trial is handed back, and it is gone.
func TestInterruptedWorker(t *testing.T) {
	t.Parallel()
	file, dir, g := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "3", "--worker"), worker("gate", g.address))...)
	h := g.next(t)
	p.signal(t, syscall.SIGINT)
	if code := p.wait(t); code != base.ExitDone || p.stderr.String() != "" {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
	h.waitGone(t)
	if trials := historyOf(t, dir); len(trials) != 1 || trials[0].State != "waiting" || trials[0].Attempts != 0 {
		t.Errorf("history %+v, want one trial that waits and was not attempted", trials)
	}
}

// TestKilledNodeTakesItsTrainingAlong: nothing of the evaluation outlives a node that
// is killed, so that the restarted one starts no second beside it.
func TestKilledNodeTakesItsTrainingAlong(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	for _, c := range []struct {
		name      string
		processes int
		line      func(g *gate) []string
	}{
		{"command, child and grandchild", 3, func(g *gate) []string { return objective("generations", g.address) }},
		{"worker", 1, func(g *gate) []string { return append([]string{"--worker"}, worker("gate", g.address)...) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, g := shortTempDir(t), newGate(t)
			line := join(runLine(file, dir, "--json", "--evals", "1"), c.line(g))
			for range 2 {
				node := start(t, line...)
				var held []*held
				for range c.processes {
					held = append(held, g.next(t))
				}
				node.signal(t, syscall.SIGKILL)
				node.wait(t)
				for _, h := range held {
					h.waitGone(t)
				}
			}
			select {
			case h := <-g.waiting:
				t.Errorf("another process for trial %d", h.trial)
			default:
			}
			if trials := historyOf(t, dir); len(trials) != 1 || trials[0].Attempts != 2 {
				t.Errorf("history %+v, want one trial, attempted twice", trials)
			}
		})
	}
}

// log prints the output of trials, and refuses bad requests.
func TestLogCommandPrintsTrialOutput(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	if e := call(t, "log", "--data-dir", dir); e.code != base.ExitFailed || !strings.Contains(e.stderr, "nothing has run") {
		t.Errorf("before the first run: exit code %d, %q", e.code, e.stderr)
	}
	text := must(t, join(runLine(file, dir, "--evals", "3"), objective("chatty"))...)
	if !regexp.MustCompile(`(?m)^   3  \S+ .*  \(acc=0\.5\)  \[`).MatchString(text) {
		t.Errorf("run does not show the metric:\n%s", text)
	}
	for _, args := range [][]string{{}, {"3"}, {file}, {file, "3"}, {"2"}, {"-f", "2"}, {"-f"}} {
		shown := must(t, append([]string{"log", "--data-dir", dir}, args...)...)
		trial, head := "3", "==> trial 3 of bowl <==\n"
		if len(args) > 0 && args[len(args)-1] == "2" {
			trial = "2"
		}
		if len(args) > 0 && regexp.MustCompile(`^\d$`).MatchString(args[len(args)-1]) {
			head = ""
		}
		rest, ok := strings.CutPrefix(shown, head)
		if !ok || !strings.Contains(rest, "epoch 1 of trial "+trial+"\n") || !strings.Contains(rest, "a warning\n") || strings.Contains(rest, "==>") {
			t.Errorf("log %q:\n%s", args, shown)
		}
	}
	if e := call(t, "log", "9", "--data-dir", dir); e.code != base.ExitFailed || e.stderr != "fbo-node: there is no trial 9 of task bowl; it has 3\n" {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	logs := filepath.Join(dir, "trials", strings.TrimSpace(must(t, "task", "id", file)))
	if err := os.Rename(filepath.Join(logs, "trial-2.log"), filepath.Join(logs, "moved")); err != nil {
		t.Fatal(err)
	}
	if e := call(t, "log", "2", "--data-dir", dir); e.code != base.ExitFailed || e.stderr != "fbo-node: trial 2 has printed nothing that is kept\n" {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
}

// TestLogFollows a run to its end.
func TestLogFollows(t *testing.T) {
	t.Parallel()
	file, dir, g := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "2", "--worker"), worker("gate", g.address))...)
	first := g.next(t)
	command := nodeCommand("log", "-f", "--data-dir", dir)
	e := finishAnd(t, command, func() {
		first.release()
		select {
		case second := <-g.waiting:
			second.release()
		case <-time.After(patienceOfTests):
			t.Error("no second trial")
		}
	})
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d", code)
	}
	// Started late it may miss the first trial, which it was not asked for.
	second := e.stdout[strings.Index(e.stdout, "==> trial 2")+1:]
	if e.code != base.ExitDone || e.stderr != "" || !strings.Contains(second, "epoch 1 of trial 2\n") {
		t.Errorf("exit code %d, %q\n%s", e.code, e.stderr, e.stdout)
	}
}

// TestMetricsComeBack: what history writes as CSV brings further numbers along.
func TestMetricsComeBack(t *testing.T) {
	t.Parallel()
	file, from, to := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), shortTempDir(t)
	must(t, join(runLine(file, from, "--evals", "2"), objective("chatty"))...)
	table := must(t, "history", "--data-dir", from)
	if !regexp.MustCompile(`(?m)^trial +state +value +metrics +parameters +why$`).MatchString(table) || !strings.Contains(table, "acc=0.5") {
		t.Errorf("got\n%s", table)
	}
	csv := must(t, "history", "--format", "csv", "--data-dir", from)
	if !strings.Contains(strings.SplitN(csv, "\n", 2)[0], ",metric.acc,") {
		t.Errorf("got\n%s", csv)
	}
	past := writeFile(t, "past.csv", csv)
	must(t, join(runLine(file, to, "--evals", "1", "--import", past), objective("bowl"))...)
	var trials []struct {
		Outcome struct{ Metrics map[string]float64 }
	}
	decode(t, must(t, "history", "--json", "--data-dir", to), &trials)
	if len(trials) != 3 || trials[0].Outcome.Metrics["acc"] != 0.5 || trials[2].Outcome.Metrics != nil {
		t.Errorf("history %+v", trials)
	}
}
