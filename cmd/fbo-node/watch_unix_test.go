//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// created has a daemon serve a task and returns its ID.
func created(t *testing.T, client *http.Client, name string) (id string) {
	t.Helper()
	var answer struct{ ID string }
	body := mustRequest(t, http.StatusCreated, client, http.MethodPost, "/v1/tasks", map[string]any{"text": fmt.Sprintf(servedBowl, name)})
	decode(t, string(body), &answer)
	return answer.ID
}

// evaluated asks a daemon for a trial and tells a value.
func evaluated(t *testing.T, client *http.Client, task string, value float64) {
	t.Helper()
	var asked struct{ Trials []struct{ ID uint64 } }
	body := mustRequest(t, http.StatusOK, client, http.MethodPost, "/v1/tasks/"+task+"/ask", map[string]any{"client": "a"})
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Trials) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	mustRequest(t, http.StatusOK, client, http.MethodPost, fmt.Sprintf("/v1/tasks/%s/trials/%d/tell", task, asked.Trials[0].ID),
		map[string]any{"value": value})
}

// A watcher sees what happens after it came, and the end of the node; another one as
// lines for people.
func TestWatchPrintsEventsUntilNodeEnds(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	daemon, _ := startServe(t, dir)
	client := socketClient(dir)
	id := created(t, client, "watched")
	evaluated(t, client, id, 3)

	watcher := start(t, "watch", "--data-dir", dir, "--json")
	watcher.await(t, "its start", isEvent("watching"))
	people := nodeCommand("watch", id, "--data-dir", dir)
	stdout, err := people.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := people.Start(); err != nil {
		t.Fatal(err)
	}
	printed := bufio.NewScanner(stdout)
	reads := func(text string) {
		t.Helper()
		for printed.Scan() {
			if strings.Contains(printed.Text(), text) {
				return
			}
		}
		t.Errorf("never printed: %s", text)
	}
	reads("1 trial so far, best 3")

	evaluated(t, client, id, 2)
	e := watcher.await(t, "the second trial", finishedTrial(2))
	if e.Trial.Outcome == nil || e.Trial.Outcome.Value != 2 || len(e.Trial.Parameters) == 0 || e.Best == nil || e.Best.ID != 2 {
		t.Errorf("the second trial: %+v, best %+v", e.Trial, e.Best)
	}
	if n := len(watcher.of("trial_finished")); n != 1 {
		t.Errorf("%d trials finished while somebody watched, want 1", n)
	}
	reads("new best")

	created(t, client, "another")
	if e := call(t, "watch", "--data-dir", dir); e.code != base.ExitUsage || !strings.Contains(e.stderr, "works on 2 tasks; expected one of") {
		t.Errorf("two tasks: exit code %d, %s", e.code, e.stderr)
	}

	daemon.signal(t, syscall.SIGTERM)
	<-daemon.ended
	if code := watcher.wait(t); code != base.ExitDone || len(watcher.of("watch_ended")) != 1 {
		t.Errorf("the watcher of a node that has ended: exit code %d", code)
	}
	reads("the node has ended")
	if err := people.Wait(); err != nil {
		t.Error(err)
	}
	if e := call(t, "watch", "--data-dir", dir); e.code != base.ExitFailed || !strings.Contains(e.stderr, "no node runs on data directory") {
		t.Errorf("nothing runs: exit code %d, %s", e.code, e.stderr)
	}
}
