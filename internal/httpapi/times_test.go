package httpapi

import (
	"testing"
	"time"
)

// TestTimesOfTrials checks that a trial has the times of its last offer and of its end, also after a
// restart. The timeline of the page needs both.
func TestTimesOfTrials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	times := func(trial reply) (started, finished time.Time) {
		t.Helper()
		for name, to := range map[string]*time.Time{"started": &started, "finished": &finished} {
			text, ok := trial.body[name].(string)
			if !ok {
				continue
			}
			var err error
			if *to, err = time.Parse(time.RFC3339Nano, text); err != nil {
				t.Fatal(err)
			}
		}
		return started, finished
	}
	before := time.Now()
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a", "count": 2})
	first, finished := times(w.must(200, "GET", "/v1/tasks/bowl/trials/1", nil))
	if first.Before(before.Truncate(time.Microsecond)) || !finished.IsZero() {
		t.Errorf("a running trial started at %v and finished at %v, expected a start after %v and no end", first, finished, before)
	}
	w.must(200, "POST", "/v1/tasks/bowl/trials/1/requeue", m{"client": "a"})
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "b"})
	second, _ := times(w.must(200, "GET", "/v1/tasks/bowl/trials/1", nil))
	if !second.After(first) {
		t.Errorf("the second offer started at %v, expected a time after the first at %v", second, first)
	}
	w.must(200, "POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}})
	w.must(200, "POST", "/v1/tasks/bowl/trials/2/fail", m{"client": "a", "reason": "lost"})
	var stored []string
	for _, id := range []string{"1", "2"} {
		r := w.must(200, "GET", "/v1/tasks/bowl/trials/"+id, nil)
		if started, finished := times(r); !finished.After(started) {
			t.Errorf("trial %s ran from %v to %v", id, started, finished)
		}
		stored = append(stored, r.text)
	}
	w.end()
	w = newWorld(t, dir, Options{})
	for i, id := range []string{"1", "2"} {
		same(t, "trial "+id+" after a restart", w.must(200, "GET", "/v1/tasks/bowl/trials/"+id, nil).text, stored[i])
	}
}
