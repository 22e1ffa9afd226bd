package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/task"
)

// TestPageDataOfMeasuredNode asks for all that a page shows, of a node that has measured something.
func TestPageDataOfMeasuredNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{
		Printed: func(_ *task.Task, trial uint64, out io.Writer) (err error) {
			if trial == 2 {
				_, err = fmt.Fprintf(out, "%s\x1b[2Jend\tof it\r\n", strings.Repeat("x", maxPrinted))
			}
			return err
		},
		Warnings: func() []Warning { return []Warning{{ID: 1, Time: time.Unix(5, 0).UTC(), Text: "low on disk"}} },
	})
	at := "/v1/tasks/plane"
	w.must(201, http.MethodPost, "/v1/tasks", m{"text": `name: plane
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: kind, type: categorical, choices: [a, b, c]}
constraints:
  - {name: heat, high: 3}
`})
	before := w.must(200, http.MethodGet, at+"/model", nil).body
	same(t, "slices of no model", before["slices"], []any{})
	same(t, "design of no model", before["design"], nil)
	same(t, "contour of no model", w.must(200, http.MethodGet, at+"/contour?x=x&y=kind", nil).body["mean"], []any{})

	w.must(200, http.MethodPost, at+"/import", m{"trials": []m{
		{"parameters": m{"x": -1, "kind": "a"}, "outcome": m{"value": 4, "constraints": m{"heat": 1}}},
		{"parameters": m{"x": 0, "kind": "b"}, "outcome": m{"value": 1, "constraints": m{"heat": 2}}},
		{"parameters": m{"x": 1, "kind": "a"}, "outcome": m{"value": 0, "constraints": m{"heat": 5}}},
		{"parameters": m{"x": 1.5, "kind": "c"}, "failed": "burnt"},
	}})
	model := w.must(200, http.MethodGet, at+"/model?points=9", nil).body
	same(t, "outcomes", model["outcomes"], 3)
	same(t, "the best feasible trial", model["trial"], 2)
	same(t, "its design", model["design"], m{"x": 0, "kind": "b"})
	slices := model["slices"].([]any)
	same(t, "values", slices[0].(m)["values"], "[-2 -1.5 -1 -0.5 0 0.5 1 1.5 2]")
	same(t, "choices", slices[1].(m)["values"], "[a b c]")
	for _, key := range []string{"mean", "low", "high", "feasible"} {
		same(t, key, len(slices[0].(m)[key].([]any)), 9)
	}
	same(t, "importance", len(model["importance"].([]any)), 2)

	contour := w.must(200, http.MethodGet, at+"/contour?x=x&y=kind", nil).body
	same(t, "contour", fmt.Sprint(len(contour["xs"].([]any)), contour["ys"], len(contour["mean"].([]any)), len(contour["deviation"].([]any))), "25 [a b c] 3 3")
	w.must(422, http.MethodGet, at+"/contour?x=x&y=x", nil)
	w.must(422, http.MethodGet, at+"/contour?x=x&y=none", nil)

	contributions := w.must(200, http.MethodGet, at+"/contributions", nil).body
	same(t, "summary", contributions["summary"], "no other node has connected on this task")
	same(t, "peers", contributions["peers"], []any{})

	printed := w.must(200, http.MethodGet, at+"/trials/2/output", nil).body
	if text := printed["text"].(string); !strings.HasSuffix(text, `x\x1b[2Jend`+"\tof it\n") {
		t.Errorf("output ends in %q", text[len(text)-30:])
	}
	same(t, "truncated bytes", printed["truncated_bytes"], 15)
	w.must(404, http.MethodGet, at+"/trials/1/output", nil)
	w.must(404, http.MethodGet, at+"/trials/9/output", nil)

	csv := w.must(200, http.MethodGet, at+"/export?format=csv", nil)
	same(t, "type", csv.header.Get("Content-Type"), "text/csv; charset=utf-8")
	same(t, "lines", strings.Count(csv.text, "\n"), 5)
	same(t, "exported", len(w.must(200, http.MethodGet, at+"/export?format=json", nil).body["trials"].([]any)), 4)
	w.must(422, http.MethodGet, at+"/export?format=xml", nil)

	w.must(200, http.MethodPost, at+"/ask", m{"client": "a"})
	w.must(200, http.MethodPost, at+"/trials/5/tell", m{"value": 2, "constraints": m{"heat": 1}})
	same(t, "comparison", w.must(200, http.MethodGet, at+"/contributions", nil).body["comparison"], "No design has used peers' shares.")

	same(t, "log", w.must(200, http.MethodGet, "/v1/log", nil).body["lines"], []any{m{"id": 1, "time": "1970-01-01T00:00:05Z", "text": "low on disk"}})
}

// Where outcomes are noisy the best trial comes with the recommended design.
func TestBestUnderNoise(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), Options{})
	at := "/v1/tasks/line"
	w.must(201, http.MethodPost, "/v1/tasks", m{"text": "name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n"})
	exact, noisy := []m{}, []m{}
	for i := range 12 {
		x, sign := float64(i/2)/6, float64(2*(i%2)-1)
		exact = append(exact, m{"parameters": m{"x": x}, "outcome": m{"value": x * x}})
		noisy = append(noisy, m{"parameters": m{"x": x}, "outcome": m{"value": x*x + 50*sign + float64(i)/100}})
	}
	imported := func(trials []m) (body m) {
		w.must(200, http.MethodPost, at+"/import", m{"trials": trials})
		w.must(200, http.MethodGet, at+"/model", nil) // waits until the model knows all outcomes
		return w.must(200, http.MethodGet, at+"/best", nil).body
	}
	if body := imported(exact); body["trial"] == nil || body["recommended"] != nil {
		t.Errorf("without noise: %v", body)
	}
	body := imported(noisy)
	recommended, _ := body["recommended"].(m)
	reason, _ := recommended["reason"].(string)
	if body["trial"].(m)["outcome"].(m)["value"].(float64) > -49 || recommended["parameters"].(m)["x"] == nil || recommended["noisy"] != true || !strings.Contains(reason, "mostly luck") {
		t.Errorf("under noise: %v", body)
	}
	same(t, "the recommendation", w.must(200, http.MethodGet, at+"/recommendation", nil).body, recommended)
}
