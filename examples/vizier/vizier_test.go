// Package vizier tests the example for users of OSS Vizier. Its test installs nothing: it skips
// with the reason without a Python that has the package google-vizier. FBO_PYTHON names the interpreter; the default is python3.
package vizier

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
)

// serve starts a node and returns the address of its service for Vizier. kill ends it without a warning.
func serve(t *testing.T, binary, dir string) (address string, kill func()) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "serve", "--json", "--data-dir", dir, "--mdns=false",
		"--listen", "/ip4/127.0.0.1/tcp/0", "--vizier", "127.0.0.1:0")
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()         // killed
	})
	t.Cleanup(kill)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var event struct{ Event, Vizier string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Event == "serving" {
			return event.Vizier, kill // the pipe has room for the few lines that follow
		}
	}
	t.Fatalf("the node ended: %s", problem.String())
	return "", nil
}

// tune runs the example once for each client, at the same time, and returns the lines that each has printed.
func tune(t *testing.T, python, address string, names []string, args ...string) [][]string {
	t.Helper()
	commands, output, problem := make([]*exec.Cmd, len(names)), make([]bytes.Buffer, len(names)), make([]bytes.Buffer, len(names))
	for i, name := range names {
		commands[i] = exec.CommandContext(t.Context(), python, append([]string{"tune.py", "--endpoint", address, "--client", name}, args...)...)
		commands[i].Stdout, commands[i].Stderr = &output[i], &problem[i]
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	printed := make([][]string, len(names))
	for i, command := range commands {
		if err := command.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s%s", names[i], err, output[i].String(), problem[i].String())
		}
		printed[i] = strings.Split(strings.TrimSpace(output[i].String()), "\n")
	}
	return printed
}

// summary is a trial as the example prints it.
type summary struct {
	ID         int
	State      string
	Client     string
	Infeasible bool
	Values     map[string]float64
	WrittenBy  string `json:"written_by"`
	Steps      int
	Optimal    bool
}

// TestTwoClientsOverAKill: the client of OSS Vizier evaluates 30 trials by two workers, with early stopping. The
// node is killed in between.
func TestTwoClientsOverAKill(t *testing.T) { checkTwoClients(t, "1") }

// checkTwoClients checks that nothing is lost over a kill, and that each worker gets its own trial again.
func checkTwoClients(t *testing.T, metrics string) {
	t.Helper()
	python := interpreter.Need(t, "vizier", "grpc")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/fbo-node").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	dir, names := t.TempDir(), []string{"a", "b"}
	address, kill := serve(t, binary, dir)
	first := tune(t, python, address, names, "--metrics", metrics, "--trials", "8", "--hold")
	kill()
	address, _ = serve(t, binary, dir)
	second := tune(t, python, address, names, "--metrics", metrics, "--trials", "7")
	owner := map[string]string{}
	for i, name := range names {
		held, _, _ := strings.Cut(first[i][8], " ")
		if again, _, _ := strings.Cut(second[i][0], " "); again != held {
			t.Errorf("client %s held trial %s, and gets %s after the kill", name, held, again)
		}
		for _, line := range slices.Concat(first[i], second[i]) {
			id, _, _ := strings.Cut(line, " ")
			if other := owner[id]; other != "" && other != name {
				t.Errorf("trial %s was given to %s and %s", id, other, name)
			}
			owner[id] = name
		}
	}
	infeasible, stopped, optimal := 0, 0, 0
	lines := tune(t, python, address, names[:1], "--metrics", metrics, "--trials", "0", "--summary")[0]
	for _, line := range lines {
		var trial summary
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch {
		case trial.State != "COMPLETED":
			t.Errorf("trial %+v: expected all to be completed", trial)
		case trial.Infeasible:
			infeasible++
		case metrics == "2" && len(trial.Values) != 2, metrics == "1" && (len(trial.Values) != 1 || trial.Steps == 0):
			t.Errorf("values of trial %+v", trial)
		case trial.WrittenBy == "" && metrics == "1":
			stopped++
		case trial.WrittenBy != trial.Client:
			t.Errorf("metadata of trial %+v", trial)
		}
		if trial.Optimal {
			optimal++
		}
	}
	if len(lines) != 30 || len(owner) != 30 || optimal == 0 {
		t.Errorf("%d trials, %d of them evaluated, %d optimal; expected 30, all, and some", len(lines), len(owner), optimal)
	}
	t.Logf("%s metrics: %d infeasible, %d stopped early, %d optimal", metrics, infeasible, stopped, optimal)
}
