package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

const bowl = `name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
constraints:
  - {name: heat, high: 3}
surrogate: {type: rff, features: 16}
strategy: {type: ts}
`

// world is a node that talks to nobody, behind HTTP.
type world struct {
	t   testing.TB
	dir string
	url string
	end func()

	server *trialserver.Server
}

// newWorld joins the tasks that the directory has served.
func newWorld(t testing.TB, dir string, o Options) *world {
	t.Helper()
	w := newStartingWorld(t, dir, o)
	if err := w.server.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func newStartingWorld(t testing.TB, dir string, o Options) *world {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := trialserver.New(n, trialserver.Options{Strategies: all.Strategies(), Wait: -1, OnWarning: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(d, o))
	w := &world{t: t, dir: dir, url: server.URL, server: d}
	ended := false
	w.end = func() {
		if !ended {
			ended = true
			d.Close()
			server.Close()
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(w.end)
	return w
}

type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

func (w *world) do(method, path string, body any, headers ...string) (r reply) {
	w.t.Helper()
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
	default:
		data, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	r = reply{status: response.StatusCode, header: response.Header, text: string(data)}
	_ = json.Unmarshal(data, &r.body) // what is no object is seen in the text
	return r
}

// must is do for what has to work.
func (w *world) must(status int, method, path string, body any, headers ...string) reply {
	w.t.Helper()
	r := w.do(method, path, body, headers...)
	if r.status != status {
		w.t.Fatalf("%s %s %v: %d %s", method, path, body, r.status, r.text)
	}
	return r
}

type m = map[string]any

func (r reply) ids() (ids []int) {
	list, _ := r.body["trials"].([]any)
	for _, one := range list {
		ids = append(ids, int(one.(m)["id"].(float64)))
	}
	return ids
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestALifeOfTrials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{Version: "1.2"})
	same(t, "no tasks", w.must(200, "GET", "/v1/tasks", nil).text, `{"tasks":[]}`+"\n")
	id := w.must(201, "POST", "/v1/tasks", m{"text": bowl}).body["id"]
	same(t, "created twice", w.must(200, "POST", "/v1/tasks", m{"text": bowl}).body["id"], id)
	same(t, "by name", w.must(200, "GET", "/v1/tasks/bowl", nil).body["id"], id)
	same(t, "the node", w.must(200, "GET", "/v1/node", nil).body["version"], "1.2")
	at := fmt.Sprintf("/v1/tasks/%s", id)
	same(t, "no best", w.must(200, "GET", at+"/best", nil).text, `{"trial":null}`+"\n")
	same(t, "no recommendation", w.must(200, "GET", at+"/recommendation", nil).text, `{"parameters":null}`+"\n")

	asked := w.must(200, "POST", at+"/ask", m{"client": "a", "count": 3}, "Idempotency-Key", "k1")
	same(t, "asked", asked.ids(), []int{1, 2, 3})
	same(t, "asked again", w.must(200, "POST", at+"/ask", m{"client": "a", "count": 3}, "Idempotency-Key", "k1").ids(), []int{1, 2, 3})
	first := asked.body["trials"].([]any)[0].(m)
	if ends, err := time.Parse(time.RFC3339, first["lease_ends"].(string)); err != nil || time.Until(ends) < 9*time.Minute {
		t.Errorf("the lease ends at %v, %v", first["lease_ends"], err)
	}
	tell := m{"value": 2.5, "constraints": m{"heat": 1}, "metrics": m{"acc": 0.5}}
	told := w.must(200, "POST", at+"/trials/1/tell", tell, "Idempotency-Key", "k2")
	same(t, "told", told.body["outcome"], m{"value": 2.5, "constraints": m{"heat": 1.0}, "metrics": m{"acc": 0.5}})
	same(t, "told again", w.must(200, "POST", at+"/trials/1/tell", tell, "Idempotency-Key", "k2").text, told.text)
	same(t, "told again without a key", w.must(200, "POST", at+"/trials/1/tell", tell).text, told.text)
	w.must(409, "POST", at+"/trials/1/tell", m{"value": 3, "constraints": m{"heat": 1}})
	w.must(422, "POST", at+"/trials/2/tell", tell, "Idempotency-Key", "k2")
	w.must(200, "POST", at+"/trials/2/fail", m{"client": "a", "reason": "no memory"})
	same(t, "failed again", w.must(200, "POST", at+"/trials/2/fail", m{"client": "a", "reason": "lost"}).body["reason"], "no memory")
	w.must(409, "POST", at+"/trials/3/requeue", m{"client": "b"})
	for range 2 {
		w.must(200, "POST", at+"/trials/3/heartbeat", m{"client": "a"})
	}
	for range 2 {
		same(t, "requeued", w.must(200, "POST", at+"/trials/3/requeue", m{"client": "a"}, "Idempotency-Key", "k4").body["state"], "waiting")
	}
	same(t, "requeued without a key", w.must(200, "POST", at+"/trials/3/requeue", m{"client": "a"}).body["attempts"], 0.0)
	same(t, "another gets it", w.must(200, "POST", at+"/ask", m{"client": "b"}).ids(), []int{3})
	same(t, "requeued once more", w.must(200, "POST", at+"/trials/3/requeue", m{"client": "a"}, "Idempotency-Key", "k4").body["client"], "b")
	w.must(409, "POST", at+"/trials/3/requeue", m{"client": "a"})
	w.must(422, "POST", at+"/trials/3/requeue", m{"client": "b"}, "Idempotency-Key", "k4")

	past := m{"trials": []m{{"parameters": m{"x": 0.25}, "outcome": m{"value": 1, "constraints": m{"heat": 4}}}, {"parameters": m{"x": 1}, "failed": "lost"}}}
	same(t, "imported", w.must(200, "POST", at+"/import", past, "Idempotency-Key", "k3").body, m{"added": 2.0, "known": 0.0})
	same(t, "imported again", w.must(200, "POST", at+"/import", past, "Idempotency-Key", "k3").body, m{"added": 2.0, "known": 0.0})
	same(t, "imported anew", w.must(200, "POST", at+"/import", past).body, m{"added": 0.0, "known": 2.0})

	same(t, "all", w.must(200, "GET", at+"/trials", nil).ids(), []int{1, 2, 3, 4, 5})
	page := w.must(200, "GET", at+"/trials?limit=2", nil)
	same(t, "a page", page.ids(), []int{1, 2})
	page = w.must(200, "GET", fmt.Sprintf("%s/trials?limit=2&after=%v", at, page.body["next"]), nil)
	same(t, "the next page", page.ids(), []int{3, 4})
	page = w.must(200, "GET", fmt.Sprintf("%s/trials?limit=2&after=%v", at, page.body["next"]), nil)
	same(t, "the last page", fmt.Sprint(page.ids(), page.body["next"]), "[5] <nil>")
	same(t, "by state", w.must(200, "GET", at+"/trials?state=done,failed", nil).ids(), []int{1, 2, 4, 5})
	same(t, "by client", w.must(200, "GET", at+"/trials?client=b", nil).ids(), []int{3})
	same(t, "after all", w.must(200, "GET", at+"/trials?after=99", nil).text, `{"trials":[]}`+"\n")
	same(t, "one", w.must(200, "GET", at+"/trials/2", nil).body["reason"], "no memory")
	same(t, "best", w.must(200, "GET", at+"/best", nil).body["trial"].(m)["id"], 1.0)
	same(t, "status", w.must(200, "GET", at+"/status", nil).body["trials"], m{"done": 2.0, "failed": 2.0, "running": 1.0})
	same(t, "peers", w.must(200, "GET", at+"/peers", nil).text, `{"peers":[],"present":`+presentIn(w, at)+`,"hubs":[]}`+"\n")
	same(t, "privacy", w.must(200, "GET", at+"/privacy", nil).text, `{"reveals":"","dp_guarantee":false}`+"\n")
	w.must(200, "GET", at+"/rounds", nil)
	shared := w.must(201, "POST", "/v1/tasks", m{"text": "name: shared\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"}).body["id"]
	reveals, _ := w.must(200, "GET", fmt.Sprintf("/v1/tasks/%s/privacy", shared), nil).body["reveals"].(string)
	same(t, "what peers learn", strings.Contains(reveals, "approximate location of this node's estimated optimum (x "), true)
	w.must(204, "DELETE", fmt.Sprintf("/v1/tasks/%s", shared), nil)

	w.end()
	w = newWorld(t, dir, Options{})
	same(t, "after a restart", w.must(200, "POST", at+"/ask", m{"client": "b"}).ids(), []int{3})
	same(t, "a requeue after a restart", w.must(200, "POST", at+"/trials/3/requeue", m{"client": "a"}, "Idempotency-Key", "k4").body["client"], "b")
	same(t, "a key after a restart", w.must(200, "POST", at+"/ask", m{"client": "a", "count": 3}, "Idempotency-Key", "k1").ids(), []int{1, 2, 3})
	w.must(204, "DELETE", at, nil)
	w.must(404, "DELETE", at, nil)
	same(t, "left", w.must(200, "GET", "/v1/tasks", nil).text, `{"tasks":[]}`+"\n")
	same(t, "joined again", w.must(201, "POST", "/v1/tasks", m{"text": bowl}).body["trials"], m{"done": 2.0, "failed": 2.0, "stopped": 0.0, "running": 1.0, "waiting": 0.0})
}

func presentIn(w *world, at string) string {
	data, _ := json.Marshal(w.must(200, "GET", at+"/rounds", nil).body["present"])
	return string(data)
}

// Errors are problems that name the field and what is accepted.
func TestErrorResponsesNameField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a"})
	free, _, _ := strings.Cut(strings.Replace(bowl, "bowl", "free", 1), "constraints:")
	w.must(201, "POST", "/v1/tasks", m{"text": free})
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		want         []string
		headers      []string
	}{
		{"GET", "/", nil, 404, []string{"openapi.json"}, nil},
		{"PUT", "/v1/tasks", nil, 405, []string{"PUT", "GET", "POST"}, nil},
		{"GET", "/v1/tasks/none", nil, 404, []string{"none"}, nil},
		{"GET", "/v1/tasks/bowl/trials/2", nil, 404, []string{"trials 1 to 1 exist"}, nil},
		{"GET", "/v1/tasks/bowl/trials/x", nil, 422, []string{"path.trial"}, nil},
		{"GET", "/v1/tasks/bowl/trials?limit=0", nil, 422, []string{"query.limit", "number >= 1"}, nil},
		{"GET", "/v1/tasks/bowl/trials?state=odd", nil, 422, []string{"query.state", "waiting, running, done, failed"}, nil},
		{"GET", "/v1/tasks/bowl/trials?colour=red", nil, 422, []string{"query.colour"}, nil},
		{"POST", "/v1/tasks", m{}, 422, []string{"body", "either a text"}, nil},
		{"POST", "/v1/tasks", m{"text": bowl, "task": m{"name": "x"}}, 422, []string{"body", "either a text"}, nil},
		{"POST", "/v1/tasks", m{"task": m{"name": "x", "goal": "minimize"}}, 422, []string{"body.task", "parameters"}, nil},
		{"POST", "/v1/tasks", m{"task": "x"}, 422, []string{"body.task", "expected object"}, nil},
		{"POST", "/v1/tasks", m{"text": "goal: sideways\n"}, 422, []string{"body.text", "minimize", "task:1:7"}, nil},
		{"POST", "/v1/tasks", m{"text": bowl, "colour": 1}, 422, []string{"body.colour"}, nil},
		{"POST", "/v1/tasks", m{"text": strings.Replace(bowl, "bowl", "b", 1), "enqueue": []m{{"x": 9}}}, 422, []string{"body.enqueue[0]", "from -2 to 2"}, nil},
		{"POST", "/v1/tasks/bowl/ask", nil, 400, []string{"body"}, nil},
		{"POST", "/v1/tasks/bowl/ask", "{", 400, []string{"unexpected end"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{}, 422, []string{"body", "client"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": " a"}, 422, []string{"body.client", "printable text"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a", "count": 1001}, 422, []string{"body.count", "number <= 1000"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a", "lease_seconds": 0.5}, 422, []string{"body.lease_seconds", "number >= 1"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a"}, 422, []string{"header.Idempotency-Key", "visible ASCII"}, []string{"Idempotency-Key", "a b"}},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a"}, 415, nil, []string{"Content-Type", "text/html"}},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": "high"}, 422, []string{"body.value", "number"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1}, 422, []string{"body.constraints", "heat"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": "low"}}, 422, []string{"body.constraints.heat"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1, "cold": 1}}, 422, []string{"body.constraints", "cold"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}, "metrics": m{"": 1}}, 422, []string{"body", "metric"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/fail", m{"client": "b", "reason": "x"}, 409, []string{"not held"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/fail", m{"client": "a"}, 422, []string{"reason"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": []m{{"parameters": m{"x": 1}}}}, 422, []string{"body.trials[0]", "either"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": []m{{"parameters": m{"y": 1}, "failed": "x"}}}, 422, []string{"body.trials[0].parameters", "y"}, nil},
		{"POST", "/v1/tasks/bowl/ask", `{"client":"` + strings.Repeat("a", 1<<20) + `"}`, 413, []string{"too large"}, nil},
		{"GET", "/v1/tasks/bowl/events", nil, 422, []string{"header.Last-Event-ID", "whole number"}, []string{"Last-Event-ID", "x"}},
		{"GET", "/v1/tasks/bowl/events?after=x", nil, 422, []string{"query.after", "whole number"}, nil},
		{"GET", "/v1/tasks/bowl/events", nil, 422, []string{"header.Last-Event-ID: empty"}, []string{"Last-Event-ID", ""}},
		{"GET", "/v1/tasks/bowl/trials/0", nil, 422, []string{"path.trial", "number >= 1"}, nil},
		{"GET", "/v1/tasks/bowl/trials/-1", nil, 422, []string{"path.trial: expected a whole number from 1 to 9007199254740991"}, nil},
		{"GET", "/v1/tasks/bowl/trials?limit=x", nil, 422, []string{"query.limit: expected a whole number from 1 to 1000"}, nil},
		{"GET", "/v1/tasks/bowl/trials?limit=", nil, 422, []string{"query.limit: empty"}, nil},
		{"GET", "/v1/tasks/bowl/trials?state=done&state=failed", nil, 422, []string{"query.state: given more than once", "commas"}, nil},
		{"GET", "/v1/tasks/bowl/trials?after=%zz", nil, 400, []string{"query: ", "%zz"}, nil},
		{"GET", "/v1/tasks/bowl/trials?colour=red", nil, 422, []string{"query.colour: unknown query parameter; accepted: after, limit, state, client"}, nil},
		{"GET", "/v1/tasks?colour=red", nil, 422, []string{"query.colour: unknown query parameter; expected none"}, nil},
		{"GET", "/v1/tasks//trials", nil, 404, []string{"openapi.json"}, nil},
		{"GET", "/v1/bowl/../tasks", nil, 404, []string{"openapi.json"}, nil},
		{"POST", "/v1/tasks", m{"task": nil}, 422, []string{"body: expected either a text"}, nil},
		{"POST", "/v1/tasks", `{"text":"name: x","seed":18446744073709551616}`, 422, []string{"seed", "18446744073709551616", "64 bits"}, nil},
		{"POST", "/v1/tasks/bowl/ask", nil, 400, []string{`"location":"body"`, "an object in JSON"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a", "colour": 1}, 422, []string{"body.colour: unexpected property; accepted: client, count, lease_seconds, wait_seconds"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"Client": "a"}, 422, []string{"body.Client", "accepted: client"}, nil},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a"}, 422, []string{"header.Idempotency-Key: empty"}, []string{"Idempotency-Key", ""}},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a"}, 415, []string{"header.Content-Type", "expected application/json"}, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"POST", "/v1/tasks/bowl/ask", m{"client": "a"}, 415, []string{"header.Content-Type", "UTF-8"}, []string{"Content-Type", "application/json; charset=latin1"}},
		{"POST", "/v1/tasks/bowl/trials/1/tell", `{"value":1e999}`, 400, []string{"body: number 1e999 is too large", "1.79e308"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", `{"value":NaN}`, 400, []string{"body: no JSON at byte 10"}, nil},
		{"POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}, "metrics": m{"\x01": 1}}, 422, []string{"body.metrics: ", "printable text"}, nil},
		{"POST", "/v1/tasks/free/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}}, 422, []string{"body.constraints: the task has none"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": nil}, 422, []string{"body.trials: expected array"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": []m{{"parameters": m{"x": 1}, "colour": 1}}}, 422, []string{"body.trials[0].colour", "accepted: attributes, cost, failed, files, outcome, parameters, steps, stopped, tags"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": []m{{"parameters": m{"x": 1}, "outcome": m{"val": 1}}}}, 422, []string{"body.trials[0].outcome.val", "accepted: constraints, metrics, value"}, nil},
		{"POST", "/v1/tasks/bowl/import", m{"trials": []m{{"parameters": m{"x": 1}, "outcome": m{"value": 1, "constraints": m{"heat": 1}, "metrics": m{"": 1}}}}}, 422, []string{"body.trials[0].outcome.metrics"}, nil},
	} {
		r := w.do(c.method, c.path, c.body, c.headers...)
		if r.status != c.status || r.header.Get("Content-Type") != "application/problem+json" || r.body["status"] != float64(c.status) {
			t.Errorf("%s %s %.80v: %d %v %s", c.method, c.path, c.body, r.status, r.header.Get("Content-Type"), r.text)
		}
		if strings.Contains(r.text, `"value":`) || strings.Contains(r.text, "validation failed") {
			t.Errorf("%s %s %.80v: sent back, or no detail: %s", c.method, c.path, c.body, r.text)
		}
		for _, want := range c.want {
			if !strings.Contains(r.text, want) {
				t.Errorf("%s %s %.80v: %q is missing in %s", c.method, c.path, c.body, want, r.text)
			}
		}
	}
	same(t, "nothing has changed", w.must(200, "GET", "/v1/tasks/bowl/trials", nil).ids(), []int{1})
}

// nextEvent reads one event of a stream.
func nextEvent(t *testing.T, lines *bufio.Scanner) (id, event string) {
	t.Helper()
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "id":
			id = value
		case name == "event":
			event = value
		case lines.Text() == "" && event != "":
			return id, event
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return "", ""
}

func (w *world) open(path string, headers ...string) *bufio.Scanner {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), "GET", w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	return bufio.NewScanner(response.Body)
}

func TestEventsAreAStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{Streams: 2})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	lines := w.open("/v1/tasks/bowl/events")
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a"})
	w.must(200, "POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}})
	id, event := nextEvent(t, lines)
	same(t, "the first event", event, "trial_started")
	second, event := nextEvent(t, lines)
	same(t, "the second event", event, "trial_finished")
	again, event := nextEvent(t, w.open("/v1/tasks/bowl/events", "Last-Event-ID", id))
	same(t, "the second event again", again+event, second+"trial_finished")
	if r := w.do("GET", "/v1/tasks/bowl/events", nil); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("a third stream: %d %s", r.status, r.text)
	}
	w.must(204, "DELETE", "/v1/tasks/bowl", nil)
	for lines.Scan() { // until the stream ends
	}
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	_, event = nextEvent(t, w.open("/v1/tasks/bowl/events?after="+id))
	same(t, "after a restart", event, "missed")
}

// A node that has not joined all its tasks is live and not ready, and its answers have the number of
// tasks that are joined.
func TestHealthDuringTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	for path, status := range map[string]string{LivePath: "live", ReadyPath: "ready"} {
		same(t, path, w.must(200, "GET", path, nil).body, m{"status": status})
	}
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	w.end()
	w = newStartingWorld(t, dir, Options{})
	same(t, "live", w.must(200, "GET", LivePath, nil).body, m{"status": "live"})
	same(t, "the node", w.must(200, "GET", "/v1/node", nil).body["starting"], "starting: 0 of 1")
	for _, path := range []string{ReadyPath, "/v1/tasks/bowl", "/v1/tasks/unknown/status"} {
		r := w.must(503, "GET", path, nil)
		same(t, path, r.body["detail"], "starting: 0 of 1")
		same(t, "when to ask "+path+" again", r.header.Get("Retry-After"), "1")
	}
	if err := w.server.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "ready", w.must(200, "GET", ReadyPath, nil).body, m{"status": "ready"})
	w.must(200, "GET", "/v1/tasks/bowl", nil)
	w.must(404, "GET", "/v1/tasks/unknown", nil)
	if body := w.must(200, "GET", "/v1/node", nil).body; body["starting"] != nil {
		t.Errorf("the node after the start: %v", body)
	}
}

// A lease that ends lets another client have the trial.
func TestAnEndedLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	lines := w.open("/v1/tasks/bowl/events")
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a", "lease_seconds": 1})
	for event := ""; event != "lease_ended"; {
		_, event = nextEvent(t, lines)
	}
	same(t, "another client", w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "b"}).ids(), []int{1})
	if r := w.do("POST", "/v1/tasks/bowl/trials/1/heartbeat", m{"client": "a"}); r.status != 409 {
		t.Errorf("a heartbeat too late: %d %s", r.status, r.text)
	}
}

// The description is whole: it names every operation, and each of them its answers.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{Version: "1.2"})
	r := w.must(200, "GET", "/v1/openapi.json", nil)
	same(t, "version", r.body["openapi"], "3.1.0")
	paths := r.body["paths"].(m)
	count := 0
	for path, operations := range paths {
		for method, operation := range operations.(m) {
			count++
			if !strings.HasPrefix(path, "/v1/") || operation.(m)["summary"] == "" {
				t.Errorf("%s %s: %v", method, path, operation)
			}
			if tags, _ := operation.(m)["tags"].([]any); len(tags) != 1 {
				t.Errorf("%s %s: the tags are %v, want one", method, path, tags)
			}
			responses := operation.(m)["responses"].(m)
			for status, response := range responses {
				content, _ := response.(m)["content"].(m)
				if status != "204" && len(content) == 0 {
					t.Errorf("%s %s: %s has no content", method, path, status)
				}
				for kind, body := range content {
					schema, _ := body.(m)["schema"].(m)
					if schema["$ref"] == nil && schema["properties"] == nil && schema["type"] != "string" {
						t.Errorf("%s %s: the schema of %s, %s is %v, want one with properties", method, path, status, kind, schema)
					}
				}
			}
			for _, status := range []string{"400", "401", "403", "421", "422", "429", "500", "503"} {
				if responses[status] == nil {
					t.Errorf("%s %s: %s is missing", method, path, status)
				}
			}
		}
	}
	same(t, "operations", count, 39)
	same(t, "the program's version", r.body["info"].(m)["version"], "1.2")
	servers, _ := r.body["servers"].([]any)
	if len(servers) != 1 || servers[0].(m)["url"] != "http://127.0.0.1:7070" {
		t.Errorf("the servers are %v, want http://127.0.0.1:7070", servers)
	}
	schemas := r.body["components"].(m)["schemas"].(m)
	for name := range schemas {
		if strings.HasSuffix(name, "Body") {
			t.Errorf("the schema %s has the suffix Body", name)
		}
	}
	for _, name := range []string{"Task", "Order", "Trial", "Outcome", "Status"} {
		if schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	same(t, "the token", r.body["security"], []any{m{"token": []any{}}})
	same(t, "a new task", paths["/v1/tasks"].(m)["post"].(m)["responses"].(m)["201"] != nil, true)
}

func FuzzEventNumber(f *testing.F) {
	for _, text := range []string{"", "0", "7", "18446744073709551615", "18446744073709551616", "-1", "x", " 1", "1e3"} {
		f.Add(text, "")
		f.Add("", text)
	}
	f.Fuzz(func(t *testing.T, last, after string) {
		in := eventsInput{Last: last, After: after}
		n, err := in.number(5)
		given := last
		if given == "" {
			given = after
		}
		if err == nil && given == "" && n != 5 || err == nil && given != "" && strings.TrimLeft(given, "0") != strings.TrimLeft(fmt.Sprint(n), "0") {
			t.Fatalf("%q, %q: %d", last, after, n)
		}
	})
}

// FuzzLists asks for anything in a list.
func FuzzLists(f *testing.F) {
	w := newWorld(f, f.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a", "count": 3})
	for _, query := range []string{"", "after=1&limit=1", "state=running,done&client=a", "after=18446744073709551615", "limit=0", "state=", "client=%00", "after=-1"} {
		f.Add("bowl", query)
	}
	f.Add("%2e%2e", "")
	f.Fuzz(func(t *testing.T, task, query string) {
		path := "/v1/tasks/" + task + "/trials?" + query
		if u, err := url.Parse(w.url + path); err != nil || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) || u.Host == "" {
			return // no request
		}
		w := *w
		w.t = t
		r := w.do("GET", path, nil)
		if r.status >= 500 || r.status >= 400 && r.header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("%s: %d %s", path, r.status, r.text)
		}
	})
}

// FuzzBodies sends anything to everything that takes a body: no answer is an error of the
// server, and what is refused is a problem.
func FuzzBodies(f *testing.F) {
	w := newWorld(f, f.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	paths := []string{"", "/bowl/ask", "/bowl/import", "/bowl/trials/1/tell", "/bowl/trials/1/fail", "/bowl/trials/1/requeue", "/bowl/trials/1/heartbeat", "/bowl/enqueue"}
	for i, body := range []string{
		`{"text":"name: x","enqueue":[{"x":1}],"seed":1}`, `{"client":"a","count":2,"lease_seconds":1,"wait_seconds":0.1}`,
		`{"trials":[{"parameters":{"x":1},"outcome":{"value":1,"constraints":{"heat":1}}},{"parameters":{"x":1},"failed":"y"}]}`,
		`{"value":1,"constraints":{"heat":true},"metrics":{"m":1e308}}`, `{"client":"a","reason":"b"}`, `{"client":"a"}`, `{"client":"a"}`, `{"parameters":{"x":1}}`,
	} {
		f.Add(i, []byte(body), "")
		f.Add(i, []byte(body), "key")
	}
	f.Fuzz(func(t *testing.T, path int, body []byte, key string) {
		if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) || bytes.Contains(body, []byte("count")) && len(body) > 100 {
			return // no header; and hundreds of designs take long
		}
		w := *w
		w.t = t
		r := w.do("POST", "/v1/tasks"+paths[uint(path)%uint(len(paths))], string(body), "Idempotency-Key", key, "Content-Type", "application/json")
		if r.status >= 500 || r.status >= 300 && r.header.Get("Content-Type") != "application/problem+json" {
			t.Fatalf("%s %q: %d %s", paths[uint(path)%uint(len(paths))], body, r.status, r.text)
		}
	})
}
