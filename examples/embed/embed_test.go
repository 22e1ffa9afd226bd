package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// TestEmbedTwoProcessesMeetAndResume runs two devices as processes of their own, each with one of
// the two forms of the loop: they meet, stop at an interrupt, and continue.
func TestEmbedTwoProcessesMeetAndResume(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: it builds and runs two processes")
	}
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	binary := filepath.Join(t.TempDir(), "embed")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	first, second := t.TempDir(), t.TempDir()

	one := startDevice(t, binary, "--dir", first, "--device", "1", "--seed", "1", "--evals", "0")
	_, address, _ := strings.Cut(one.until("--peer "), "--peer ")
	two := startDevice(t, binary, "--dir", second, "--device", "2", "--seed", "2", "--evals", "0", "--loop", "--peer", address)
	one.until("other devices: 1")
	two.until("other devices: 1")
	for _, d := range []*device{one, two} {
		d.until("by 1 peer)")
		d.interrupt()
		d.until("stopped;")
		line := d.until(" with the help of ")
		var trials, failed, fromPeers int
		if _, err := fmt.Sscanf(line, "%d trials, %d failed, %d designs", &trials, &failed, &fromPeers); err != nil || fromPeers < 1 {
			t.Errorf("%q, although a design came from the other device", line)
		}
		d.until("best: ")
		d.end()
	}

	again := startDevice(t, binary, "--dir", first, "--device", "1", "--seed", "1", "--evals", "6", "--pace", "1ms")
	line := again.until("continuing after ")
	var ended int
	if _, err := fmt.Sscanf(line, "continuing after %d evaluations", &ended); err != nil || ended < 1 {
		t.Errorf("%q: the results of the first start are not there", line)
	}
	if ended < 6 {
		again.until(fmt.Sprintf("trial %d:", ended+1))
	}
	again.end()
}

// device is a running process of this program.
type device struct {
	t       *testing.T
	command *exec.Cmd
	lines   *bufio.Scanner
	seen    []string
	problem bytes.Buffer
}

func startDevice(t *testing.T, binary string, args ...string) *device {
	t.Helper()
	d := &device{t: t, command: exec.CommandContext(t.Context(), binary, append(args, "--listen", "/ip4/127.0.0.1/udp/0/quic-v1")...)}
	d.command.Stderr = &d.problem
	output, err := d.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.lines = bufio.NewScanner(output)
	if err := d.command.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(5*time.Minute, func() { _ = d.command.Process.Kill() })
	t.Cleanup(func() {
		stuck.Stop()
		_ = d.command.Process.Kill() // has ended, unless the test failed
	})
	return d
}

// until reads up to the next line that holds the text.
func (d *device) until(text string) string {
	d.t.Helper()
	for d.lines.Scan() {
		d.seen = append(d.seen, d.lines.Text())
		if strings.Contains(d.lines.Text(), text) {
			return d.lines.Text()
		}
	}
	d.t.Fatalf("no line with %q in:\n%s\n%s", text, strings.Join(d.seen, "\n"), d.problem.Bytes())
	return ""
}

func (d *device) interrupt() {
	d.t.Helper()
	if err := d.command.Process.Signal(os.Interrupt); err != nil {
		d.t.Fatal(err)
	}
}

// end waits for exit code 0.
func (d *device) end() {
	d.t.Helper()
	for d.lines.Scan() {
		d.seen = append(d.seen, d.lines.Text())
	}
	if err := d.command.Wait(); err != nil {
		d.t.Errorf("%v\n%s\n%s", err, strings.Join(d.seen, "\n"), d.problem.Bytes())
	}
}

// A design counts whatever form of sharing it came from.
func TestTallyCountsDesignsFromPeers(t *testing.T) {
	trials := []strategy.Trial{
		{State: strategy.Done, Why: strategy.Why{Source: strategy.Initial}},
		{State: strategy.Done, Why: strategy.Why{Source: strategy.Own}},
		{State: strategy.Failed, Why: strategy.Why{Source: "peers", PeerCount: 2}},
		{State: strategy.Done, Why: strategy.Why{Source: "peer", Peer: "someone"}},
		{State: strategy.Running, Why: strategy.Why{Source: "density", PeerCount: 1}},
	}
	if got, want := tally(trials), "5 trials, 1 failed, 3 designs with the help of other devices"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
