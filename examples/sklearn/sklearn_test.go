// Package sklearn tests the scikit-learn example. Its tests install nothing: they
// skip, and say why, without a Python that has scikit-learn. FBO_PYTHON names the
// interpreter; the default is python3.
package sklearn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
)

// run returns what a command prints, given some input.
func run(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Stdin = strings.NewReader(input)
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, output, problem.Bytes())
	}
	return string(output)
}

// result is what the test reads of a trial.
type result struct {
	State      string
	Parameters struct{ C, Gamma float64 }
	Outcome    struct {
		Value   float64
		Metrics map[string]float64
	}
}

// TestWorkerAndCommandAgree runs the README's commands: the same seed gives the same
// designs, and the same training the same results.
func TestWorkerAndCommandAgree(t *testing.T) {
	python := interpreter.Need(t, "sklearn")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	run(t, "", "go", "build", "-o", binary, "../../cmd/fbo-node")
	const evals = 4
	var results [2][]result
	for i, command := range [][]string{
		{"--", python, "train.py", "--site", "0", "--C", "{C}", "--gamma", "{gamma}"},
		{"--worker", "--", python, "worker.py", "--site", "0"},
	} {
		dir := t.TempDir()
		run(t, "", binary, append([]string{"run", "task.yaml", "--data-dir", dir, "--evals", fmt.Sprint(evals), "--seed", "1",
			"--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1"}, command...)...)
		history := run(t, "", binary, "history", "--json", "--data-dir", dir)
		if err := json.Unmarshal([]byte(history), &results[i]); err != nil {
			t.Fatal(err)
		}
		seconds := run(t, history, python, "seconds.py")
		if !regexp.MustCompile(`\A4 trials: the first took \d+\.\d\d s, the median of the others is \d+\.\d\d s\s*\z`).MatchString(seconds) {
			t.Errorf("seconds.py prints %q", seconds)
		}
		t.Logf("%s: %s", command[len(command)-3], seconds)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("train.py gave\n%+v\nworker.py\n%+v", results[0], results[1])
	}
	for _, r := range results[1] {
		if worst := r.Outcome.Metrics["worst_part"]; r.State != "done" || r.Outcome.Value <= 0 || r.Outcome.Value > 1 || worst > r.Outcome.Value {
			t.Errorf("result %+v", r)
		}
	}
	if len(results[1]) != evals {
		t.Errorf("%d results, want %d", len(results[1]), evals)
	}
}

// TestConditionalParameters runs the worker on the task whose parameters depend on the kernel.
// SVC refuses no parameter of another kernel, so the designs are checked.
func TestConditionalParameters(t *testing.T) {
	python := interpreter.Need(t, "sklearn")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe")
	run(t, "", "go", "build", "-o", binary, "../../cmd/fbo-node")
	dir := t.TempDir()
	run(t, "", binary, "run", "conditional.yaml", "--data-dir", dir, "--evals", "6", "--seed", "1",
		"--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--worker", "--", python, "worker.py", "--site", "0")
	var trials []struct {
		State      string
		Parameters map[string]any
	}
	if err := json.Unmarshal([]byte(run(t, "", binary, "history", "--json", "--data-dir", dir)), &trials); err != nil {
		t.Fatal(err)
	}
	for i, trial := range trials {
		_, gamma := trial.Parameters["gamma"]
		_, degree := trial.Parameters["degree"]
		kernel := trial.Parameters["kernel"]
		if gamma != (kernel != "linear") || degree != (kernel == "poly") || trial.Parameters["cache_size"] != 100.0 || trial.State != "done" {
			t.Errorf("trial %d is %s: %v", i+1, trial.State, trial.Parameters)
		}
	}
	if len(trials) != 6 {
		t.Errorf("%d trials, expected 6", len(trials))
	}
}

// TestFront runs the worker with two objectives. The trial of the front with the smallest error has no smaller
// time than the others.
func TestFront(t *testing.T) {
	python := interpreter.Need(t, "sklearn")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe")
	run(t, "", "go", "build", "-o", binary, "../../cmd/fbo-node")
	dir := t.TempDir()
	run(t, "", binary, "run", "front.yaml", "--data-dir", dir, "--evals", "5", "--seed", "1",
		"--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--worker", "--", python, "front.py")
	var front []result
	if err := json.Unmarshal([]byte(run(t, "", binary, "best", "front.yaml", "--json", "--data-dir", dir)), &front); err != nil {
		t.Fatal(err)
	}
	if len(front) == 0 {
		t.Fatal("the front is empty")
	}
	for i, r := range front {
		took := r.Outcome.Metrics["microseconds"]
		if took <= 0 || r.Outcome.Value < 0 || r.Outcome.Value > 1 || i > 0 && took >= front[i-1].Outcome.Metrics["microseconds"] {
			t.Errorf("design %d of the front: %+v", i+1, r.Outcome)
		}
	}
}

// TestWorkerReportsErrors: what is wrong with one trial does not end the worker, and
// what libraries print is no answer.
func TestWorkerReportsErrors(t *testing.T) {
	python := interpreter.Need(t, "sklearn")
	output := run(t, `{"trial": 1, "parameters": {"C": -1, "gamma": 0.001}}
{"trial": 2, "parameters": {"C": 1, "gamma": 0.001}}
`, python, "worker.py", "--site", "3")
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `{"trial": 1, "error": "`) || !strings.HasPrefix(lines[1], `{"trial": 2, "value": 0.9`) {
		t.Errorf("answers %q", lines)
	}
}
