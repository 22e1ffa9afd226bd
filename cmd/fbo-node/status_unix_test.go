//go:build unix

package main_test

import (
	"encoding/csv"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/taskref"
)

func TestStatusAndHistoryWhileRunningAndAfter(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	other := writeFile(t, "other.yaml", strings.Replace(bowlTask, "bowl", "other", 1))
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address, "4"))...)
	h := g.next(t)
	started := p.await(t, "its start", isEvent("node_started"))

	s := statusOf(t, dir)
	if !s.Running || s.Name != "bowl" || s.Starts != 1 || s.Trials["done"] != 3 || s.Trials["running"] != 1 || s.Best == nil ||
		s.PeerID != started.PeerID || len(s.Addresses) != len(started.Addresses) {
		t.Errorf("status %+v", s)
	}
	if byFile := statusOf(t, dir, file); byFile.Task != s.Task {
		t.Errorf("status by file %+v", byFile)
	}
	if byID := statusOf(t, dir, s.Task); byID.Task != s.Task {
		t.Errorf("status by ID %+v", byID)
	}
	text := must(t, "status", "--data-dir", dir)
	for _, want := range []string{
		"task      bowl\n", "id        " + s.Task + "\n", "trials    3 done, 0 failed, 1 running, 0 waiting\n", "best      ",
		"node      " + started.PeerID + ", running, start number 1\n", "model     exact, all 3 results\n", "address   " + started.Addresses[0] + "\n", "peers     0 connected",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	running := historyOf(t, dir)
	if len(running) != 4 || running[3].State != "running" {
		t.Errorf("history %+v", running)
	}
	e := call(t, "status", "--data-dir", dir, other)
	if e.code == base.ExitDone || !strings.Contains(e.stderr, "works on task bowl ("+taskref.Short(s.Task)+"), and not on task ") {
		t.Errorf("another task: exit code %d, %q", e.code, e.stderr)
	}
	info, err := os.Stat(dir + "/control.sock")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the control socket: %v, %v", info, err)
	}

	p.signal(t, syscall.SIGINT)
	h.waitGone(t)
	p.wait(t)
	after := historyOf(t, dir)
	for i, trial := range after[:3] {
		if trial.Outcome.Value != running[i].Outcome.Value || string(trial.Parameters) != string(running[i].Parameters) {
			t.Errorf("trial %+v was %+v", trial, running[i])
		}
	}
	if s := statusOf(t, dir); s.Running || s.Trials["waiting"] != 1 || s.Best == nil {
		t.Errorf("status after: %+v", s)
	}
	if text := must(t, "status", "--data-dir", dir); !strings.Contains(text, "node      not running\n") {
		t.Errorf("got\n%s", text)
	}
	if _, err := os.Stat(dir + "/control.sock"); err == nil {
		t.Error("the control socket is still there")
	}
}

func TestHistoryFormats(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "2"), objective("sometimes"))...)
	table := must(t, "history", "--data-dir", dir)
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "trial  state   value") || !strings.HasPrefix(lines[2], "2      failed  -") || !strings.HasPrefix(lines[4], "best: ") {
		t.Errorf("got\n%s", table)
	}
	for _, line := range lines {
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%q ends in spaces", line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(must(t, "history", "--format", "csv", "--data-dir", dir))).ReadAll()
	if err != nil || len(rows) != 4 || strings.Join(rows[0], " ") != "trial state value lr units kind source peer started finished reason peer_count why" {
		t.Errorf("%q, %v", rows, err)
	}
	if rows[2][1] != "failed" || rows[2][2] != "" || !strings.Contains(rows[2][10], "an even number") {
		t.Errorf("%q", rows[2])
	}
	if object := must(t, "history", "--json", "--data-dir", dir); strings.Count(object, "\n") != 1 {
		t.Errorf("not one line: %q", object)
	}
}

func TestDataDirectories(t *testing.T) {
	t.Parallel()
	missing, empty, several := shortTempDir(t)+"/missing", shortTempDir(t), shortTempDir(t)
	first := writeFile(t, "first.yaml", bowlTask)
	second := writeFile(t, "second.yaml", mixedTask)
	unknown := writeFile(t, "unknown.yaml", strings.Replace(bowlTask, "bowl", "third", 1))
	must(t, join(runLine(first, several, "--evals", "1"), objective("bowl"))...)
	must(t, join(runLine(second, several, "--evals", "2"), objective("bowl"))...)
	a, b := statusOf(t, several, first), statusOf(t, several, second)
	if a.Name != "bowl" || a.Trials["done"] != 1 || b.Name != "mixed" || b.Trials["done"] != 2 {
		t.Errorf("status %+v and %+v", a, b)
	}
	third := strings.TrimSpace(must(t, "task", "id", unknown))
	e := call(t, "history", "--data-dir", several)
	for _, want := range []string{"holds 2 tasks; expected one of", "bowl (" + taskref.Short(a.Task) + ")", "mixed (" + taskref.Short(b.Task) + ")"} {
		if e.code != base.ExitUsage || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, want) {
			t.Errorf("history of two tasks: exit code %d, %q, expected %q", e.code, e.stderr, want)
		}
	}
	for _, command := range []string{"status", "history"} {
		for _, c := range []struct {
			args []string
			code int
			want []string
		}{
			{[]string{"--data-dir", missing}, base.ExitFailed, []string{"nothing has run with data directory " + missing + " yet"}},
			{[]string{"--data-dir", empty}, base.ExitFailed, []string{"nothing has run with data directory " + empty + " yet"}},
			{[]string{"--data-dir", several, unknown}, base.ExitFailed, []string{"data directory " + several + " has no task " + third}},
			{[]string{"--data-dir", several, "nosuch"}, base.ExitFailed, []string{"has no task nosuch"}},
			{[]string{"--data-dir", several, "nosuch.yaml"}, base.ExitUsage, []string{"task file: open nosuch.yaml: no such file"}},
		} {
			e := call(t, append([]string{command}, c.args...)...)
			if e.code != c.code || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 {
				t.Errorf("%s %q: exit code %d\n%s%s", command, c.args, e.code, e.stdout, e.stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(e.stderr, want) {
					t.Errorf("%s %q: got %q, want %q", command, c.args, e.stderr, want)
				}
			}
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("asking has made the directory")
	}
}
