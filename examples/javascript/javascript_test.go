// Package javascript tests the example in JavaScript. Without Node.js 18 or newer it skips, with the reason.
package javascript

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/outage"
)

// oldest is the oldest supported major version of Node.js.
const oldest = 18

func needNode(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short: it trains real networks")
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("there is no Node.js: %v", err)
	}
	version, err := exec.CommandContext(t.Context(), path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if number, err := strconv.Atoi(major); err != nil || number < oldest {
		t.Skipf("Node.js has version %s; expected %d or newer", strings.TrimSpace(string(version)), oldest)
	}
	return path
}

func TestWorkerOutlivesItsNode(t *testing.T) {
	outage.Check(t, map[string]any{"learning_rate": 30, "momentum": 0.99, "hidden": 32, "activation": "tanh"}, needNode(t), "worker.mjs")
}

// TestMissingVariables starts the worker without an environment.
func TestMissingVariables(t *testing.T) {
	command := exec.CommandContext(t.Context(), needNode(t), "worker.mjs", "3")
	command.Env = []string{}
	if output, err := command.CombinedOutput(); command.ProcessState.ExitCode() != 2 || !strings.HasPrefix(string(output), "usage: ") {
		t.Errorf("without variables: %v, %s", err, output)
	}
}
