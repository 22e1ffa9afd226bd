package httpapi

import (
	"strings"
	"testing"
)

// TestNotes sets, replaces and removes notes, with texts that are to stay texts, over a restart.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a", "count": 3})
	w.must(200, "POST", "/v1/tasks/bowl/trials/1/tell", m{"value": 1, "constraints": m{"heat": 1}})
	const at = "/v1/tasks/bowl/trials/"
	events := w.open("/v1/tasks/bowl/events")
	hostile := "=1+1 <script>alert(1)</script>\nsecond line \x1b[31m \u202e"
	longest := strings.Repeat("ö", 2000)
	for id, text := range map[string]string{"1": hostile, "2": longest} {
		got := w.must(200, "PUT", at+id+"/note", m{"text": text}, "Idempotency-Key", "k"+id)
		same(t, "note", got.body["note"], text)
		if strings.ContainsAny(got.text, "\x1b\u202e") {
			t.Errorf("control characters in %q", got.text)
		}
		same(t, "again", w.must(200, "PUT", at+id+"/note", m{"text": text}, "Idempotency-Key", "k"+id).text, got.text)
	}
	for range 2 {
		_, event := nextEvent(t, events)
		same(t, "event", event, "trial_noted")
	}
	w.must(422, "PUT", at+"1/note", m{"text": "other"}, "Idempotency-Key", "k1")
	w.must(422, "PUT", at+"1/note", m{"text": longest + "x"})
	w.must(422, "PUT", at+"1/note", m{})
	w.must(404, "PUT", at+"4/note", m{"text": "x"})
	w.must(200, "PUT", at+"3/note", m{"text": "wrong trial"})
	same(t, "removed", w.must(200, "PUT", at+"3/note", m{"text": ""}).body["note"], nil)

	w.end()
	w = newWorld(t, dir, Options{})
	for id, want := range map[string]any{"1": hostile, "2": longest, "3": nil} {
		same(t, "after a restart", w.must(200, "GET", at+id, nil).body["note"], want)
	}
	same(t, "in the JSON export", strings.Contains(w.must(200, "GET", "/v1/tasks/bowl/export?format=json", nil).text, `"note":"=1+1 `), true)
	csv := w.must(200, "GET", "/v1/tasks/bowl/export?format=csv", nil).text
	if !strings.Contains(csv, ",note\n") || !strings.Contains(csv, `"'=1+1 <script>`) {
		t.Errorf("the CSV has no note, or one that is a formula: %.300q", csv)
	}
}
