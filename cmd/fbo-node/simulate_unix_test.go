//go:build unix

package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// The example of docs/simulate.md: a script and a task file, and what goes wrong with
// the script ends the simulation.
func TestSimulateAProgram(t *testing.T) {
	temp := t.TempDir() // what a failed script prints is kept; as open as the usual /tmp
	if err := os.Chmod(temp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("task.yaml", `name: oven
goal: minimize
parameters:
  - {name: heat, type: float, low: 100, high: 300}
  - {name: minutes, type: int, low: 5, high: 60}
constraints:
  - {name: colour, high: 8}
`)
	write("oven.sh", `#!/bin/sh
awk -v h="$FBO_PARAM_HEAT" -v m="$FBO_PARAM_MINUTES" -v oven="$FBO_MEMBER" 'BEGIN {
  done = (h - 5*oven) * m / 6000
  printf "{\"value\": %.9g, \"constraints\": {\"colour\": %.9g}}\n", (done - 1)^2 + m/100, h/30
}'
`)
	args := []string{"simulate", "--family", "command:task=task.yaml,run=./oven.sh,members=4,search=16", "--strategy", "logei,density",
		"--agents", "2", "--evals", "6", "--repeats", "2", "--features", "32", "--out", "kept"}
	e := call(t, args...)
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d, error %s", e.code, e.stderr)
	}
	for _, want := range []string{
		"Family command:task=task.yaml,run=./oven.sh,members=4,search=16, minimize: 2 agents",
		"Constraints: colour at most 8.\n", "first feasible", "--family command:task=task.yaml,run=./oven.sh,members=4,search=16 --",
	} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("the table does not say %q:\n%s", want, e.stdout)
		}
	}
	write("oven.sh", "#!/bin/sh\necho the oven is cold >&2\nexit 3\n")
	e = call(t, args...) // the runs that are kept are of another script
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, `exited with code 3; the last line of its standard error is "the oven is cold" (see `) {
		t.Errorf("with a cold oven: exit code %d, error %s", e.code, e.stderr)
	}
	e = call(t, "simulate", "--family", "command:task=task.yaml,run=./stove.sh", "--strategy", "logei", "--out", "kept")
	if e.code != base.ExitUsage || !strings.Contains(e.stderr, `there is no command "./stove.sh"`) {
		t.Errorf("without a script: exit code %d, error %s", e.code, e.stderr)
	}
}

// TestSimulateStopsPrograms runs strategies that stop evaluations by the values by step of a program.
func TestSimulateStopsPrograms(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"task.yaml": "name: curve\ngoal: minimize\nparameters: [{name: x, type: float, low: -1, high: 1}]\n",
		"train.sh": `#!/bin/sh
awk -v x="$FBO_PARAM_X" 'BEGIN {
  for (s = 1; s <= 9; s++) printf "{\"step\": %d, \"value\": %.9g}\n", s, x^2 + (9 - s)/9
  printf "%.9g\n", x^2
}'
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	simulate := func(settings string) ended {
		return call(t, "simulate", "--family", "command:task=task.yaml,run=./train.sh,search=16"+settings, "--strategy", "random,random:stop=asha",
			"--agents", "1", "--evals", "8", "--repeats", "2", "--fresh", "--out", "kept")
	}
	if e := simulate(",steps=9"); e.code != base.ExitDone || !strings.Contains(e.stdout, "random:stop=asha") {
		t.Fatalf("exit code %d, error %s", e.code, e.stderr)
	}
	if e := simulate(""); e.code == base.ExitDone || !strings.Contains(e.stderr, "command with the key steps") {
		t.Errorf("without the key steps: exit code %d, error %s", e.code, e.stderr)
	}
}
