package httpapi

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkManyTrials answers requests about a task with 10,000 trials, over HTTP and without
// a guard, and reports the medians.
func BenchmarkManyTrials(b *testing.B) {
	w := newWorld(b, b.TempDir(), Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	past := make([]m, 10_000)
	for i := range past {
		past[i] = m{"parameters": m{"x": float64(i%4001)/1000 - 2}, "outcome": m{"value": i, "constraints": m{"heat": 1}}}
	}
	w.must(200, "POST", "/v1/tasks/bowl/import", m{"trials": past})
	t, err := w.server.Task("bowl")
	if err != nil {
		b.Fatal(err)
	}
	get := func(path string) func() { return func() { w.must(200, "GET", "/v1/tasks"+path, nil) } }
	ways := map[string]func(){
		"tasks": get(""), "task": get("/bowl"), "trial": get("/bowl/trials/9999"), "page-of-1": get("/bowl/trials?after=5000&limit=1"),
		"page-of-100": get("/bowl/trials?after=5000"), "none-of-a-client": get("/bowl/trials?client=z"), "best": get("/bowl/best"),
		"held": func() {
			if _, err := t.Session().Clients().HeldBy(b.Context(), "z"); err != nil {
				b.Fatal(err)
			}
		},
	}
	took := map[string][]float64{}
	for b.Loop() {
		for way, run := range ways {
			began := time.Now()
			run()
			took[way] = append(took[way], time.Since(began).Seconds()*1000)
		}
	}
	for way, times := range took {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], "ms-"+way)
	}
	b.ReportMetric(0, "ns/op")
}
