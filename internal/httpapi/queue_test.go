package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

const pair = `name: pair
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: n, type: int, low: 1, high: 8}
  - {name: kind, type: categorical, choices: [a, b]}
surrogate: {type: rff, features: 16}
strategy: {type: ts}
`

func queued(w *world) (list []string) {
	w.t.Helper()
	for _, one := range w.must(200, "GET", "/v1/tasks/pair/queue", nil).body["queued"].([]any) {
		entry := one.(m)
		list = append(list, fmt.Sprint(entry["id"], " ", entry["parameters"].(m)["n"]))
		if entry["enqueued"] == nil && entry["id"] != nil {
			w.t.Errorf("queued design %v has no time", entry)
		}
	}
	return list
}

// TestQueue enqueues and withdraws designs, repeats both, restarts, and evaluates what is left.
func TestQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	design := func(n int) m { return m{"x": 0.5, "n": n, "kind": "b"} }
	w.must(201, "POST", "/v1/tasks", m{"text": pair, "enqueue": []m{design(1)}})
	const at = "/v1/tasks/pair"
	enqueue := func(n int, headers ...string) string {
		t.Helper()
		return w.must(200, "POST", at+"/enqueue", m{"parameters": design(n)}, headers...).text
	}
	events := w.open(at + "/events")
	first := enqueue(2, "Idempotency-Key", "k1")
	same(t, "enqueued", strings.TrimSpace(first), `{"id":1,"parameters":{"x":0.5,"n":2,"kind":"b"}}`)
	same(t, "again with the key", enqueue(2, "Idempotency-Key", "k1"), first)
	same(t, "again without a key", enqueue(2), first)
	w.must(422, "POST", at+"/enqueue", m{"parameters": design(3)}, "Idempotency-Key", "k1")
	enqueue(3)
	enqueue(4)
	same(t, "one of the order", strings.Contains(enqueue(1), `"id"`), false)
	same(t, "queue", queued(w), "[<nil> 1 1 2 2 3 3 4]")
	for range 2 {
		w.must(204, "DELETE", at+"/queue/2", nil, "Idempotency-Key", "k2")
	}
	w.must(404, "DELETE", at+"/queue/2", nil)
	w.must(404, "DELETE", at+"/queue/9", nil)
	var seen []string
	for range 4 {
		_, event := nextEvent(t, events)
		seen = append(seen, event)
	}
	same(t, "events", seen, "[design_enqueued design_enqueued design_enqueued design_withdrawn]")

	w.end()
	w = newWorld(t, dir, Options{})
	same(t, "queue after a restart", queued(w), "[<nil> 1 1 2 3 4]")
	same(t, "the same key after a restart", enqueue(2, "Idempotency-Key", "k1"), first)
	asked := w.must(200, "POST", at+"/ask", m{"client": "a", "count": 2})
	var got []any
	for _, one := range asked.body["trials"].([]any) {
		got = append(got, one.(m)["parameters"].(m)["n"], one.(m)["why"].(m)["source"])
	}
	same(t, "trials", got, "[1 enqueued 2 enqueued]")
	same(t, "queue after two trials", queued(w), "[3 4]")
	same(t, "the same key after the trial", enqueue(2, "Idempotency-Key", "k1"), first)
	same(t, "a design with a trial is evaluated once more", strings.Contains(enqueue(2), `"id":4`), true)
	w.must(404, "DELETE", at+"/queue/1", nil)

	w.end()
	w = newWorld(t, dir, Options{})
	same(t, "queue after another restart", queued(w), "[3 4 4 2]")
	same(t, "trial", w.must(200, "POST", at+"/ask", m{"client": "b"}).body["trials"].([]any)[0].(m)["parameters"].(m)["n"], 4)
}

// TestEnqueueErrors checks that every wrong parameter has an error, and that nothing is enqueued then.
func TestEnqueueErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": pair})
	const at = "/v1/tasks/pair/enqueue"
	for _, c := range []struct {
		parameters any
		want       map[string]string // by location
	}{
		{m{"x": 3, "n": 1.5, "kind": "c"}, map[string]string{"body.parameters.x": "-2 to 2", "body.parameters.n": "whole number", "body.parameters.kind": `"a"`}},
		{m{"x": 1, "kind": "a"}, map[string]string{"body.parameters.n": "no value given; it takes"}},
		{m{"x": 1, "n": 2, "kind": "a", "y": 1, "<b>": 2}, map[string]string{"body.parameters.y": "unknown parameter", "body.parameters.<b>": "unknown parameter"}},
		{m{"x": "1", "n": true, "kind": nil}, map[string]string{"body.parameters.x": "-2 to 2", "body.parameters.n": "1 to 8", "body.parameters.kind": `"a"`}},
		{m{}, map[string]string{"body.parameters.x": "no value", "body.parameters.n": "no value", "body.parameters.kind": "no value"}},
	} {
		r := w.must(422, "POST", at, m{"parameters": c.parameters})
		errors, _ := r.body["errors"].([]any)
		if len(errors) != len(c.want) {
			t.Errorf("%v: %d errors, expected %d: %s", c.parameters, len(errors), len(c.want), r.text)
		}
		for _, one := range errors {
			location, message := one.(m)["location"].(string), one.(m)["message"].(string)
			if want := c.want[location]; want == "" || !strings.Contains(message, want) {
				t.Errorf("%v: %s: %q, expected %q", c.parameters, location, message, want)
			}
		}
		if !strings.HasPrefix(r.body["detail"].(string), "body.parameters.") {
			t.Errorf("%v: the detail is %q", c.parameters, r.body["detail"])
		}
	}
	for _, body := range []any{m{}, m{"parameters": nil}, m{"parameters": 1}, m{"parameters": []int{1}}, m{"design": m{}}} {
		w.must(422, "POST", at, body)
	}
	w.must(422, "POST", at, `{"parameters":{"x":1,"x":1,"n":1,"kind":"a"}}`)
	same(t, "queue", queued(w), "[]")
	w.must(404, "POST", "/v1/tasks/none/enqueue", m{"parameters": m{}})
}

// TestEnqueueOfInactiveParameters checks that a design may leave out inactive and fixed parameters,
// and that an error names the parameter that is inactive, or has no value.
func TestEnqueueOfInactiveParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": strings.Replace(pair, "choices: [a, b]}\n", `choices: [a, b]}
  - {name: beta, type: float, low: 0, high: 1, when: {kind: b}}
  - {name: epochs, value: 20}
parameter_constraints: [x + n <= 8]
`, 1)})
	const at = "/v1/tasks/pair/enqueue"
	for _, c := range []struct {
		parameters m
		location   string
		want       string
	}{
		{m{"x": 1, "n": 2, "kind": "a", "beta": 0.5}, "body.parameters.beta", "0.5 given, expected no value: it applies only with kind: b"},
		{m{"x": 1, "n": 2, "kind": "b"}, "body.parameters.beta", "no value given; it takes a number from 0 to 1"},
		{m{"x": 3, "n": 2, "kind": "a"}, "body.parameters.x", "-2 to 2"},
		{m{"x": 1, "n": 8, "kind": "a"}, "body.parameters", `violates the parameter constraint "x + n <= 8"`},
	} {
		r := w.must(422, "POST", at, m{"parameters": c.parameters})
		errors, _ := r.body["errors"].([]any)
		if len(errors) != 1 || errors[0].(m)["location"] != c.location || !strings.Contains(errors[0].(m)["message"].(string), c.want) {
			t.Errorf("%v: %s, expected %s: %s", c.parameters, r.text, c.location, c.want)
		}
	}
	got := w.must(200, "POST", at, m{"parameters": m{"x": 1, "n": 2, "kind": "a", "beta": nil}}).text
	same(t, "enqueued", strings.TrimSpace(got), `{"id":1,"parameters":{"x":1,"n":2,"kind":"a","epochs":20}}`)
}
