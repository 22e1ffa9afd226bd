package taskcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/lab/attack"
)

const attackedTask = `name: attacked
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 32}
strategy: {type: constrained-gp}
`

// privacyCommand runs the command in this process.
func privacyCommand(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	command := NewPrivacy()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(io.Discard)
	err = command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAttackSaysWhatIsFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "task.yaml")
	if err := os.WriteFile(file, []byte(attackedTask), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--attack", file, "--observations", "4,6", "--repeats", "1", "--noise", "0"}
	text, err := privacyCommand(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`task "attacked", strategy constrained-gp: one node of three attacked, in 1 federation for each noise, seed 1`,
		"noise 0, after 4 observations\n  baseline, from the estimated optimum: ", "\n  the shared designs: ", "noise 0, after 6 observations", "of 6 inputs within 0.02",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	text, err = privacyCommand(t, append(args, "--json", "--filter", "shared")...)
	var report attack.Report
	if err != nil || json.Unmarshal([]byte(text), &report) != nil || len(report.Lines) == 0 || report.Lines[0].Found.Inputs != 4 {
		t.Errorf("%v: %s", err, text)
	}
	for want, args := range map[string][]string{
		"--repeats applies only with --attack": {"--repeats", "2"},
		"expected no TASK beside it":           {"--attack", file, "task"},
		`no attack has "nosuch" in its name`:   {"--attack", file, "--filter", "nosuch"},
		"expected 3 to 200":                    {"--attack", file, "--observations", "2"},
		"task file: ":                          {"--attack", file + "x"},
	} {
		if _, err := privacyCommand(t, args...); !errors.As(err, new(base.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one that says %q", args, err, want)
		}
	}
}
