//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// pageAsk asks a page's server, and returns the status and what it answers.
func pageAsk(t *testing.T, method, url, key string, header ...string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			request.Host = header[i+1]
		} else {
			request.Header.Set(header[i], header[i+1])
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// checkPageDoor checks who may read what behind the link of a page, of a node that works on
// a task.
func checkPageDoor(t *testing.T, link, task, dir string) {
	t.Helper()
	url, key, ok := strings.Cut(link, "/#key=")
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || len(key) < 20 {
		t.Fatalf("link %q", link)
	}
	at := url + "/v1/tasks/" + task
	data, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(data))
	for _, c := range []struct {
		name, method, url, key string
		header                 []string
		want                   int
	}{
		{"the page", "GET", url + "/", "", nil, 200},
		{"the page under another name", "GET", url + "/", "", []string{"Host", "rebound.example"}, 421},
		{"without a key", "GET", at, "", nil, 401},
		{"with another key", "GET", at, key + "x", nil, 401},
		{"from a page elsewhere", "GET", at, key, []string{"Origin", "https://elsewhere.example"}, 403},
		{"the task", "GET", at, key, nil, 200},
		{"as the page's own scripts ask", "GET", at, key, []string{"Origin", url}, 200},
		{"through a tunnel", "GET", at, key, []string{"Host", "localhost:7071", "Origin", "http://localhost:7071"}, 200},
		{"from another port", "GET", at, key, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"contributions", "GET", at + "/contributions", key, nil, 200},
		{"the model", "GET", at + "/model", key, nil, 200},
		{"the log", "GET", url + "/v1/log", key, nil, 200},
		{"to ask", "POST", at + "/ask", key, nil, 405},
		{"to leave", "DELETE", at, key, nil, 405},
		{"to enqueue", "POST", at + "/enqueue", key, nil, 405},
		{"to enqueue with a wrong token", "POST", at + "/enqueue", token + "x", nil, 401},
		{"to enqueue with the token, without a design", "POST", at + "/enqueue", token, nil, 400},
		{"to enqueue with the token from a page elsewhere", "POST", at + "/enqueue", token, []string{"Origin", "https://elsewhere.example"}, 403},
		{"to enqueue with the token under another name", "POST", at + "/enqueue", token, []string{"Host", "rebound.example"}, 421},
		{"to read with the token", "GET", at + "/queue", token, nil, 200},
		{"nothing", "GET", url + "/v2", "", nil, 404},
	} {
		if status, text := pageAsk(t, c.method, c.url, c.key, c.header...); status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, status, c.want, text)
		}
	}
}

// checkPageWrites enqueues a design and writes a note through a page's server.
func checkPageWrites(t *testing.T, link, task, dir string) {
	t.Helper()
	url, _, _ := strings.Cut(link, "/#key=")
	token, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(method, path, body string) (status int, text string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, url+"/v1/tasks/"+task+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}, "Content-Type": {"application/json"}, "Idempotency-Key": {method + path}, "Origin": {url}}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(data)
	}
	if status, text := write("POST", "/trials/1/annotate", `{"note":"from the page"}`); status != 200 || !strings.Contains(text, `"text":"from the page"`) {
		t.Errorf("a note: %d %s", status, text)
	}
	if status, text := write("POST", "/trials/1/annotate", `{"note":"another"}`); status != 422 || !strings.Contains(text, "Idempotency-Key") {
		t.Errorf("another note with the same key: %d %s", status, text)
	}
	if status, text := write("POST", "/enqueue", `{"parameters":{}}`); status != 422 || !strings.Contains(text, "body.parameters.") {
		t.Errorf("a design without values: %d %s", status, text)
	}
}

// TestPageOfRunServeAndWeb: run and serve have a page, and web shows that of a node which runs without one.
func TestPageOfRunServeAndWeb(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	node := start(t, append(runLine(file, dir, "--json", "--evals", "2", "--keep-after", "--web"), objective("bowl")...)...)
	const id = "bowl"
	checkPageDoor(t, node.await(t, "its page", isEvent("page_served")).URL, id, dir)

	node.await(t, "its first outcome", isEvent("trial_finished")) // a note needs a trial
	web := nodeCommand("web", "--data-dir", dir)
	stdout, err := web.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	link := strings.TrimSpace(strings.TrimPrefix(line, "page: "))
	checkPageDoor(t, link, id, dir)
	checkPageWrites(t, link, id, dir)
	url, key, _ := strings.Cut(link, "/#key=")
	node.command.Process.Signal(os.Interrupt)
	<-node.ended
	if status, text := pageAsk(t, "GET", url+"/v1/tasks/"+id, key); status != 503 || !strings.Contains(text, "it has ended") {
		t.Errorf("after the node's end: %d %s", status, text)
	}
	if err := web.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := web.Wait(); err != nil {
		t.Errorf("web ended with %v", err)
	}
	checkStoppedPage(t, dir)
}

// checkStoppedPage checks what web shows of a node that has ended, and that it permits no writing.
func checkStoppedPage(t *testing.T, dir string) {
	t.Helper()
	web := nodeCommand("web", "--data-dir", dir)
	stdout, err := web.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := web.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		if err := web.Wait(); err != nil {
			t.Errorf("web ended with %v", err)
		}
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, key, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "page: ")), "/#key=")
	token, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	_, list := pageAsk(t, "GET", url+"/v1/tasks", key)
	var tasks struct{ Tasks []struct{ ID string } }
	if err := json.Unmarshal([]byte(list), &tasks); err != nil || len(tasks.Tasks) != 1 {
		t.Fatalf("tasks %s, %v", list, err)
	}
	at := url + "/v1/tasks/" + tasks.Tasks[0].ID
	for _, c := range []struct {
		method, url, key string
		status           int
		want             string
	}{
		{"GET", url + "/v1/node", key, 200, `"stopped":true`},
		{"GET", url + "/v1/node", "", 401, ""},
		{"GET", at, key, 200, `"name":"bowl"`},
		{"GET", at + "/trials?after=0&limit=1", key, 200, `"next":1`},
		{"GET", at + "/trials/1", key, 200, `"text":"from the page"`},
		{"GET", at + "/trials/1", key, 200, `"finished":"`},
		{"GET", at + "/trials/9", key, 404, "trials 1 to 2 exist"},
		{"GET", at + "/best", key, 200, `"trial":{"id":`},
		{"GET", at + "/queue", key, 200, `"queued":[]`},
		{"GET", at + "/export?format=csv", key, 200, ",notes\n"},
		{"GET", at + "/export?format=json", key, 200, `"text":"from the page"`},
		{"GET", at + "/model", key, 503, "no node runs"},
		{"GET", url + "/v1/tasks/none", key, 404, "no such task"},
		{"POST", at + "/trials/1/annotate", key, 405, "reading"},
		{"POST", at + "/trials/1/annotate", strings.TrimSpace(string(token)), 401, ""},
	} {
		if status, text := pageAsk(t, c.method, c.url, c.key); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, expected %d and %q", c.method, c.url, status, text, c.status, c.want)
		}
	}
}

func TestPageRefusesWrongFlags(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(runLine(file, dir, "--web=0.0.0.0:0"), objective("bowl")...), "of this machine alone"},
		{append(runLine(file, dir, "--web=7070"), objective("bowl")...), "expected an address with a port"},
		{[]string{"web", "--data-dir", dir, "--address", "192.0.2.1:1"}, "of this machine alone"},
		{[]string{"web", "--data-dir", dir}, "no node runs on data directory"},
	} {
		if e := call(t, c.args...); e.code == base.ExitDone || !strings.Contains(e.stderr, c.want) {
			t.Errorf("%q: exit code %d\n%s", c.args, e.code, e.stderr)
		}
	}
}
