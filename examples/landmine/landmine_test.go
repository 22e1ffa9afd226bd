// Package landmine tests the landmine example. Its tests install nothing: they
// skip, and say why, without the data or without a Python that has scikit-learn.
// FBO_PYTHON names the interpreter; the default is python3.
package landmine

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
)

const dataDir = "../../../shared/data/landmine"

// needData returns absolute paths of data files, or skips.
func needData(t *testing.T, names ...string) []string {
	t.Helper()
	var paths []string
	for _, name := range names {
		path, err := filepath.Abs(filepath.Join(dataDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			t.Skipf("the landmine data are not here: no file %s", path)
		} else if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// point is one setting of the classifier on one field.
type point struct {
	Field int     `json:"field"`
	C     float64 `json:"C"`
	Gamma float64 `json:"gamma"`
}

// evaluate calls evaluate.py for many points in one process, since most of the
// time of a process goes into importing scikit-learn.
func evaluate(t *testing.T, python, data string, points []point) []float64 {
	t.Helper()
	const script = `
import json, sys, evaluate
print(json.dumps([evaluate.auc(*evaluate.read_field(sys.argv[1], p["field"]), p["C"], p["gamma"])
                  for p in json.load(sys.stdin)]))`
	input, err := json.Marshal(points)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "-B", "-c", script, data)
	command.Stdin = bytes.NewReader(input)
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problem.Bytes())
	}
	var values []float64
	if err := json.Unmarshal(output, &values); err != nil {
		t.Fatal(err)
	}
	if len(values) != len(points) {
		t.Fatalf("%d values for %d points", len(values), len(points))
	}
	return values
}

// TestThreeFieldsEndToEnd runs the README's commands: three nodes, each on the
// data of its own field.
func TestThreeFieldsEndToEnd(t *testing.T) {
	data := needData(t, "landmine_split_fts.csv")[0]
	python := interpreter.Need(t, "sklearn")
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/fbo-node").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}

	fields := []int{5, 7, 16} // three of those whose AUC is above 0.5 on the whole grid
	const evals = 4
	var runs []*fboNode
	var peer []string
	for _, field := range fields {
		run := startNode(t, binary, python, data, field, evals, peer)
		runs = append(runs, run)
		if len(peer) == 0 {
			peer = []string{"--peer", run.address(t)}
		}
	}
	received := 0
	for i, run := range runs {
		points, values, shares := run.wait(t, fields[i])
		received += shares
		if len(values) != evals {
			t.Fatalf("field %d: %d evaluations with a value, want %d", fields[i], len(values), evals)
		}
		direct := evaluate(t, python, data, points)
		for j, value := range values {
			t.Logf("field %d: %+v gave %.4f", fields[i], points[j], value)
			if value < 0.4 || value > 1 {
				t.Errorf("field %d: AUC %g is not plausible", fields[i], value)
			}
			if value != direct[j] {
				t.Errorf("field %d: the node has %g at %+v, evaluate.py gives %g", fields[i], value, points[j], direct[j])
			}
		}
	}
	if received == 0 {
		t.Error("no node received a share of another")
	}
}

// fboNode is a running fbo-node process.
type fboNode struct {
	command *exec.Cmd
	lines   *bufio.Scanner
	problem bytes.Buffer
}

func startNode(t *testing.T, binary, python, data string, field, evals int, peer []string) *fboNode {
	t.Helper()
	args := append([]string{
		"run", "task.yaml", "--json", "--data-dir", t.TempDir(), "--evals", strconv.Itoa(evals),
		"--seed", strconv.Itoa(field), "--mdns=false", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1",
	}, peer...)
	args = append(args, "--", python, "evaluate.py", "--csv", data, "--field", strconv.Itoa(field), "--C", "{C}", "--gamma", "{gamma}")
	run := &fboNode{command: exec.CommandContext(t.Context(), binary, args...)}
	run.command.Cancel = func() error { return run.command.Process.Signal(os.Interrupt) }
	run.command.WaitDelay = 20 * time.Second
	run.command.Stderr = &run.problem
	output, err := run.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.lines = bufio.NewScanner(output)
	run.lines.Buffer(nil, 1<<20)
	if err := run.command.Start(); err != nil {
		t.Fatal(err)
	}
	return run
}

// event is what the test reads of the node's events.
type event struct {
	Event     string
	Addresses []string
	Received  int `json:"shares_received"`
	Trial     struct {
		Parameters point
		Reason     string
		Outcome    *struct{ Value float64 }
	}
}

func (r *fboNode) next(t *testing.T) (e event, more bool) {
	t.Helper()
	if !r.lines.Scan() {
		return event{}, false
	}
	if err := json.Unmarshal(r.lines.Bytes(), &e); err != nil {
		t.Fatalf("%s: %v", r.lines.Bytes(), err)
	}
	return e, true
}

func (r *fboNode) address(t *testing.T) string {
	t.Helper()
	for {
		e, more := r.next(t)
		if !more {
			t.Fatalf("the node ended without telling its address: %s", r.problem.Bytes())
		}
		if e.Event == "node_started" {
			return e.Addresses[0]
		}
	}
}

// wait returns what the node evaluated and how many shares it received.
func (r *fboNode) wait(t *testing.T, field int) (points []point, values []float64, received int) {
	t.Helper()
	for e, more := r.next(t); more; e, more = r.next(t) {
		switch e.Event {
		case "trial_finished":
			if e.Trial.Outcome == nil {
				t.Errorf("field %d: a trial failed: %s", field, e.Trial.Reason)
				continue
			}
			e.Trial.Parameters.Field = field
			points = append(points, e.Trial.Parameters)
			values = append(values, e.Trial.Outcome.Value)
		case "summary":
			received = e.Received
		}
	}
	if err := r.lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.command.Wait(); err != nil {
		t.Fatalf("field %d: %v: %s", field, err, r.problem.Bytes())
	}
	return points, values, received
}

// gridTolerance covers the step from scikit-learn 1.2.1, which made the grid,
// to the pinned version: over all 3509 points the largest difference is 0.0047,
// and 39 points differ by more than a millionth, 37 of them at gamma 0.01.
const gridTolerance = 0.005

// TestEvaluateAgreesWithTheGrid checks points of all kinds of fields, by the
// split of the CSV and by the one that evaluate.py makes.
func TestEvaluateAgreesWithTheGrid(t *testing.T) {
	paths := needData(t, "auc_grid.csv", "landmine_split_fts.csv", "landmine.csv")
	python := interpreter.Need(t, "sklearn")
	points, want := readGrid(t, paths[0], 292) // 292 is prime to the 121 points of a field
	for _, data := range paths[1:] {
		for i, got := range evaluate(t, python, data, points) {
			if math.Abs(got-want[i]) > gridTolerance {
				t.Errorf("%s, %+v: AUC %.6f, want %.6f", filepath.Base(data), points[i], got, want[i])
			}
		}
	}
	t.Logf("%d points checked twice", len(points))
}

// readGrid returns every n-th row of the grid.
func readGrid(t *testing.T, path string, n int) (points []point, aucs []float64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i := 1; i < len(rows); i += n {
		var p point
		var value float64
		text := fmt.Sprintln(rows[i][column["field"]], rows[i][column["C"]], rows[i][column["gamma"]], rows[i][column["auc_decision"]])
		if _, err := fmt.Sscan(text, &p.Field, &p.C, &p.Gamma, &value); err != nil {
			t.Fatalf("%s, row %d: %v", path, i+1, err)
		}
		points, aucs = append(points, p), append(aucs, value)
	}
	return points, aucs
}

// TestEvaluateSaysWhatIsWrong checks the errors that a user meets first.
func TestEvaluateSaysWhatIsWrong(t *testing.T) {
	python := interpreter.Need(t, "sklearn")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const header = "field,f1,f2,f3,f4,f5,f6,f7,f8,f9,label\n"
	for _, test := range []struct{ name, path, want string }{
		{"no file", filepath.Join(dir, "nothing.csv"), "No such file"},
		{"no columns", write("columns.csv", "field,f1\n3,1\n"), "has no column f2, f3"},
		{"no field", write("field.csv", header+"3,1,2,3,4,5,6,7,8,9,1\n"), "has no field 0; it has 3 to 3"},
		{"no number", write("number.csv", header+"0,1,2,3,4,nan,6,7,8,9,1\n"), "line 2: 'nan' is not accepted"},
		{"too few", write("few.csv", header+"0,1,2,3,4,5,6,7,8,9,1\n"), "two mines"},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := exec.CommandContext(t.Context(), python, "evaluate.py", "--csv", test.path, "--C", "1", "--gamma", "1").CombinedOutput()
			if err == nil {
				t.Fatalf("no error: %s", output)
			}
			if lines := strings.Count(string(output), "\n"); lines != 1 || !strings.Contains(string(output), test.want) {
				t.Errorf("%q, want one line with %q", output, test.want)
			}
		})
	}
}
