//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
)

// servedBowl is a task whose designs are chosen in about a millisecond.
const servedBowl = `name: %s
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {type: rff, features: 16}
strategy: {type: ts, initial_designs: 2}
`

// serveLine is the beginning of a daemon that stays on this machine.
func serveLine(dir string, flags ...string) []string {
	return append([]string{"serve", "--json", "--data-dir", dir, "--mdns=false", "--listen", "/ip4/127.0.0.1/tcp/0"}, flags...)
}

// socketClient asks over the control socket of a directory.
func socketClient(dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", filepath.Join(dir, control.Socket))
		},
		MaxIdleConnsPerHost: 200,
	}}
}

// request sends JSON; headers are names and values in turn, of which Host is one.
func request(client *http.Client, method, url string, body any, headers ...string) (status int, answer []byte, err error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequest(method, url, reader)
	if err != nil {
		return 0, nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// mustRequest fails when the answer has another status.
func mustRequest(t testing.TB, want int, client *http.Client, method, path string, body any, headers ...string) []byte {
	t.Helper()
	status, answer, err := request(client, method, "http://node"+path, body, headers...)
	if err != nil || status != want {
		t.Fatalf("%s %s: %d %s, %v", method, path, status, answer, err)
	}
	return answer
}

// startServe waits until the daemon listens.
func startServe(t *testing.T, dir string, flags ...string) (*process, event) {
	t.Helper()
	p := start(t, serveLine(dir, flags...)...)
	return p, p.await(t, "the daemon's start", isEvent("serving"))
}

func TestServeAndTheOtherCommands(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, _ := startServe(t, dir)
	client := socketClient(dir)
	p.await(t, "that it serves no task", func(e event) bool { return e.Event == "serving" && e.Tasks == 0 })
	e := call(t, "status", "--data-dir", dir)
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, "serves no task yet") {
		t.Errorf("status without a task: %d, %s", e.code, e.stderr)
	}
	first := fmt.Sprintf(servedBowl, "first")
	file := writeFile(t, "first.yaml", first)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": first})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/first/ask", object{"client": "a", "count": 3})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/first/trials/2/tell", object{"value": 0.5})
	if s := statusOf(t, dir); !s.Running || s.Name != "first" || s.Trials["done"] != 1 || s.Trials["running"] != 2 || s.Best == nil {
		t.Errorf("status %+v", s)
	}
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, "second")})
	e = call(t, "history", "--data-dir", dir)
	if e.code != base.ExitUsage || !strings.Contains(e.stderr, "works on 2 tasks; expected one of ") || !strings.Contains(e.stderr, "second (") {
		t.Errorf("history of two tasks: %d, %s", e.code, e.stderr)
	}
	if s := statusOf(t, dir, file); s.Name != "first" || s.Trials["done"] != 1 {
		t.Errorf("status by file %+v", s)
	}
	if text := must(t, "status", "--running", "--data-dir", dir); !strings.HasPrefix(text, "node      running, 2 tasks: ") {
		t.Errorf("status --running: %q", text)
	}
	if text := must(t, "best", "--data-dir", dir, file); !strings.Contains(text, "value  0.5 (trial 2") {
		t.Errorf("best: %q", text)
	}
	if e := call(t, serveLine(dir)...); e.code != base.ExitFailed || !strings.Contains(e.stderr, "in use by another process") {
		t.Errorf("a second daemon: %d, %s", e.code, e.stderr)
	}
	mustRequest(t, http.StatusNoContent, client, "DELETE", "/v1/tasks/second", nil)
	p.await(t, "the second task's coming", func(e event) bool { return e.Event == "task_served" && e.Name == "second" && e.Open })
	p.await(t, "the second task's going", func(e event) bool { return e.Event == "task_left" && e.Name == "second" })

	// A stream and an ask that are under way do not hold up the end.
	response, err := client.Get("http://node/v1/tasks/first/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, p.stderr.String())
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, control.Socket)); err == nil {
		t.Error("the socket is still there")
	}
	states := map[string]int{}
	var trials []trialJSON
	decode(t, must(t, "history", "--json", "--data-dir", dir, file), &trials)
	for _, trial := range trials {
		states[trial.State]++
	}
	if fmt.Sprint(states) != "map[done:1 running:2]" {
		t.Errorf("after the end: %v", states)
	}
	if text := must(t, "status", "--data-dir", dir, file); !strings.Contains(text, "1 done, 0 failed, 2 held by programs (") {
		t.Errorf("after the end status prints %s", text)
	}
	_, again := startServe(t, dir)
	if again.Tasks != 1 {
		t.Errorf("served after a restart: %+v", again)
	}
}

// Whoever runs a task by the command line has the same interface.
func TestServeEndsWithItsInput(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	command := nodeCommand(serveLine(dir, "--until-eof")...)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := startCommand(t, command)
	p.await(t, "the daemon's start", isEvent("serving"))
	if _, err := io.WriteString(input, "it is not read\n"); err != nil {
		t.Fatal(err)
	}
	mustRequest(t, http.StatusOK, socketClient(dir), "GET", "/v1/node", nil)
	input.Close()
	<-p.ended
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
	p.await(t, "that it says so", isEvent("interrupted"))
}

func TestARunAnswersToo(t *testing.T) {
	t.Parallel()
	file, dir, g := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--evals", "2"), objective("gate", g.address))...)
	h := g.next(t)
	client := socketClient(dir)
	mustRequest(t, http.StatusConflict, client, "POST", "/v1/tasks", object{"text": bowlTask})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/bowl/ask", object{"client": "a"})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/bowl/trials/2/tell", object{"value": 3})
	h.release()
	g.next(t).release()
	if code := p.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d, %s", code, p.stderr.String())
	}
	if trials := historyOf(t, dir); len(trials) != 3 || trials[1].Outcome.Value != 3 {
		t.Errorf("history %+v", trials)
	}
}

func TestWhoIsRefused(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, e := startServe(t, dir, "--http", "127.0.0.1:0", "--http-host", "tuner.example", "--origin", "https://board.example")
	token := tokenOf(t, dir)
	info, err := os.Stat(filepath.Join(dir, "http.token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the token: %v, %v", info, err)
	}
	right := "Bearer " + token
	for _, c := range []struct {
		what    string
		headers []string
		want    int
	}{
		{"all is well", []string{"Authorization", right}, 200},
		{"no token", nil, 401},
		{"a wrong token", []string{"Authorization", right[:len(right)-1] + "?"}, 401},
		{"a foreign host", []string{"Authorization", right, "Host", "evil.example"}, 421},
		{"a foreign host without a token", []string{"Host", "evil.example"}, 421},
		{"a name of the user's", []string{"Authorization", right, "Host", "tuner.example:80"}, 200},
		{"a foreign origin", []string{"Authorization", right, "Origin", "https://evil.example"}, 403},
		{"an origin of the user's", []string{"Authorization", right, "Origin", "https://board.example"}, 200},
	} {
		for _, path := range []string{"/v1/tasks", "/v1/openapi.json"} {
			status, answer, err := request(http.DefaultClient, "GET", e.URL+path, nil, c.headers...)
			if err != nil || status != c.want || bytes.Contains(answer, []byte(token)) {
				t.Errorf("%s: %d %s, %v", c.what, status, answer, err)
			}
		}
	}
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if printed := p.printed(); !strings.Contains(printed, e.URL) || strings.Contains(printed+p.stderr.String(), token) {
		t.Error("the token is printed")
	}
	startServe(t, dir, "--http", "127.0.0.1:0")
	if again := tokenOf(t, dir); again != token {
		t.Errorf("after a restart the token is %s, before it was %s", again, token)
	}
}

// tokenOf reads the token of a data directory.
func tokenOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "http.token"))
	token := strings.TrimSpace(string(data))
	if err != nil || len(token) < 20 {
		t.Fatalf("the token %q, %v", data, err)
	}
	return token
}

func TestServeOverTLS(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	certificate, key, pool := selfSigned(t)
	_, e := startServe(t, dir, "--http", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	if status, answer, err := request(client, "GET", e.URL+"/v1/node", nil, "Authorization", "Bearer "+tokenOf(t, dir)); err != nil || status != 200 {
		t.Errorf("%s: %d %s, %v", e.URL, status, answer, err)
	}
	if status, _, err := request(client, "GET", e.URL+"/v1/node", nil); err != nil || status != 401 {
		t.Errorf("without a token: %d, %v", status, err)
	}
}

func selfSigned(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	certificate = writeFile(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	key = writeFile(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})))
	return certificate, key, pool
}

// What clients ask is counted by route and status, whatever refuses it, beside what run
// counts.
func TestServeMetrics(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, e := startServe(t, dir, "--metrics", "127.0.0.1:0", "--http", "127.0.0.1:0")
	metrics := p.await(t, "the address", isEvent("metrics_served")).URL
	client := socketClient(dir)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, "counted")})
	for _, name := range []string{"a", "b"} {
		mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/counted/ask", object{"client": name})
	}
	mustRequest(t, http.StatusNotFound, client, "POST", "/v1/tasks/other/ask", object{"client": "a"})
	mustRequest(t, http.StatusUnprocessableEntity, client, "POST", "/v1/tasks/counted/trials/1/tell", object{"value": "much"})
	mustRequest(t, http.StatusOK, client, "POST", "/v1/tasks/counted/trials/1/tell", object{"value": 1})
	mustRequest(t, http.StatusNotFound, client, "GET", "/v1/anything", nil)
	mustRequest(t, http.StatusMethodNotAllowed, client, "PUT", "/v1/tasks", nil)
	if status, _, err := request(http.DefaultClient, "GET", e.URL+"/v1/tasks", nil); err != nil || status != http.StatusUnauthorized {
		t.Errorf("without a token: %d, %v", status, err)
	}
	events, err := client.Get("http://node/v1/tasks/counted/events") // flushed through the counter
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(events.Body).ReadString('\n'); err != nil || line != ": events\n" {
		t.Errorf("the stream begins with %q, %v", line, err)
	}
	events.Body.Close()
	_, body := fetch(t, metrics)
	for _, want := range []string{
		`fbo_http_requests_total{code="201",method="post",route="/v1/tasks"} 1`,
		`fbo_http_requests_total{code="200",method="post",route="/v1/tasks/{task}/ask"} 2`,
		`fbo_http_requests_total{code="404",method="post",route="/v1/tasks/{task}/ask"} 1`,
		`fbo_http_requests_total{code="422",method="post",route="/v1/tasks/{task}/trials/{trial}/tell"} 1`,
		`fbo_http_requests_total{code="200",method="post",route="/v1/tasks/{task}/trials/{trial}/tell"} 1`,
		`fbo_http_requests_total{code="404",method="get",route="none"} 1`,
		`fbo_http_requests_total{code="405",method="put",route="none"} 1`,
		`fbo_http_requests_total{code="401",method="get",route="none"} 1`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	for _, want := range []string{
		`fbo_suggestion_duration_seconds_count\{node="\w{8}"\} 2\n`,
		`fbo_evaluation_duration_seconds_count\{node="\w{8}",state="done"\} 1\n`,
	} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("%s is missing", want)
		}
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	help := regexp.MustCompile(`# HELP fbo_http_requests_total (.*)\n`).FindStringSubmatch(body)
	if err != nil || help == nil || !strings.Contains(string(text), "| `fbo_http_requests_total` | counter | route, method, code | "+help[1]+" |") {
		t.Errorf("docs/metrics.md does not say %q, %v", help, err)
	}
}

// With --metrics-task-label each task has series of its own.
func TestServeMetricsWithTaskLabel(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	p, _ := startServe(t, dir, "--metrics", "127.0.0.1:0", "--metrics-task-label")
	metrics := p.await(t, "the address", isEvent("metrics_served")).URL
	for _, name := range []string{"one", "two"} {
		mustRequest(t, http.StatusCreated, socketClient(dir), "POST", "/v1/tasks", object{"text": fmt.Sprintf(servedBowl, name)})
	}
	_, body := fetch(t, metrics)
	if found := regexp.MustCompile(`fbo_evaluations\{node="\w{8}",task="\w{8}"\} 0\n`).FindAllString(body, -1); len(found) != 2 {
		t.Errorf("series of the two tasks: %q", found)
	}
	if e := call(t, "serve", "--metrics-task-label", "--data-dir", dir); e.code != base.ExitUsage || e.stderr != "fbo-node: --metrics-task-label needs --metrics\n" {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	certificate, _, _ := selfSigned(t)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"task.yaml"}, "takes no arguments"},
		{[]string{"--lease", "0"}, "--lease 0s: expected times from 1s"},
		{[]string{"--max-observations", "0"}, "--max-observations 0: expected 20 or more"},
		{[]string{"--wait-for-peers", "-1s"}, "--wait-for-peers -1s: expected"},
		{[]string{"--http", "7070"}, `--http "7070": expected an address with a port`},
		{[]string{"--http", ":7070"}, `--http ":7070": expected an address with a port`},
		{[]string{"--http", "127.0.0.1:0", "--tls-cert", certificate}, "--tls-cert and --tls-key belong together"},
		{[]string{"--tls-cert", certificate}, "about --http, which is missing"},
		{[]string{"--http", "127.0.0.1:0", "--origin", "board.example"}, `--origin "board.example": expected a scheme and a host`},
		{[]string{"--rate-limit", "0"}, "--rate-limit 0: expected positive numbers"},
		{[]string{"--http", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", certificate}, "--tls-cert, --tls-key: "},
	} {
		e := call(t, append(serveLine(shortTempDir(t)), c.flags...)...)
		if e.code != base.ExitUsage || !strings.Contains(e.stderr, c.want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q; want %q", c.flags, e.code, e.stderr, c.want)
		}
	}
}
