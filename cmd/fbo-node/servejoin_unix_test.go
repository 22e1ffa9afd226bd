//go:build unix

package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

type servedStatus struct {
	Tag  string `json:"tag"`
	Hubs []struct {
		Connected bool `json:"connected"`
	} `json:"hubs"`
	Peers []struct {
		ID string `json:"id"`
	} `json:"peers"`
}

// awaitStatus waits for a status of a served task.
func awaitStatus(t *testing.T, client *http.Client, task, what string, reached func(servedStatus) bool) {
	t.Helper()
	var s servedStatus
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if status, answer, err := request(client, "GET", "http://node/v1/tasks/"+task+"/status", nil); err == nil && status == http.StatusOK {
			s = servedStatus{}
			if err := json.Unmarshal(answer, &s); err != nil {
				t.Fatal(err)
			}
			if reached(s) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %+v", what, s)
		}
	}
}

// A daemon previews and joins the task of a guest string at run time, with the string's hub, and rejoins
// it after a kill. Neither its files that clients can read nor its output have the secret.
func TestServeJoinsByOneString(t *testing.T) {
	t.Parallel()
	hub, file, dir := hubOf(t), writeFile(t, "task.yaml", informedTask), shortTempDir(t)
	text := strings.TrimSpace(must(t, "task", "invite", file, "--data-dir", dir, "--guest", "lab", "--hub", hub))
	first := start(t, join(runLine(file, dir, "--json", "--hub", hub), objective("steady"))...)
	firstID := first.await(t, "its start", isEvent("node_started")).PeerID

	guestDir := shortTempDir(t)
	p, _ := startServe(t, guestDir)
	client := socketClient(guestDir)
	preview := mustRequest(t, http.StatusOK, client, "POST", "/v1/joins/preview", object{"join": text})
	var shown struct {
		ID, Name, Reveals string
		Open, Served      bool
	}
	if err := json.Unmarshal(preview, &shown); err != nil || shown.Name != "bowl" || shown.Open || shown.Served || shown.Reveals == "" {
		t.Errorf("%s, %v", preview, err)
	}
	if list := mustRequest(t, http.StatusOK, client, "GET", "/v1/known-tasks", nil); strings.Contains(string(list), shown.ID) {
		t.Errorf("the preview has joined: %s", list)
	}
	joined := mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"join": text, "seed": 1})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks", object{"join": text})
	inTask := func(s servedStatus) bool {
		return s.Tag != "" && len(s.Hubs) == 1 && s.Hubs[0].Connected && len(s.Peers) == 1 && s.Peers[0].ID == firstID
	}
	awaitStatus(t, client, "bowl", "the other node", inTask)
	refused := mustRequest(t, http.StatusGone, socketClient(otherServe(t)), "POST", "/v1/tasks", object{"join": text})
	if !strings.Contains(string(refused), "used up: ask its sender for a new one") {
		t.Errorf("%s", refused)
	}

	p.signal(t, os.Kill)
	p.wait(t)
	killed := p.printed() + p.stderr.String()
	p, _ = startServe(t, guestDir)
	awaitStatus(t, client, "bowl", "the other node after a kill", inTask)
	again := mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks", object{"join": text})
	var a, b struct{ ID string }
	if json.Unmarshal(joined, &a) != nil || json.Unmarshal(again, &b) != nil || a.ID != b.ID || a.ID != shown.ID {
		t.Errorf("%s\n%s", joined, again)
	}
	secret := text[80:100]
	for what, output := range map[string]string{
		"preview": string(preview), "answer": string(joined) + string(again), "refusal": string(refused),
		"output": killed,
		"task":   string(mustRequest(t, http.StatusOK, client, "GET", "/v1/tasks/bowl", nil)),
	} {
		if strings.Contains(output, secret) {
			t.Errorf("%s has the secret: %s", what, output)
		}
	}
	// Left and joined again, without a node that admits.
	first.signal(t, os.Interrupt)
	first.wait(t)
	mustRequest(t, http.StatusNoContent, client, "DELETE", "/v1/tasks/bowl", nil)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"join": text})
	p.signal(t, os.Interrupt)
	p.wait(t)
	if output := p.printed() + p.stderr.String(); strings.Contains(output, secret) {
		t.Errorf("the output has the secret: %s", output)
	}
}

// otherServe starts a daemon with another identity, and returns its data directory.
func otherServe(t *testing.T) string {
	t.Helper()
	dir := shortTempDir(t)
	startServe(t, dir)
	return dir
}
