// Package outage tests the workers of examples in other languages: it runs a worker against the process of a
// node that starts after the worker, and is killed and started again in between.
package outage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// evaluations is the number of evaluations of the worker; the node is killed after killAfter of them.
const (
	evaluations = 8
	killAfter   = 3
)

// patience bounds every wait: the machine may be loaded.
const patience = 4 * time.Minute

// repeats is what a worker prints when it repeats a request.
const repeats = "the request is repeated"

// printed is the line of a worker about a trial with an outcome.
var printed = regexp.MustCompile(`^trial (\d+): loss ([0-9.]+), accuracy`)

// Check runs a worker, which evaluates the task of task.yaml as often as its last argument states. The worker
// finds the node by FBO_DATA_DIR, or by FBO_URL and FBO_TOKEN. The first design is diverging, which the worker must
// report as failed. Every value that the worker prints must be stored once.
func Check(t *testing.T, diverging map[string]any, name string, args ...string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "fbo-node.exe") // Windows insists on the ending
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/fbo-node").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	dir, err := os.MkdirTemp("", "fbo") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := "127.0.0.1:0"
	serve := func() (kill func()) {
		kill, address = startNode(t, binary, "serve", "--json", "--data-dir", dir, "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0", "--http", address)
		return kill
	}
	kill := serve()
	create(t, dir, diverging)
	kill() // the first request of the worker finds no node

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	worker := exec.CommandContext(ctx, name, append(args, strconv.Itoa(evaluations))...)
	worker.Env = append(os.Environ(), "FBO_DATA_DIR="+dir, "FBO_URL=http://"+address, "FBO_TOKEN="+filepath.Join(dir, "http.token"))
	stdout, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	problems := newWatch(repeats)
	worker.Stderr = problems
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	problems.await(ctx, t)
	kill = serve()
	values, lines := map[uint64]string{}, 0
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		if m := printed.FindStringSubmatch(scanner.Text()); m != nil {
			id, err := strconv.ParseUint(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[id] = m[2]
		}
		if lines++; lines == killAfter {
			kill()
			serve()
		}
	}
	if err := worker.Wait(); err != nil {
		t.Fatalf("the worker: %v\n%s", err, problems)
	}

	history, err := exec.CommandContext(ctx, binary, "history", "--json", "--data-dir", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	var trials []struct {
		ID      uint64
		State   string
		Reason  string
		Cost    *float64
		Outcome struct {
			Value   float64
			Metrics map[string]float64
		}
	}
	if err := json.Unmarshal(history, &trials); err != nil {
		t.Fatal(err)
	}
	if len(trials) != evaluations || trials[0].State != "failed" || !strings.Contains(trials[0].Reason, "the training diverged") {
		t.Fatalf("%d trials, expected %d, of which the first has diverged:\n%s", len(trials), evaluations, history)
	}
	done := 0
	for _, one := range trials {
		if one.State != "done" {
			continue
		}
		done++
		if stored := fmt.Sprintf("%.4f", one.Outcome.Value); stored != values[one.ID] || one.Outcome.Metrics["accuracy"] <= 0 || one.Cost == nil {
			t.Errorf("trial %d: the worker printed %q, stored are %+v", one.ID, values[one.ID], one)
		}
	}
	if done != len(values) || done < 2 {
		t.Errorf("%d trials are done, the worker printed %d values:\n%s", done, len(values), history)
	}
}

// url is the address in the events of a node.
var url = regexp.MustCompile(`"url":"http://([^"]+)"`)

// startNode starts a node, and waits until it serves. It returns the host and port of its interface.
func startNode(t *testing.T, name string, args ...string) (kill func(), address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command, output := exec.CommandContext(ctx, name, args...), newWatch(`"event":"serving"`)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill = func() { once.Do(func() { cancel(); _ = command.Wait() }) } // it ends by the signal
	t.Cleanup(kill)
	waiting, end := context.WithTimeout(ctx, patience)
	defer end()
	output.await(waiting, t)
	found := url.FindStringSubmatch(output.String())
	if found == nil {
		t.Fatalf("the node prints no address: %s", output)
	}
	return kill, found[1]
}

// create joins the task of task.yaml with a first design.
func create(t *testing.T, dir string, first map[string]any) {
	t.Helper()
	text, err := os.ReadFile("task.yaml")
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"text": string(text), "enqueue": []any{first}})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "control.sock"))
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Post("http://node/v1/tasks", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("the task: %s", response.Status)
	}
}

// watch keeps what is written, and closes seen once it contains a text.
type watch struct {
	seen chan struct{}
	want string

	mu    sync.Mutex
	text  string
	found bool
}

func newWatch(want string) *watch { return &watch{seen: make(chan struct{}), want: want} }

// Write adds to the text.
func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text += string(p)
	if !w.found && strings.Contains(w.text, w.want) {
		w.found = true
		close(w.seen)
	}
	return len(p), nil
}

// await waits for the text.
func (w *watch) await(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-w.seen:
	case <-ctx.Done():
		t.Fatalf("never printed: %s; printed: %s", w.want, w)
	}
}

// String returns the text so far.
func (w *watch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}
