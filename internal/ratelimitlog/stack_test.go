package ratelimitlog

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestHandlerWritesDurationsWithUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1.5s", 1234567 * time.Microsecond: "1.235s", 90 * time.Second: "1m30s",
		2*time.Hour + 345*time.Millisecond: "2h0m0s", 12345 * time.Nanosecond: "12.345µs", 0: "0s", -time.Second: "-1s",
	} {
		var out bytes.Buffer
		log := slog.New(New(slog.NewJSONHandler(&out, nil))).With("since", d)
		log.Info("waited", "after", d, slog.Group("g", "inner", d))
		for _, key := range []string{"after", "since", "inner"} {
			if attribute := `"` + key + `":"` + want + `"`; !strings.Contains(out.String(), attribute) {
				t.Errorf("%v: the record %s lacks %s", d, out.String(), attribute)
			}
		}
	}
}

func culprit() { panic("boom") }

func TestHandlerWritesStacksAsLines(t *testing.T) {
	var stack []byte
	func() {
		defer func() { _ = recover(); stack = debug.Stack() }()
		culprit()
	}()
	var message string
	plain := slog.NewJSONHandler(&bytes.Buffer{}, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey {
			message = a.Value.String()
		}
		if a.Key == "stack" {
			t.Errorf("the record has the attribute %v, expected the stack in the message", a)
		}
		return a
	}})
	slog.New(New(plain)).Error("panic", "error", "boom", "stack", string(stack))
	frames := strings.Split(message, "\n")
	if frames[0] != "panic" || len(frames) < 2 || !strings.HasPrefix(frames[1], "    at github.com/fbo-node/fbo/internal/ratelimitlog.culprit ") ||
		!strings.Contains(frames[1], "stack_test.go:") || strings.Contains(message, "debug.Stack") || strings.Contains(message, "0x") {
		t.Errorf("message\n%s\nexpected a line for each frame from culprit on", message)
	}
	slog.New(New(plain)).Error("panic", "stack", "goroutine 1\na.(*T).f\x1b[2J({0x1, 0x2}, ...)\n\t/a.go:1 +0x1\ncreated by a.(*T).g in goroutine 7\n\t/b.go:2\n")
	if message != "panic\n    at a.(*T).f\\x1b[2J /a.go:1\n    at created by a.(*T).g in goroutine 7 /b.go:2" {
		t.Errorf("message %q, expected functions without arguments and escaped control characters", message)
	}
}
