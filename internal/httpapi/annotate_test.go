package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnnotations sets, replaces and removes annotations, with texts that are to stay texts, over a
// restart.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, Options{})
	w.must(201, "POST", "/v1/tasks", m{"text": bowl})
	w.must(200, "POST", "/v1/tasks/bowl/ask", m{"client": "a", "count": 4})
	sum := strings.Repeat("0f", 32)
	hostile := "=1+1 <script>alert(1)</script>\nsecond line \x1b[31m \u202e"
	const at = "/v1/tasks/bowl/trials/"
	events := w.open("/v1/tasks/bowl/events")
	told := w.must(200, "POST", at+"1/tell", m{"value": 1, "constraints": m{"heat": 1}, "attributes": m{"commit": hostile}, "tags": []string{"b", "a", "b"}, "files": []m{{"path": "out/model.pt", "sha256": strings.ToUpper(sum)}}})
	same(t, "commit", told.body["attributes"], map[string]any{"commit": hostile})
	same(t, "tags", told.body["tags"], []any{"a", "b"})
	same(t, "files", told.body["files"], []any{map[string]any{"path": "out/model.pt", "sha256": sum}})
	same(t, "outcome", told.body["outcome"], map[string]any{"value": 1.0, "constraints": map[string]any{"heat": 1.0}})
	if strings.ContainsAny(told.text, "\x1b\u202e") {
		t.Errorf("control characters in %q", told.text)
	}
	failed := w.must(200, "POST", at+"2/fail", m{"client": "a", "reason": "no memory", "attributes": m{"commit": "abc"}})
	same(t, "of a failed trial", failed.body["attributes"], map[string]any{"commit": "abc"})

	longest := strings.Repeat("ö", 2000)
	for i, text := range []string{hostile, longest} {
		key := fmt.Sprint("k", i)
		got := w.must(200, "POST", at+"3/annotate", m{"note": text, "author": "me"}, "Idempotency-Key", key)
		notes := got.body["notes"].([]any)
		same(t, "number of notes", len(notes), i+1)
		same(t, "note", notes[i].(map[string]any)["text"], text)
		same(t, "author", notes[i].(map[string]any)["author"], "me")
		same(t, "again", w.must(200, "POST", at+"3/annotate", m{"note": text, "author": "me"}, "Idempotency-Key", key).text, got.text)
	}
	w.must(422, "POST", at+"3/annotate", m{"note": "other"}, "Idempotency-Key", "k1")
	for _, want := range []string{"trial_finished", "trial_finished", "trial_annotated", "trial_annotated"} {
		var event string
		for event = "share_sent"; strings.HasPrefix(event, "share"); {
			_, event = nextEvent(t, events)
		}
		same(t, "event", event, want)
	}

	w.must(404, "POST", at+"9/annotate", m{"note": "x"})
	for text, body := range map[string]m{
		"expected length <= 2000":          {"note": longest + "x"},
		"it is the author of a note":       {"author": "me"},
		"is no tag":                        {"tags": []string{"a\nb"}},
		"expected at most 4096":            {"attributes": m{"a": strings.Repeat("x", 4097)}},
		"expected string":                  {"attributes": m{"a": 1}},
		"64 hexadecimal digits":            {"files": []m{{"path": "x", "sha256": "abc"}}},
		"accepted: attributes, author":     {"notes": []string{"x"}},
		"expected object with at most 64 ": {"attributes": many(65)},
	} {
		if got := w.must(422, "POST", at+"3/annotate", body); !strings.Contains(got.text, text) {
			t.Errorf("%v: %.300s, expected %q", body, got.text, text)
		}
	}
	if got := w.must(422, "POST", at+"4/tell", m{"value": 1, "constraints": m{"heat": 1}, "metrics": m{"commit": "abc"}}); !strings.Contains(got.text, "body.metrics.commit: expected number; texts belong in attributes") {
		t.Errorf("a text in metrics: %s", got.text)
	}
	w.must(422, "POST", at+"4/tell", m{"value": 1, "constraints": m{"heat": 1}, "tags": []string{""}})
	same(t, "a refused report", w.must(200, "GET", at+"4", nil).body["state"], "running")
	got := w.must(200, "POST", at+"1/annotate", m{"attributes": m{"commit": "", "other": "x"}, "tags": []string{"c"}, "remove_tags": []string{"a", "x"}, "files": []m{{"path": "out/model.pt"}}})
	same(t, "changed", []any{got.body["attributes"], got.body["tags"], got.body["files"]}, []any{map[string]any{"other": "x"}, []any{"b", "c"}, []any{map[string]any{"path": "out/model.pt"}}})
	got = w.must(200, "POST", at+"3/annotate", m{"remove_notes": []int{2, 7}})

	w.end()
	w = newWorld(t, dir, Options{})
	same(t, "after a restart", w.must(200, "GET", at+"3", nil).body["notes"], got.body["notes"])
	same(t, "after a restart", w.must(200, "GET", at+"1", nil).body["tags"], []any{"b", "c"})
	same(t, "in the JSON export", strings.Contains(w.must(200, "GET", "/v1/tasks/bowl/export?format=json", nil).text, `"text":"=1+1 `), true)
	csv := w.must(200, "GET", "/v1/tasks/bowl/export?format=csv", nil).text
	if !strings.Contains(csv, ",attribute.commit,attribute.other,tags,files,notes\n") || !strings.Contains(csv, `"'=1+1 <script>`) || strings.ContainsAny(csv, "\x1b\u202e") {
		t.Errorf("the CSV has no note, or one that is a formula: %.600q", csv)
	}
}

func many(n int) m {
	all := m{}
	for i := range n {
		all[fmt.Sprint(i)] = "x"
	}
	return all
}
