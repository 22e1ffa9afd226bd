package ratelimitlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// written has a log whose lines it reads again.
type written struct {
	*slog.Logger
	handler Handler
	clock   *clock
	out     bytes.Buffer
}

func newWritten(level slog.Level) *written {
	w := &written{clock: newClock()}
	w.handler = newHandler(slog.NewJSONHandler(&w.out, &slog.HandlerOptions{Level: level}), w.clock.now)
	w.Logger = slog.New(w.handler)
	return w
}

// line is what matters of one that was written.
type line struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Like    string `json:"like"`
	Left    int    `json:"left_out"`

	Group *line `json:"g"` // what a record has within a group
}

func (w *written) lines(t *testing.T) (lines []line) {
	t.Helper()
	for text := range bytes.Lines(w.out.Bytes()) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if l.Group != nil {
			l.Like, l.Left = l.Group.Like, l.Group.Left
		}
		lines = append(lines, l)
	}
	return lines
}

// A peer fills no log, in whatever record it is named, and what was left out is counted.
func TestAPeerFillsNoLog(t *testing.T) {
	for what, say := range map[string]func(w *written, i int){
		"a record":          func(w *written, i int) { w.Info("share refused", "peer", "mallory", "number", i) },
		"a warning":         func(w *written, i int) { w.Warn("share refused", "peer", "mallory", "number", i) },
		"an error":          func(w *written, i int) { w.Error("share refused", "remote_peer", "mallory", "number", i) },
		"by With":           func(w *written, i int) { w.With("peer", "mallory").Warn("share refused", "number", i) },
		"within a group":    func(w *written, i int) { w.With("from", "mallory").WithGroup("g").Warn("share refused", "number", i) },
		"a peer for people": func(w *written, i int) { w.Warn("share refused", "to", fmt.Stringer(name{}), "number", i) },
	} {
		w := newWritten(slog.LevelInfo)
		const said = 3000
		for i := range said {
			say(w, i)
		}
		if got := len(w.lines(t)); got != peerBurst {
			t.Errorf("%s: %d lines, want %d", what, got, peerBurst)
		}
		w.clock.at = w.clock.at.Add(reportInterval)
		say(w, said)
		say(w, said+1)
		w.handler.Tell(t.Context())
		lines := w.lines(t)
		counted := 0
		for _, l := range lines {
			if counted += l.Left; l.Left > 0 && l.Message != "share refused" && l.Like != "share refused" {
				t.Errorf("%s: it is not said what was left out: %+v", what, l)
			}
		}
		others := 0 // records about what was left out
		for _, l := range lines {
			if l.Like != "" {
				others++
			}
		}
		if len(lines)-others+counted != said+2 {
			t.Errorf("%s: %d lines and %d left out of %d", what, len(lines)-others, counted, said+2)
		}
	}
}

type name struct{}

func (name) String() string { return "mallory" }

// The user's own warnings are all written, and at the level of debugging everything is.
func TestWhatIsNotLimited(t *testing.T) {
	w := newWritten(slog.LevelDebug)
	const said = 500
	for i := range said {
		w.Warn("the disk is slow", "number", i)
		w.Debug("share refused", "peer", "mallory", "number", i)
	}
	if got := len(w.lines(t)); got != 2*said {
		t.Errorf("%d lines, want %d", got, 2*said)
	}
}

// Records below a warning that name nobody are limited by kind.
func TestRecordsWithoutAPeer(t *testing.T) {
	w := newWritten(slog.LevelInfo)
	for range 500 {
		w.Info("resource limit reached")
		w.Info("another one")
	}
	if got := len(w.lines(t)); got != 2*peerBurst {
		t.Errorf("%d lines, want %d", got, 2*peerBurst)
	}
}

// What is left out is told even if nothing of its kind comes any more: at times by the next
// record of any kind, and at the end.
func TestWhatWasLeftOutIsTold(t *testing.T) {
	flood := func(w *written) {
		for range peerBurst + 5 {
			w.Info("share refused", "peer", "mallory")
		}
	}
	for what, end := range map[string]func(w *written){
		"by another record": func(w *written) { w.clock.at = w.clock.at.Add(reportInterval); w.Warn("the disk is slow") },
		"at the end":        func(w *written) { w.handler.Tell(t.Context()) },
	} {
		w := newWritten(slog.LevelInfo)
		flood(w)
		end(w)
		reported := 0
		for _, l := range w.lines(t) {
			if l.Like == "share refused" && l.Level == "WARN" {
				reported += l.Left
			}
		}
		if reported != 5 {
			t.Errorf("%s: the log names %d, want 5\n%s", what, reported, w.out.String())
		}
	}
}

// Whatever text a record has, in the message or an attribute, its line is one line that
// does nothing to a terminal, and has a bounded length.
func TestLinesAreShowable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")) + rapid.SampledFrom([]string{
			"\x1b[2J\x1b]0;title\x07", "\u009b31m", "\r\n\x00", "\u202e\u200b\x7f", "a\nlevel=WARN msg=forged", strings.Repeat("long ", 5000),
		}).Draw(rt, "text")
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelWarn} {
			var out bytes.Buffer
			log := slog.New(New(plainHandler{&out}))
			log = log.With("with", text, "peer", text).WithGroup("group")
			log.Log(rt.Context(), level, text, "text", text, "error", errors.New(text), "any", []string{text}, "valued", valued(text),
				slog.Group("more", "text", text, "error", fmt.Errorf("wrapped: %w", errors.New(text))))
			if got := out.String(); strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) || len(got) > 60000 {
				rt.Fatalf("%q", got)
			}
		}
	})
}

type valued string

func (v valued) LogValue() slog.Value { return slog.AnyValue(errors.New(string(v))) }

// plainHandler writes what it gets as it is, as the worst handler would.
type plainHandler struct{ out *bytes.Buffer }

func (h plainHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h plainHandler) Handle(_ context.Context, r slog.Record) error {
	h.out.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprint(h.out, a.Value); return true })
	return nil
}

func (h plainHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	fmt.Fprint(h.out, attributes)
	return h
}

func (h plainHandler) WithGroup(string) slog.Handler { return h }
