package httpapi

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const trade = `name: trade
objectives:
  - {name: error, goal: minimize, reference: 1}
  - {name: speed, goal: maximize, reference: 0}
parameters:
  - {name: x, type: float, low: 0, high: 1}
strategy: {type: alone}
`

// TestFront compares the front, the hypervolume and its history with values computed by hand, of a
// running node and of a stopped one.
func TestFront(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	created := w.must(201, "POST", "/v1/tasks", m{"text": trade}).body
	same(t, "objectives of the task", fmt.Sprintf("%v %v", created["objectives"], created["goal"]), "[error speed] minimize")
	past := func(x, value, speed float64) m {
		return m{"parameters": m{"x": x}, "outcome": m{"value": value, "metrics": m{"speed": speed}}}
	}
	w.must(200, "POST", "/v1/tasks/trade/import", m{"trials": []m{
		past(0.1, 0.5, 4), // 0.5 × 4
		past(0.2, 0.6, 3), // dominated
		past(0.3, 0.9, 8), // adds 0.1 × (8−4)
		past(0.4, 0.5, 4), // equal to the first
		past(0.5, 2, 9),   // beyond the reference of error, and on the front
		past(0.6, 0.4, 4), // replaces the first: adds 0.1 × 4
		{"parameters": m{"x": 0.7}, "failed": "no memory"},
	}})
	const want = "[error speed] 2.8 [map[hypervolume:2 trial:1] map[hypervolume:2.4 trial:3] map[hypervolume:2.8 trial:6]] [6 3 5]"
	check := func(node string, r reply) {
		t.Helper()
		same(t, "front of the "+node, fmt.Sprintf("%v %v %v %v", r.body["objectives"], rounded(r.body["hypervolume"]), rounded(r.body["history"]), r.ids()), want)
	}
	check("running node", w.must(200, "GET", "/v1/tasks/trade/front", nil))

	served := w.server.Tasks()[0].Session()
	trials, err := served.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	none := func(*task.Task, uint64, io.Writer) error { return nil }
	stopped := httptest.NewServer(NewStopped("", []Past{{Task: served.Task(), Trials: trials}}, none))
	defer stopped.Close()
	check("stopped node", (&world{t: t, url: stopped.URL}).must(200, "GET", "/v1/tasks/"+served.Task().ID().String()+"/front", nil))
}

// rounded removes the last digits of the sums.
func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("%.6g", v)
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case m:
		for key := range v {
			v[key] = rounded(v[key])
		}
	}
	return v
}

// TestFrontOfOneObjective answers without trials.
func TestFrontOfOneObjective(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	same(t, "front", strings.TrimSpace(w.must(200, "GET", "/v1/tasks/bowl/front", nil).text), `{"objectives":[],"trials":[]}`)
}

// TestMissingObjective refuses an outcome without an objective, by tell and by import, and names it.
func TestMissingObjective(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": trade})
	w.must(200, "POST", "/v1/tasks/trade/ask", m{"client": "one"})
	for place, r := range map[string]reply{
		"body.metrics":                   w.must(422, "POST", "/v1/tasks/trade/trials/1/tell", m{"value": 0.5, "metrics": m{"Speed": 1}}),
		"body.trials[0].outcome.metrics": w.must(422, "POST", "/v1/tasks/trade/import", m{"trials": []m{{"parameters": m{"x": 0.5}, "outcome": m{"value": 0.5}}}}),
	} {
		for _, want := range []string{`"` + place + `"`, `the task's objective \"speed\" is missing in the outcome; expected a metric of this name`} {
			if !strings.Contains(r.text, want) {
				t.Errorf("%s\nlacks %s", r.text, want)
			}
		}
	}
	same(t, "trials", fmt.Sprint(w.must(200, "GET", "/v1/tasks/trade", nil).body["trials"]), "map[done:0 failed:0 running:1 stopped:0 waiting:0]")
	w.must(200, "POST", "/v1/tasks/trade/trials/1/tell", m{"value": 0.5, "metrics": m{"speed": 1}})
}

// TestVolumesAreThoseOfPrefixes compares the history with the hypervolume of all trials up to each. A long one
// has some of them, and the last.
func TestVolumesAreThoseOfPrefixes(t *testing.T) {
	w := newWorld(t, t.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": trade})
	of := w.server.Tasks()[0].Session().Task()
	var trials []strategy.Trial
	for i := range 60 {
		value, speed := float64(i*37%61)/50, float64(i*23%53)/10
		trials = append(trials, strategy.Trial{ID: uint64(i + 1), State: strategy.Done, Outcome: &strategy.Outcome{Value: value, Metrics: map[string]float64{"speed": speed}}})
	}
	grown, before := volumes(of, trials), 0.0
	for i := range trials {
		volume, _ := strategy.Hypervolume(of, trials[:i+1])
		if volume > before+1e-12 {
			if len(grown) == 0 || grown[0].Trial != trials[i].ID || grown[0].Hypervolume != volume {
				t.Fatalf("after trial %d: %v, want %g", i+1, grown, volume)
			}
			grown = grown[1:]
		}
		before = volume
	}
	if len(grown) > 0 {
		t.Errorf("further entries: %v", grown)
	}

	for i := range trials {
		x := float64(i) / 100
		trials[i].Outcome = &strategy.Outcome{Value: x * x, Metrics: map[string]float64{"speed": x}}
	}
	for i := range 250 {
		x := float64(i) / 250
		trials = append(trials, strategy.Trial{ID: uint64(len(trials) + 1), State: strategy.Done, Outcome: &strategy.Outcome{Value: x*x - 0.1, Metrics: map[string]float64{"speed": x}}})
	}
	grown = volumes(of, trials)
	if last := grown[len(grown)-1]; len(grown) > maxVolumes || len(grown) < maxVolumes/2 || last.Trial != trials[len(trials)-1].ID {
		t.Errorf("%d entries, the last %v", len(grown), last)
	}
	for _, g := range grown {
		if volume, _ := strategy.Hypervolume(of, trials[:g.Trial]); volume != g.Hypervolume {
			t.Errorf("after trial %d: %g, want %g", g.Trial, g.Hypervolume, volume)
		}
	}
}
