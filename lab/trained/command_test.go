package trained

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bowlTask has a float and a choice, and no section that counts.
const bowlTask = `name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -1, high: 1}
  - {name: method, type: categorical, choices: [a, b]}
`

// written makes a file in a directory of the test, which programs may be.
func written(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// newTestPrograms keeps what failed programs print in a sticky directory that all can write,
// as the usual temporary directory is.
func newTestPrograms(t testing.TB, ctx context.Context) *Programs {
	t.Helper()
	temp := t.TempDir()
	if err := os.Chmod(temp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	p := NewPrograms(ctx, 2, nil)
	t.Cleanup(p.Close)
	return p
}

func TestCommandRefuses(t *testing.T) {
	task := "task=" + written(t, "task.yaml", bowlTask)
	program := written(t, "measure.sh", "#!/bin/sh\necho 1\n")
	for spec, want := range map[string]string{
		"run=" + program:                    "key task is missing; accepted: the path of a task file",
		"task=nonesuch.yaml,run=" + program: "key task: open nonesuch.yaml: ",
		"task=" + written(t, "t.yaml", "name: x\n") + ",run=" + program: "key task: ",
		task: "keys run and worker: accepted: one of them",
		task + ",run=" + program + ",worker=" + program: "keys run and worker: accepted: one of them",
		task + ",run=./nonesuch":                        `keys run and worker: there is no command "./nonesuch"`,
		task + ",run=" + program + " {y}":               "{y} is no parameter of the task (they are: x, method)",
		task + ",worker=" + program + " {x}":            "{x} has no value, since a worker is started once",
		task + ",search=15,run=" + program:              "16 to 1e+06, whole",
		task + ",optimum=Inf,run=" + program:            `key optimum: value "Inf" is not accepted; accepted: a number`,
	} {
		p := newTestPrograms(t, t.Context())
		_, err := append(Kinds(), p.Kind()).Parse("command:" + spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}
