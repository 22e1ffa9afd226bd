//go:build unix

package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/taskref"
)

// notRunning holds status --running to exit code 1 and one line.
func notRunning(t *testing.T, want string, args ...string) {
	t.Helper()
	e := call(t, append([]string{"status", "--running"}, args...)...)
	if e.code != base.ExitFailed || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, want) {
		t.Errorf("%q: exit code %d, want %d and %q\n%s%s", args, e.code, base.ExitFailed, want, e.stdout, e.stderr)
	}
}

// The exit code of status --running tells a node that runs from none, whether it
// has never run, has stopped or was killed.
func TestStatusRunning(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	other := writeFile(t, "other.yaml", strings.Replace(bowlTask, "bowl", "other", 1))
	none := "no node and no hub runs on data directory " + dir
	notRunning(t, none, "--data-dir", dir)
	notRunning(t, none, "--data-dir", dir+"/missing")
	for _, ending := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p := start(t, join(runLine(file, dir, "--json"), objective("steady"))...)
		p.await(t, "its start", isEvent("trial_started"))
		id := statusOf(t, dir).Task
		if got, want := must(t, "status", "--running", "--data-dir", dir), "node      running, task bowl, id "+id+"\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		must(t, "status", "--running", "--data-dir", dir, file)
		notRunning(t, "works on task bowl ("+taskref.Short(id)+")", "--data-dir", dir, other)
		var r struct {
			Running bool
			Node    *struct{ Task, Name string }
			Hub     any
		}
		decode(t, must(t, "status", "--running", "--json", "--data-dir", dir), &r)
		if !r.Running || r.Node == nil || r.Node.Task != id || r.Node.Name != "bowl" || r.Hub != nil {
			t.Errorf("%+v", r)
		}
		p.signal(t, ending)
		p.wait(t)
		notRunning(t, none, "--data-dir", dir)
		notRunning(t, "no node runs on data directory "+dir, "--data-dir", dir, file)
		if e := call(t, "status", "--running", "--json", "--data-dir", dir); e.code != base.ExitFailed || e.stdout != "{\"running\":false}\n" {
			t.Errorf("exit code %d, %q", e.code, e.stdout)
		}
	}
	if e := call(t, "status", "--running", "--data-dir", dir, "missing.yaml"); e.code != base.ExitUsage {
		t.Errorf("a missing task file: exit code %d, %q", e.code, e.stderr)
	}
}

// A hub is found in its own directory and in the data directory around it, and
// counts for no task.
func TestStatusRunningOfHub(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	command := nodeCommand("hub", "--json", "--listen", "/ip4/127.0.0.1/tcp/0")
	command.Env = append(command.Env, base.DataDirVariable+"="+dir)
	hub := startCommand(t, command)
	id := hub.await(t, "its start", isEvent("hub_started")).PeerID
	for _, place := range []string{dir, filepath.Join(dir, "hub")} {
		if got, want := must(t, "status", "--running", "--data-dir", place), "hub       "+id+", running\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	notRunning(t, "no node runs", "--data-dir", dir, file)
	hub.signal(t, syscall.SIGTERM)
	if code := hub.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, hub.stderr.String())
	}
	notRunning(t, "no node and no hub runs", "--data-dir", dir)
	left, err := os.ReadDir(filepath.Join(dir, "hub"))
	if err != nil || len(left) != 1 || left[0].Name() != "identity.key" {
		t.Errorf("the hub left %v, %v", left, err)
	}
}

// A process that hangs does not count as running.
func TestStatusRunningOfHanging(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	listener, err := net.Listen("unix", filepath.Join(dir, control.Socket)) // accepts in the kernel, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	notRunning(t, "the running node: it does not answer within 5s", "--data-dir", dir)
}
