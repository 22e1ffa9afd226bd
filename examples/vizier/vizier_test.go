// Package vizier tests the example for users of OSS Vizier. Its test installs nothing: it skips, and says why,
// without a Python that has the package google-vizier. FBO_PYTHON names the interpreter; the default is python3.
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
			go func() {
				for lines.Scan() { // so that the node can go on printing
				}
			}()
			return event.Vizier, kill
		}
	}
	t.Fatalf("the node ended: %s", problem.String())
	return "", nil
}

// tune runs the example once for each client, at the same time, and returns the lines that each has printed.
func tune(t *testing.T, python, address string, names []string, args ...string) [][]string {
	t.Helper()
	printed := make([][]string, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			command := exec.CommandContext(t.Context(), python, append([]string{"tune.py", "--endpoint", address, "--client", name}, args...)...)
			var problem bytes.Buffer
			command.Stderr = &problem
			output, err := command.Output()
			if err != nil {
				t.Errorf("%s: %v\n%s%s", name, err, output, problem.Bytes())
			}
			printed[i] = strings.Split(strings.TrimSpace(string(output)), "\n")
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
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

// TestTwoClientsOverAKill: the client of OSS Vizier evaluates 30 trials by two workers, for one metric and for
// two. The node is killed in between. Nothing is lost, and each worker gets its own trial again.
func TestTwoClientsOverAKill(t *testing.T) {
	python := interpreter.Need(t, "vizier", "grpc")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/fbo-node").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, metrics := range []string{"1", "2"} {
		dir, names := t.TempDir(), []string{"a", "b"}
		address, kill := serve(t, binary, dir)
		first := tune(t, python, address, names, "--metrics", metrics, "--trials", "8", "--hold")
		kill()
		address, kill = serve(t, binary, dir)
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
		kill()
	}
}
