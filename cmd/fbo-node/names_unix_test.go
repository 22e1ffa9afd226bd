//go:build unix

package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/taskref"
)

// Each command that takes a task accepts its name, its ID and the first characters of it.
func TestCommandsAcceptNamesOfTasks(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	file := writeFile(t, "task.yaml", strings.Replace(bowlTask, "bowl", "my.model", 1))
	other := writeFile(t, "other.yaml", bowlTask)
	for _, each := range []string{file, other} {
		must(t, join(runLine(each, dir, "--evals", "1"), objective("bowl"))...)
	}
	id := strings.TrimSpace(must(t, "task", "id", file))
	out := filepath.Join(shortTempDir(t), "out.csv")
	for _, wanted := range []string{"my.model", id, taskref.Short(id)} {
		for _, c := range [][]string{
			{"status", wanted}, {"history", wanted}, {"best", wanted}, {"log", wanted, "1"}, {"doctor", wanted},
			{"export", wanted, out, "--format", "csv", "--force"}, {"task", "check", wanted}, {"task", "invite", wanted},
			{"run", wanted, "--evals", "1", "--listen", "/ip4/127.0.0.1/tcp/0", "--", "false"},
		} {
			line := join(c[:1], []string{"--data-dir", dir}, c[1:])
			if c[0] == "task" {
				line = join(c[:2], []string{"--data-dir", dir}, c[2:])
			}
			if e := call(t, line...); e.code != base.ExitDone {
				t.Errorf("%q: exit code %d, %s", line, e.code, e.stderr)
			}
		}
		if got := strings.TrimSpace(must(t, "task", "id", "--data-dir", dir, wanted)); got != id {
			t.Errorf("task id %s: %q, expected %q", wanted, got, id)
		}
	}
	e := call(t, "privacy", "--data-dir", dir, "my.model")
	if !strings.Contains(e.stderr, `task "my.model" has no section privacy`) {
		t.Errorf("privacy: %s", e.stderr)
	}
}

func TestCommandsAcceptNamesOfServedTasks(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	startServe(t, dir)
	client := socketClient(dir)
	for _, name := range []string{"my-model", "second"} {
		mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, name)})
	}
	id := statusOf(t, dir, "my-model").Task
	short := taskref.Short(id)
	if got := statusOf(t, dir, short).Name; got != "my-model" {
		t.Errorf("status %s: %s", short, got)
	}
	must(t, "status", "--running", "--data-dir", dir, "my-model")
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/"+short+"/ask", object{"client": "a"})
	mustRequest(t, http.StatusOK, client, "GET", "/v1/tasks/"+short+"/status", nil)
	mustRequest(t, http.StatusNotFound, client, "GET", "/v1/tasks/"+id[:8], nil) // both begin so
	mustRequest(t, http.StatusNoContent, client, "DELETE", "/v1/tasks/"+short, nil)
}

// Several tasks of one name are listed, ten of them at most.
func TestAmbiguousNamesListTenTasks(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, _ := startServe(t, dir)
	client := socketClient(dir)
	for i := range 12 {
		text := strings.Replace(fmt.Sprintf(servedBowl, "same"), "high: 2", fmt.Sprintf("high: %d", i+2), 1)
		mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": text})
	}
	check := func(when string) {
		for wanted, want := range map[string]string{
			"same":     `task "same" is ambiguous: same (bagaaiera`,
			"bagaaier": `task "bagaaier" is ambiguous: same (bagaaiera`,
		} {
			e := call(t, "history", "--data-dir", dir, wanted)
			if e.code != base.ExitUsage || !strings.Contains(e.stderr, want) || !strings.Contains(e.stderr, " and 2 more") || len(e.stderr) > 600 {
				t.Errorf("%s, %s: exit code %d, %q", when, wanted, e.code, e.stderr)
			}
		}
		for wanted, code := range map[string]int{"": base.ExitUsage, "else": base.ExitFailed} {
			args := join([]string{"history", "--data-dir", dir}, strings.Fields(wanted))
			if e := call(t, args...); e.code != code || strings.Count(e.stderr, "same (bagaaiera") != 10 || !strings.Contains(e.stderr, " and 2 more") {
				t.Errorf("%s, %q: exit code %d, %q", when, wanted, e.code, e.stderr)
			}
		}
	}
	problem := string(mustRequest(t, http.StatusNotFound, client, "GET", "/v1/tasks/same", nil))
	if strings.Count(problem, "same (bagaaiera") != 10 || !strings.Contains(problem, " and 2 more") {
		t.Errorf("HTTP: %s", problem)
	}
	check("while the node runs")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	check("after it")
}
