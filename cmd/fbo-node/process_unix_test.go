//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// patienceOfTests bounds every wait, not what is measured: the machine may be
// loaded. It is longer than nodes wait for each other by themselves, such as a
// minute for a party's turn.
const patienceOfTests = 3 * time.Minute

// object is a JSON object with few keys.
type object = map[string]any

const bowlTask = `name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 64}
strategy: {type: fts}
`

// shortTempDir is a directory whose name leaves room for the name of a socket.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fbo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(shortTempDir(t), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// join concatenates parts of a command line.
func join(parts ...[]string) (all []string) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// runLine is the beginning of a run that stays on this machine.
func runLine(taskFile, dir string, flags ...string) []string {
	return append([]string{"run", taskFile, "--data-dir", dir, "--mdns=false",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}, flags...)
}

func nodeCommand(args ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "FBO_") && !strings.HasPrefix(variable, "GOLOG_") {
			command.Env = append(command.Env, variable)
		}
	}
	// With the race detector every process would sleep for a second as it ends.
	command.Env = append(command.Env, playVariable+"=1", "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	return command
}

// ended is what a finished process left.
type ended struct {
	code           int
	stdout, stderr string
}

// call runs fbo-node to its end.
func call(t *testing.T, args ...string) ended {
	t.Helper()
	return finish(t, nodeCommand(args...))
}

func finish(t *testing.T, command *exec.Cmd) ended {
	t.Helper()
	return finishAnd(t, command, func() {})
}

// finishAnd does something else while the command runs.
func finishAnd(t *testing.T, command *exec.Cmd, meanwhile func()) ended {
	t.Helper()
	var stdout, stderr progress
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = patienceOfTests // who outlives it may still hold its output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	slow := time.AfterFunc(patienceOfTests, func() { _ = command.Process.Signal(syscall.SIGQUIT) })
	defer slow.Stop()
	stdout.watch(slow)
	stderr.watch(slow)
	done := make(chan struct{})
	go func() {
		defer close(done)
		meanwhile()
	}()
	err := command.Wait()
	<-done
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// progress is the output of a command. Each write extends the time that the command has.
type progress struct {
	mu   sync.Mutex
	text bytes.Buffer
	slow *time.Timer
}

func (p *progress) watch(slow *time.Timer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = slow
}

func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slow != nil && p.slow.Stop() { // it has not fired
		p.slow.Reset(patienceOfTests)
	}
	return p.text.Write(data)
}

// String returns the output so far.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// must is call for what has to work.
func must(t *testing.T, args ...string) string {
	t.Helper()
	e := call(t, args...)
	if e.code != base.ExitDone || e.stderr != "" {
		t.Fatalf("%q: exit code %d\n%s%s", args, e.code, e.stdout, e.stderr)
	}
	return e.stdout
}

// demoTask reads the demo's task file.
func demoTask(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../internal/cli/democmd/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shownEvent has the keys that most events of run --json and keep --json have.
type shownEvent struct {
	Event     string      `json:"event"`
	Addresses []string    `json:"addresses"`
	Trial     *shownTrial `json:"trial"`
	Best      *shownTrial `json:"best"`
	Message   string      `json:"message"`
	URL       string      `json:"url"`
}

// shownTrial is a trial as commands print it.
type shownTrial struct {
	ID         uint64            `json:"id"`
	Parameters json.RawMessage   `json:"parameters"`
	Why        strategy.Why      `json:"why"`
	Outcome    *strategy.Outcome `json:"outcome"`
	Reason     string            `json:"reason"`
}

// event is any line of run --json.
type event struct {
	shownEvent
	Peer             string   `json:"peer"`
	Kind             string   `json:"kind"`
	Added            int      `json:"added"`
	Known            int      `json:"known"`
	PeerID           string   `json:"peer_id"`
	Evaluations      int      `json:"evaluations"`
	Failed           int      `json:"failed"`
	Stopped          int      `json:"stopped"`
	Imported         int      `json:"imported"`
	ModelBasedTrials int      `json:"model_based_trials"`
	Retried          []uint64 `json:"retried"`
	Seconds          float64  `json:"seconds"`
	Authors          int      `json:"authors"`
	OwnShares        int      `json:"own_shares"`
	UnusableReason   string   `json:"unusable_reason"`
	Open             bool     `json:"open"`
	Tag              string   `json:"tag"`
	Name             string   `json:"name"`
	Tasks            int      `json:"tasks"`
	Socket           string   `json:"socket"`
	Vizier           string   `json:"vizier"`

	Stamp protocol.Stamp      `json:"stamp"`
	Item  strategy.StatusItem `json:"item"`

	at time.Time // when it was read
}

// process is a running `fbo-node run --json`.
type process struct {
	command *exec.Cmd
	began   time.Time // when it was started
	stderr  bytes.Buffer
	ended   chan struct{}
	endedAt time.Time // once ended is closed

	mu      sync.Mutex
	events  []event
	lines   []byte   // as they were printed
	bad     []string // lines that are no event
	changed chan struct{}
}

// start runs until the test ends, at the latest.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	return startCommand(t, nodeCommand(args...))
}

func startCommand(t testing.TB, command *exec.Cmd) *process {
	t.Helper()
	p := newProcess(command)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%q\nevents: %+v\nstderr: %s", command.Args, p.all(), p.stderr.String())
		}
	})
	p.launch(t)
	return p
}

func newProcess(command *exec.Cmd) *process {
	return &process{command: command, ended: make(chan struct{}), changed: make(chan struct{})}
}

// launch starts the command. It runs until the test ends, at the latest.
func (p *process) launch(t testing.TB) {
	t.Helper()
	p.command.Stderr = &p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.began = time.Now()
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.note(lines.Bytes())
		}
		_ = p.command.Wait() // its state tells
		p.endedAt = time.Now()
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		<-p.ended
	})
}

func (p *process) note(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(append(p.lines, line...), '\n')
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Event == "" {
		p.bad = append(p.bad, string(line))
	}
	e.at = time.Now()
	p.events = append(p.events, e)
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *process) all() []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]event(nil), p.events...)
}

// printed is all of standard output so far.
func (p *process) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.lines)
}

// of returns the events so far of one kind.
func (p *process) of(kind string) (found []event) {
	for _, e := range p.all() {
		if e.Event == kind {
			found = append(found, e)
		}
	}
	return found
}

// await waits for an event that may have happened already.
func (p *process) await(t testing.TB, what string, matches func(event) bool) event {
	t.Helper()
	return p.awaitAfter(t, 0, what, matches)
}

// awaitAfter leaves out the first events.
func (p *process) awaitAfter(t testing.TB, skip int, what string, matches func(event) bool) event {
	t.Helper()
	deadline := time.After(patienceOfTests)
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		for i, e := range p.all() {
			if i >= skip && matches(e) {
				return e
			}
		}
		select {
		case <-changed:
		case <-p.ended:
			for i, e := range p.all() { // the last lines may have come meanwhile
				if i >= skip && matches(e) {
					return e
				}
			}
			t.Fatalf("the node ended (%v) before %s; standard error: %s", p.command.ProcessState, what, p.stderr.String())
		case <-deadline:
			t.Fatalf("never seen: %s", what)
		}
	}
}

// sharesOf waits until a node has got weights of a peer, after what it had got
// before, and returns how long that took.
func (p *process) sharesOf(t testing.TB, peer, what string, skip int) time.Duration {
	t.Helper()
	began := time.Now()
	p.awaitAfter(t, skip, what, func(e event) bool {
		return e.Event == "share_received" && e.Kind == "weights" && e.Peer == peer
	})
	return time.Since(began)
}

func isEvent(kind string) func(event) bool {
	return func(e event) bool { return e.Event == kind }
}

func (p *process) address(t testing.TB) string {
	t.Helper()
	return p.await(t, "its addresses", isEvent("node_started")).Addresses[0]
}

func (p *process) signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit code.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patienceOfTests):
		p.signal(t, syscall.SIGQUIT)
		<-p.ended
		t.Fatalf("the node does not end:\n%s", p.stderr.String())
	}
	if len(p.bad) > 0 {
		t.Errorf("lines that are no event: %q", p.bad)
	}
	return p.command.ProcessState.ExitCode()
}

// trialJSON is a trial as history --json prints it.
type trialJSON struct {
	shownTrial
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
}

func historyOf(t *testing.T, dir string) []trialJSON {
	t.Helper()
	var trials []trialJSON
	decode(t, must(t, "history", "--json", "--data-dir", dir), &trials)
	return trials
}

func statusOf(t *testing.T, dir string, args ...string) (s statusView) {
	t.Helper()
	decode(t, must(t, append([]string{"status", "--json", "--data-dir", dir}, args...)...), &s)
	return s
}

// statusView is what status --json prints.
type statusView struct {
	Running   bool                  `json:"running"`
	Keeping   bool                  `json:"keeping"`
	Task      string                `json:"task"`
	Tag       string                `json:"tag"`
	Name      string                `json:"name"`
	Starts    uint64                `json:"starts"`
	Trials    map[string]int        `json:"trials"`
	Best      *shownTrial           `json:"best"`
	PeerID    string                `json:"peer_id"`
	Addresses []string              `json:"addresses"`
	Peers     []node.Link           `json:"peers"`
	Hubs      []node.HubLink        `json:"hubs"`
	Items     []strategy.StatusItem `json:"items"`

	TaskMismatches []node.TaskMismatch `json:"task_mismatches"`
}

// path is how the node is connected to a peer, empty when it is not.
func (s statusView) path(peer string) string {
	for _, link := range s.Peers {
		if link.ID.String() == peer {
			return link.Path
		}
	}
	return ""
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}
