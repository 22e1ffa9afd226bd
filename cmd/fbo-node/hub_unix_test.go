//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/node"
)

// Nodes need one flag, --hub, to find each other.
func TestRunFindsPeersThroughHubFlag(t *testing.T) {
	t.Parallel()
	hubDir := shortTempDir(t)
	hub := start(t, "hub", "--json", "--data-dir", hubDir, "--listen", "/ip4/127.0.0.1/tcp/0")
	begun := hub.await(t, "its start", isEvent("hub_started"))
	if !begun.Open || len(begun.Addresses) != 1 {
		t.Fatalf("%+v", begun)
	}
	file := writeFile(t, "task.yaml", bowlTask)
	var dirs, ids []string
	var nodes []*process
	for range 2 {
		dir := shortTempDir(t)
		p := start(t, join(runLine(file, dir, "--json", "--hub", begun.Addresses[0]), objective("steady"))...)
		dirs, nodes = append(dirs, dir), append(nodes, p)
		ids = append(ids, p.await(t, "its start", isEvent("node_started")).PeerID)
	}
	for i, p := range nodes {
		p.sharesOf(t, ids[1-i], "a share of the other", 0)
		var s statusView
		for began := time.Now(); time.Since(began) < patienceOfTests; time.Sleep(50 * time.Millisecond) {
			// Peers may meet before that, and through the hub at first.
			if s = statusOf(t, dirs[i]); len(s.Hubs) == 1 && s.Hubs[0].Reachable && s.path(ids[1-i]) == node.Direct {
				break
			}
		}
		if got := s.path(ids[1-i]); got != node.Direct {
			t.Errorf("the path is %q", got)
		}
		if len(s.Hubs) != 1 || s.Hubs[0].ID.String() != begun.PeerID || !s.Hubs[0].Connected || !s.Hubs[0].Reachable {
			t.Errorf("hubs %+v", s.Hubs)
		}
		text := must(t, "status", "--data-dir", dirs[i])
		for _, want := range []string{
			`(?m)^peer      ` + ids[1-i] + `, direct, /ip4/127\.0\.0\.1/\S+$`,
			`(?m)^hub       ` + begun.PeerID + `, connected, relays to this node$`,
		} {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%s is missing in\n%s", want, text)
			}
		}
	}
	hub.signal(t, syscall.SIGINT)
	if code := hub.wait(t); code != base.ExitDone || hub.stderr.Len() > 0 || len(hub.of("interrupted")) != 1 {
		t.Errorf("exit code %d, %+v, %s", code, hub.all(), hub.stderr.String())
	}
	for i, p := range nodes { // what is direct needs no hub
		p.sharesOf(t, ids[1-i], "a share without the hub", len(p.all()))
	}
	text := shortHub(t, hubDir)
	want := `\Ahub ` + begun.PeerID + `, data in \S+\n` +
		`nodes use it with --hub /ip4/127\.0\.0\.1/tcp/\d+/p2p/` + begun.PeerID + `\n` +
		`The hub is open: .*--allow FILE.*\nstopped; .*\n\z`
	if !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}

// shortHub runs a hub for people until it answers, and returns what it prints.
func shortHub(t *testing.T, dir string) string {
	t.Helper()
	command := nodeCommand("hub", "--data-dir", dir, "--listen", "/ip4/127.0.0.1/tcp/0")
	e := finishAnd(t, command, func() {
		for began := time.Now(); time.Since(began) < patienceOfTests; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, control.HubSocket)); err == nil {
				break
			}
		}
		_ = command.Process.Signal(syscall.SIGINT)
	})
	if e.code != base.ExitDone || e.stderr != "" {
		t.Fatalf("exit code %d, %s", e.code, e.stderr)
	}
	return e.stdout
}
