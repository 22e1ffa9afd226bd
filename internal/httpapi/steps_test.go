package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

const halving = `name: halving
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
surrogate: {type: rff, features: 16}
strategy: {type: ts}
stop: {type: asha, grace_period: 1, reduction_factor: 2}
`

// steps returns values by step from 1 on.
func stepsFrom(first int, values ...float64) []m {
	var all []m
	for i, v := range values {
		all = append(all, m{"step": first + i, "value": v})
	}
	return all
}

// TestSteps reports values by step, stops evaluations by the task's rule and by decisions of the
// program, and reads all of it again after a restart.
func TestSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": halving})
	w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "a", "count": 5})
	const at = "/v1/tasks/halving/trials/"
	report := func(status int, trial int, steps []m) reply {
		return w.must(status, "POST", fmt.Sprint(at, trial, "/steps"), m{"client": "a", "steps": steps})
	}
	events := w.open("/v1/tasks/halving/events")
	for range 2 { // a repeated report changes nothing
		same(t, "first report", report(200, 1, stepsFrom(1, 1, 0.5)).text, `{"stop":null}`+"\n")
	}
	_, event := nextEvent(t, events)
	same(t, "event", event, "trial_reported")
	stop := report(200, 2, stepsFrom(1, 3)).body["stop"].(map[string]any)
	same(t, "rule", stop["rule"], "asha")
	same(t, "step", stop["step"], 1.0)
	same(t, "the decision stays", report(200, 2, stepsFrom(2, 0.1)).body["stop"], any(stop))
	running := w.must(200, "GET", at+"2", nil).body
	same(t, "state before the end", running["state"], "running")
	same(t, "decision", running["stop"], any(stop))
	same(t, "steps", running["steps"], []any{map[string]any{"step": 1.0, "value": 3.0}, map[string]any{"step": 2.0, "value": 0.1}})

	for range 2 { // with the key, and from the same client without it
		ended := w.must(200, "POST", at+"2/stopped", m{"client": "a", "tags": []string{"early"}}, "Idempotency-Key", "k").body
		same(t, "state", ended["state"], "stopped")
		same(t, "tags", ended["tags"], []any{"early"})
		if ended["outcome"] != nil {
			t.Errorf("a stopped trial has the outcome %v", ended["outcome"])
		}
		w.must(200, "POST", at+"2/stopped", m{"client": "a"})
	}
	same(t, "a late report", report(200, 2, stepsFrom(3, 1)).body["stop"], any(stop))
	w.must(422, "POST", at+"2/stopped", m{"client": "a", "reason": "other"}, "Idempotency-Key", "k")
	w.must(409, "POST", at+"2/tell", m{"value": 1})

	if got := w.must(422, "POST", at+"3/stopped", m{"client": "a"}); !strings.Contains(got.text, "trial 3") || !strings.Contains(got.text, "no values by step") {
		t.Errorf("stopped without steps: %s", got.text)
	}
	report(200, 3, stepsFrom(1, 0.4))
	got := w.must(200, "POST", at+"3/stopped", m{"client": "a", "reason": "the program has seen enough", "attributes": m{"commit": "abc"}}).body
	same(t, "by the program", got["stop"], any(map[string]any{"rule": "program", "step": 1.0, "reason": "the program has seen enough"}))
	same(t, "its attributes", got["attributes"], any(map[string]any{"commit": "abc"}))

	report(200, 4, stepsFrom(4, 2))
	for text, body := range map[string]any{
		"expected number >= 1":            m{"client": "a", "steps": stepsFrom(0, 1)},
		"expected number <= 1e+09":        m{"client": "a", "steps": stepsFrom(1_000_000_001, 1)},
		"expected number":                 m{"client": "a", "steps": []m{{"step": 1, "value": "NaN"}}},
		"expected integer":                m{"client": "a", "steps": []m{{"step": 1.5, "value": 1}}},
		"expected array length >= 1":      m{"client": "a", "steps": []m{}},
		"expected array length <= 1000":   m{"client": "a", "steps": stepsFrom(1, make([]float64, 1001)...)},
		"required property steps":         m{"client": "a"},
		"accepted: cost, step, value":     m{"client": "a", "steps": []m{{"step": 1, "value": 1, "loss": 1}}},
		"body.steps: trial 4: step value": m{"client": "a", "steps": append(stepsFrom(5, 1), stepsFrom(3, 1)...)},
		"1.79e308":                        `{"client": "a", "steps": [{"step": 6, "value": 1e999}]}`,
	} {
		headers := []string{"Content-Type", "application/json"}
		got := w.do("POST", at+"4/steps", body, headers...)
		if (got.status != 422 && got.status != 400) || !strings.Contains(got.text, text) {
			t.Errorf("%v: %d %.400s, expected %q", text, got.status, got.text, text)
		}
	}
	same(t, "the values before a wrong one", fmt.Sprint(w.must(200, "GET", at+"4", nil).body["steps"]), "[map[step:4 value:2] map[step:5 value:1]]")
	w.must(409, "POST", at+"4/steps", m{"client": "b", "steps": stepsFrom(6, 1)})
	w.must(409, "POST", at+"4/stopped", m{"client": "b"})
	w.must(404, "POST", at+"99/steps", m{"client": "a", "steps": stepsFrom(6, 1)})
	w.must(404, "POST", at+"99/stopped", m{"client": "a"})
	w.must(200, "POST", at+"1/tell", m{"value": 0.25})
	w.must(409, "POST", at+"1/steps", m{"client": "a", "steps": stepsFrom(9, 1)})
	w.must(409, "POST", at+"1/stopped", m{"client": "a"})

	counts := map[string]any{"waiting": 0.0, "running": 2.0, "done": 1.0, "failed": 0.0, "stopped": 2.0}
	same(t, "counts", w.must(200, "GET", "/v1/tasks/halving", nil).body["trials"], any(counts))
	same(t, "stopped trials", fmt.Sprint(w.must(200, "GET", "/v1/tasks/halving/trials?state=stopped", nil).ids()), "[2 3]")
	before := w.must(200, "GET", "/v1/tasks/halving/trials", nil).body["trials"].([]any)
	w.end()
	w = newWorld(t, dir, Options{})
	after := w.must(200, "GET", "/v1/tasks/halving/trials", nil).body["trials"].([]any)
	for i := range 4 {
		for _, key := range []string{"state", "steps", "stop", "outcome"} {
			same(t, fmt.Sprint(key, " of trial ", i+1, " after a restart"), after[i].(map[string]any)[key], before[i].(map[string]any)[key])
		}
	}
}

// TestCosts reports the cost of trials in all bodies that may have it.
func TestCosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": halving})
	w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "a", "count": 4})
	const at = "/v1/tasks/halving/trials/"
	steps := []m{{"step": 1, "value": 1, "cost": 2}, {"step": 2, "value": 1}}
	for trial := 1; trial <= 4; trial++ {
		w.must(200, "POST", fmt.Sprint(at, trial, "/steps"), m{"client": "a", "steps": steps})
	}
	cost := func(trial int) any { return w.must(200, "GET", fmt.Sprint(at, trial), nil).body["cost"] }
	for path, body := range map[string]m{
		"4/steps": {"client": "a", "steps": []m{{"step": 3, "value": 1, "cost": -1}}},
		"1/tell":  {"value": 1, "cost": -0.5}, "2/fail": {"client": "a", "reason": "x", "cost": "much"}, "3/stopped": {"client": "a", "cost": -1},
	} {
		if got := w.must(422, "POST", at+path, body); !strings.Contains(got.text, "cost: expected number") {
			t.Errorf("%s: %s", path, got.text)
		}
	}
	w.must(200, "POST", at+"1/tell", m{"value": 1, "cost": 3.5}, "Idempotency-Key", "k")
	w.must(200, "POST", at+"1/tell", m{"value": 1, "cost": 3.5}, "Idempotency-Key", "k")
	w.must(200, "POST", at+"2/fail", m{"client": "a", "reason": "x", "cost": 1})
	w.must(200, "POST", at+"3/stopped", m{"client": "a", "cost": 2.5})
	for i, want := range []float64{3.5, 2, 2.5, 2} {
		same(t, fmt.Sprint("cost of trial ", i+1), cost(i+1), any(want))
	}
	past := []m{{"parameters": m{"x": 1}, "outcome": m{"value": 1}, "cost": 4}, {"parameters": m{"x": 1}, "failed": "x", "cost": 0}}
	w.must(200, "POST", "/v1/tasks/halving/import", m{"trials": past})
	same(t, "imported cost", cost(5), any(4.0))
	same(t, "imported cost", cost(6), any(0.0))
}

// TestStepsOfAReturnedTrial gives a trial with values to another client, which continues from them,
// and does not give one that was asked to stop.
func TestStepsOfAReturnedTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": halving})
	const at = "/v1/tasks/halving/trials/"
	w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "a", "count": 2})
	w.must(200, "POST", at+"1/steps", m{"client": "a", "steps": stepsFrom(1, 1, 0.5)})
	w.must(200, "POST", at+"2/steps", m{"client": "a", "steps": stepsFrom(1, 2)})
	w.must(200, "POST", at+"1/requeue", m{"client": "a"})
	same(t, "a trial with a decision", w.must(200, "POST", at+"2/requeue", m{"client": "a"}).body["state"], "stopped")
	asked := w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "b"})
	same(t, "trials", fmt.Sprint(asked.ids()), "[1]")
	given := asked.body["trials"].([]any)[0].(map[string]any)
	same(t, "its steps", len(given["steps"].([]any)), 2)
	for range 2 { // from the start, and once more after b was killed and has asked again
		w.must(200, "POST", at+"1/steps", m{"client": "b", "steps": stepsFrom(1, 7, 7, 0.4)})
		same(t, "held", fmt.Sprint(w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "b"}).ids()), "[1]")
		w.must(200, "POST", at+"1/steps", m{"client": "b", "steps": stepsFrom(1, 8, 8, 8, 0.3)})
	}
	same(t, "steps", fmt.Sprint(w.must(200, "GET", at+"1", nil).body["steps"]), "[map[step:1 value:1] map[step:2 value:0.5] map[step:3 value:0.4] map[step:4 value:0.3]]")
	w.must(409, "POST", at+"1/steps", m{"client": "a", "steps": stepsFrom(4, 0.4)})
}

// TestPatience ends a trial with its last value as outcome.
func TestPatience(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": strings.Replace(halving, "type: asha, grace_period: 1, reduction_factor: 2", "patience: 2", 1)})
	w.must(200, "POST", "/v1/tasks/halving/ask", m{"client": "a"})
	const at = "/v1/tasks/halving/trials/1"
	stop := w.must(200, "POST", at+"/steps", m{"client": "a", "steps": stepsFrom(1, 1, 2, 3)}).body["stop"].(map[string]any)
	same(t, "rule", stop["rule"], "patience")
	got := w.must(200, "POST", at+"/stopped", m{"client": "a"}).body
	same(t, "state", got["state"], "done")
	same(t, "outcome", got["outcome"], any(map[string]any{"value": 3.0}))
	w.must(200, "POST", at+"/stopped", m{"client": "a"})
}

// TestImportOfSteps adds earlier evaluations with their values by step, once.
func TestImportOfSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": halving})
	x := func(v float64) m { return m{"x": v} }
	past := m{"trials": []m{
		{"parameters": x(0), "outcome": m{"value": 1}, "steps": stepsFrom(1, 2, 1), "tags": []string{"old"}},
		{"parameters": x(1), "stopped": "pruned at step 2", "steps": stepsFrom(1, 4, 3), "tags": []string{"old"}},
		{"parameters": x(2), "failed": "no memory", "steps": stepsFrom(1, 5), "tags": []string{"old"}},
	}}
	same(t, "added", w.must(200, "POST", "/v1/tasks/halving/import", past).body["added"], 3.0)
	same(t, "again", w.must(200, "POST", "/v1/tasks/halving/import", past).body["known"], 3.0)
	var states []any
	for _, one := range w.must(200, "GET", "/v1/tasks/halving/trials", nil).body["trials"].([]any) {
		trial := one.(map[string]any)
		states = append(states, trial["state"], len(trial["steps"].([]any)))
		same(t, "tags", trial["tags"], []any{"old"})
	}
	same(t, "states", states, []any{"done", 2, "stopped", 2, "failed", 1})
	for text, one := range map[string]m{
		"expected either an outcome, or in failed or stopped the reason": {"parameters": x(0), "stopped": "pruned", "failed": "pruned", "steps": stepsFrom(1, 1)},
		"stopped without steps; expected one or more":                    {"parameters": x(0), "stopped": "pruned"},
		"expected increasing steps":                                      {"parameters": x(0), "stopped": "pruned", "steps": append(stepsFrom(2, 1), stepsFrom(1, 1)...)},
	} {
		if got := w.must(422, "POST", "/v1/tasks/halving/import", m{"trials": []m{one}}); !strings.Contains(got.text, text) {
			t.Errorf("%v: %s", one, got.text)
		}
	}
}
