package largetopic

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// An author that sends as often as it can gets four messages in a pause, and ten at once. One that keeps to the pause is
// never refused, even if it sees a third of the agents that the receiver sees.
func TestAdmit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pause := time.Duration(rapid.IntRange(10, 512).Draw(r, "pause")) * time.Second
		every := time.Duration(rapid.IntRange(100, 5000).Draw(r, "every")) * time.Millisecond
		begin := time.Unix(1_000_000, 0)
		var flood, honest time.Time
		accepted, span := 0, 20*pause
		for at := time.Duration(0); at < span; at += every {
			var ok bool
			if flood, ok = Admit(flood, begin.Add(at), pause); ok {
				accepted++
			}
		}
		if most := 20*4 + 10; accepted > most || accepted < min(most-2, int(span/every)) {
			r.Errorf("%d messages of a flood are accepted in 20 pauses, expected about %d", accepted, most)
		}
		for at := time.Duration(0); at < span; at += pause / 3 {
			var ok bool
			if honest, ok = Admit(honest, begin.Add(at), pause); !ok {
				r.Fatalf("a message of an honest author is refused at %v", at)
			}
		}
	})
}
