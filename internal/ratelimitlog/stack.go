package ratelimitlog

import (
	"log/slog"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
)

const (
	stackKey  = "stack" // key of the attribute with the stack of a panic
	maxFrames = 40
)

// stackOf returns the stack in a record's attributes, or "" if there is none.
func stackOf(record slog.Record) (stack string) {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == stackKey {
			stack = a.Value.String()
		}
		return stack == ""
	})
	return stack
}

// lines formats a stack of package debug with one line per frame: its function and position. It
// begins at the panic. The result becomes part of the message, because most handlers quote
// attributes.
func lines(stack string) string {
	var frames []string
	all := strings.Split(strings.TrimSpace(stack), "\n")
	for i := 1; i+1 < len(all); i += 2 { // the first line names the goroutine
		function := all[i]
		if strings.HasSuffix(function, ")") {
			function = function[:strings.LastIndexByte(function, '(')] // without the arguments
		}
		if function == "panic" {
			frames = nil // the frames before this one belong to the recovery of the panic
			continue
		}
		place, _, _ := strings.Cut(strings.TrimSpace(all[i+1]), " +0x")
		frames = append(frames, "    at "+sanitize.Text(function, maxText)+" "+sanitize.Text(place, maxText))
	}
	if len(frames) > maxFrames {
		frames = append(frames[:maxFrames], "    …")
	}
	return strings.Join(frames, "\n")
}

// rounded rounds a duration to at least three significant digits.
func rounded(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d.Abs() >= 100*unit {
			return d.Round(unit)
		}
	}
	return d
}
