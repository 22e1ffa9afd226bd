// Package interpreter finds the Python that tests of the examples need.
package interpreter

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Need returns the interpreter that FBO_PYTHON names, or python3, when it has the modules,
// by the names that they are imported under. Otherwise, and with -short, it skips the test.
func Need(t *testing.T, modules ...string) string {
	t.Helper()
	return NeedNamed(t, "FBO_PYTHON", modules...)
}

// NeedNamed is Need with another environment variable than FBO_PYTHON.
func NeedNamed(t *testing.T, variable string, modules ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: it trains real classifiers")
	}
	name := os.Getenv(variable)
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no Python: %v; %s can name one", err, variable)
	}
	// Looked for and not imported, which takes seconds.
	const script = `
import importlib.util, sys
missing = [name for name in sys.argv[1:] if not importlib.util.find_spec(name)]
sys.exit("no " + ", ".join(missing)) if missing else None`
	output, err := exec.CommandContext(t.Context(), path, append([]string{"-c", script}, modules...)...).CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		t.Skipf("%s lacks packages: %s; %s can name another Python", path, lines[len(lines)-1], variable)
	}
	return path
}
