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
