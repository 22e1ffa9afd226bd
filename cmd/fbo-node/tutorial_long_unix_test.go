//go:build long && unix

package main_test

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// guest is a process that a reader of a page has started in a terminal of its own.
type guest struct {
	command *exec.Cmd
	output  string // a file
	ended   chan struct{}
}

// begin starts the one command of a block.
func (f follower) begin(t *testing.T, text string) *guest {
	t.Helper()
	output, err := os.CreateTemp(shortTempDir(t), "output")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	g := &guest{command: exec.Command("/bin/sh", "-c", "exec "+text), output: output.Name(), ended: make(chan struct{})}
	g.command.Dir, g.command.Env = f.dir, f.env
	g.command.Stdout, g.command.Stderr = output, output
	if err := g.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(g.ended)
		_ = g.command.Wait() // its state tells
	}()
	t.Cleanup(func() {
		_ = g.command.Process.Kill()
		<-g.ended
	})
	return g
}

// printed is what the command has printed so far.
func (g *guest) printed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(g.output)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wait returns what was printed by a command that ends well.
func (g *guest) wait(t *testing.T) string {
	t.Helper()
	select {
	case <-g.ended:
	case <-time.After(patienceOfTests):
		t.Fatalf("%q does not end", g.command.Args)
	}
	if code := g.command.ProcessState.ExitCode(); code != base.ExitDone {
		t.Fatalf("%q: exit code %d\n%s", g.command.Args, code, g.printed(t))
	}
	return g.printed(t)
}

// trialsOf counts the trials of a data directory that have an outcome.
func (f follower) trialsOf(t *testing.T, dir string) (done int) {
	t.Helper()
	command := nodeCommand("history", "--json", "--data-dir", dir)
	command.Dir = f.dir
	out, err := command.Output()
	if err != nil {
		return 0 // not yet begun
	}
	var trials []trialJSON
	decode(t, string(out), &trials)
	for _, trial := range trials {
		if trial.State == "done" {
			done++
		}
	}
	return done
}

// awaitTrials waits until a site has so many outcomes.
func (f follower) awaitTrials(t *testing.T, dir string, count int) {
	t.Helper()
	for begun := time.Now(); f.trialsOf(t, dir) < count; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patienceOfTests {
			t.Fatalf("%s never has %d outcomes", dir, count)
		}
	}
}

// staysHere makes a reader's commands use this machine's loopback network alone, and
// a Python with scikit-learn.
func (f *follower) staysHere(t *testing.T, python string) {
	t.Helper()
	bin := shortTempDir(t)
	local := "--listen /ip4/127.0.0.1/tcp/0"
	path, err := exec.LookPath(python)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"fbo-node": fmt.Sprintf("#!/bin/sh\nexport %s=1\ncommand=$1\nshift\n"+
			"case $command in\nrun) set -- --mdns=false %s \"$@\";;\nhub) set -- --data-dir hub %s \"$@\";;\nesac\n"+
			"exec '%s' $command \"$@\"\n", playVariable, local, local, os.Args[0]),
		"python": fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", path),
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.env = append(f.env, "PATH="+bin+":"+os.Getenv("PATH"))
}

// TestLongTutorial follows docs/tutorial.md: three sites with a Python script, one
// killed, one stopped and continued, one added when the others have ended, results as
// CSV, and a worker.
func TestLongTutorial(t *testing.T) {
	f := newFollower(t)
	f.staysHere(t, pythonWith(t, "sklearn"))
	var shell []string
	for _, b := range blocksOf(t, "tutorial.md") {
		if b.file != "" {
			f.follow(t, b)
		} else {
			shell = append(shell, strings.TrimSpace(b.text))
		}
	}
	const check, id, invite, hubLine, sites, goOn, state, late, results, worker, count = 0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12
	if len(shell) != count {
		t.Fatalf("the page has %d blocks of commands, the test knows %d", len(shell), count)
	}
	if out := f.follow(t, block{text: shell[check]}); !regexp.MustCompile(`(?m)^0\.\d+$`).MatchString(out) {
		t.Errorf("no error of the training in\n%s", out)
	}
	f.follow(t, block{text: shell[id]})
	f.follow(t, block{text: shell[invite]})

	hub := f.begin(t, shell[hubLine])
	address := ""
	for begun := time.Now(); address == "" && time.Since(begun) < patienceOfTests; time.Sleep(50 * time.Millisecond) {
		if m := regexp.MustCompile(`--hub (/ip4/127\S+)`).FindStringSubmatch(hub.printed(t)); m != nil {
			address = m[1]
		}
	}
	f.env = append(f.env, "HUB="+address)

	var running []*guest
	for _, text := range shell[sites : sites+3] {
		running = append(running, f.begin(t, text))
	}
	f.awaitTrials(t, "site1", 3)
	_ = running[1].command.Process.Signal(syscall.SIGKILL)
	<-running[1].ended
	again := f.begin(t, shell[sites+1])
	f.awaitTrials(t, "site2", 3)
	_ = running[2].command.Process.Signal(syscall.SIGINT)
	running[2].wait(t)
	third := f.begin(t, shell[goOn])
	running[0].wait(t)
	if out := again.wait(t); !strings.Contains(out, "resumes after") {
		t.Errorf("the site that was killed does not report what it resumes:\n%s", out)
	}
	third.wait(t)
	for dir, want := range map[string]int{"site0": 10, "site1": 10, "site2": 12} {
		if got := f.trialsOf(t, dir); got != want {
			t.Errorf("%s has %d outcomes, want %d", dir, got, want)
		}
	}
	f.follow(t, block{text: shell[state]})

	fourth := f.begin(t, shell[late]).wait(t)
	if !strings.Contains(fourth, "received shares from 3 nodes") || strings.Contains(fourth, "[random start]") {
		t.Errorf("the site that came later printed\n%s", fourth)
	}
	f.follow(t, block{text: shell[results]})
	file, err := os.Open(filepath.Join(f.dir, "site3.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(bufio.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 6 {
		t.Errorf("%d rows in the CSV file, %v", len(rows), err)
	}
	f.begin(t, shell[worker]).wait(t)
	if got := f.trialsOf(t, "site3"); got != 10 {
		t.Errorf("with the worker there are %d outcomes, want 10", got)
	}
}
