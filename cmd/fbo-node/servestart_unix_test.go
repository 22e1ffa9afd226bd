//go:build unix

package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// A daemon listens before it has joined the tasks of its last start, and names few of them.
func TestServeListensBeforeItJoins(t *testing.T) {
	t.Parallel()
	const tasks = 30
	dir := shortTempDir(t)
	p, _ := startServe(t, dir)
	client := socketClient(dir)
	for i := range tasks {
		mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, fmt.Sprintf("bowl%d", i))})
	}
	endServe(t, p)

	p = start(t, serveLine(dir)...)
	listening := p.await(t, "that it listens", isEvent("listening"))
	if listening.Tasks != tasks || listening.Socket == "" {
		t.Errorf("it listens: %+v", listening)
	}
	mustRequest(t, http.StatusOK, client, "GET", "/v1/live", nil)
	must(t, "status", "--running", "--data-dir", dir)
	if served := p.await(t, "that it serves", isEvent("serving")); served.Tasks != tasks {
		t.Errorf("it serves: %+v", served)
	}
	mustRequest(t, http.StatusOK, client, "GET", "/v1/ready", nil)
	if first := len(p.of("task_served")); first != tasks {
		t.Errorf("%d tasks are reported, expected %d", first, tasks)
	}
	endServe(t, p)

	p = start(t, slices.DeleteFunc(serveLine(dir), func(flag string) bool { return flag == "--json" })...)
	last := fmt.Sprintf("serves %d tasks, these and %d more; `fbo-node status` lists them\n", tasks, tasks-10)
	p.await(t, last, func(event) bool { return strings.Contains(p.printed(), last) })
	if lines := strings.Count(p.printed(), "\n"); lines > 20 {
		t.Errorf("%d lines at a start, expected at most 20:\n%s", lines, p.printed())
	}
}

func endServe(t *testing.T, p *process) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d, %s", code, p.stderr.String())
	}
}
