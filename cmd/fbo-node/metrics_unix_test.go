//go:build unix

package main_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

func fetch(t testing.TB, url string) (code int, body string) {
	t.Helper()
	response, err := http.Get(url)
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

// metric is a series of a scrape.
type metric struct {
	name, labels string // labels as they are printed, or empty
	value        float64
}

// metrics returns what a process with --metrics serves.
func (p *process) metrics(t testing.TB) (series []metric) {
	t.Helper()
	code, body := fetch(t, p.await(t, "the address of its metrics", isEvent("metrics_served")).URL)
	if code != http.StatusOK {
		t.Fatalf("the metrics: %d %s", code, body)
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(line[i+1:]), 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name, labels, _ := strings.Cut(line[:i], "{")
		series = append(series, metric{name, strings.TrimSuffix(labels, "}"), value})
	}
	return series
}

func TestRunServesMetrics(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json", "--metrics", "127.0.0.1:0"), objective("gate", g.address, "3"))...)
	h := g.next(t)
	url := p.await(t, "the address", isEvent("metrics_served")).URL
	// A name that is pointed at this machine is none of its own.
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	rebound.Host = "a.example"
	refused, err := http.DefaultClient.Do(rebound)
	if err != nil {
		t.Fatal(err)
	}
	refused.Body.Close()
	if refused.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another host: %s", refused.Status)
	}
	code, body := fetch(t, url)
	if code != http.StatusOK {
		t.Errorf("%s: %d", url, code)
	}
	for _, want := range []string{
		`fbo_evaluation_duration_seconds_count\{node="\w{8}",state="done",task="\w{8}"\} 2\n`,
		`fbo_suggestion_duration_seconds_count\{.*\} 3\n`,
		`fbo_present_nodes\{.*\} 1\n`,
		`go_goroutines `,
	} {
		if !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	server := strings.TrimSuffix(url, "/metrics")
	for _, other := range []string{"/", "/debug/pprof/", "/metrics/x"} {
		if code, _ := fetch(t, server+other); code != http.StatusNotFound {
			t.Errorf("%s: %d", other, code)
		}
	}
	// The same address again, by another node.
	address := strings.TrimPrefix(server, "http://")
	e := call(t, join(runLine(file, shortTempDir(t), "--metrics", address), objective("bowl"))...)
	if e.code != base.ExitFailed || e.stdout != "" || e.stderr != "fbo-node: --metrics "+address+": listen tcp "+address+": bind: address already in use\n" {
		t.Errorf("exit code %d, %q%q", e.code, e.stdout, e.stderr)
	}
	p.signal(t, os.Interrupt)
	h.waitGone(t)
	if code := p.wait(t); code != base.ExitDone || p.stderr.Len() > 0 {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
	if connection, err := net.Dial("tcp", address); err == nil {
		connection.Close()
		t.Error("somebody still listens")
	}
}

func TestMalformedMetricsAddress(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)+"/new"
	for flag, want := range map[string]string{
		"--metrics=9464":   "fbo-node: --metrics \"9464\": expected a host and a port such as 127.0.0.1:9464, or :9464 for every interface\n",
		"--log-level=loud": "fbo-node: --log-level \"loud\": expected debug, info, warn and error, for all or, as in fbo=debug,error, for one logger\n",
	} {
		e := call(t, join(runLine(file, dir, flag), objective("bowl"))...)
		if e.code != base.ExitUsage || e.stdout != "" || e.stderr != want {
			t.Errorf("%s: exit code %d, %q%q", flag, e.code, e.stdout, e.stderr)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a mistake has made the directory")
	}
}

// TestLogLevelFlagAndVariable: by flag and by variable; errors are readable, and every line of the
// node names it.
func TestLogLevelFlagAndVariable(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	dead := "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWGRUVp3QnFP5vfoqNXhRLSHpR8s4VbQYoyLQwVkkvUrvG"
	for _, c := range []struct {
		variable, flag string
		logged         bool
	}{
		{"", "", false},
		{"error", "", false},
		{"", "error,fbo=info", true},
		{"fbo=info", "", true},
		{"fbo=info", "error", false}, // the flag counts
	} {
		command := nodeCommand(join(runLine(file, shortTempDir(t), "--evals", "2", "--peer", dead, "--log-level", c.flag), objective("bowl"))...)
		command.Env = append(command.Env, "GOLOG_LOG_FMT=json", "GOLOG_LOG_LEVEL="+c.variable)
		e := finish(t, command)
		if e.code != base.ExitDone || (e.stderr != "") != c.logged {
			t.Errorf("%+v: exit code %d, %q", c, e.code, e.stderr)
		}
		if !c.logged {
			continue
		}
		for line := range strings.Lines(e.stderr) {
			var entry struct{ Logger, Level, Msg, Node, Task string }
			decode(t, line, &entry)
			if entry.Logger != "fbo" || len(entry.Node) != 8 {
				t.Errorf("line %s", line)
			}
			if strings.HasPrefix(entry.Msg, "task ") && len(entry.Task) != 8 {
				t.Errorf("line %s", line)
			}
		}
		for _, want := range []string{`"msg":"node started"`, `"msg":"task joined"`, `"msg":"task left"`} {
			if !strings.Contains(e.stderr, want) {
				t.Errorf("%s is missing in %s", want, e.stderr)
			}
		}
	}
}
