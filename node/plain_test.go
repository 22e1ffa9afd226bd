package node

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What a peer says as it ends a connection comes back in errors.
func TestDialReasonIsPlain(t *testing.T) {
	err := errors.New("failed to dial: all dials failed\n  * [/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31m" + strings.Repeat("x", 10000))
	got := dialReason(err)
	if !strings.HasPrefix(got, `[/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31mxxx`) || len(got) > 2*maxReason {
		t.Errorf("%.300q", got)
	}
}

func TestWarningsArePlain(t *testing.T) {
	var said string
	n := &Node{log: slog.New(slog.DiscardHandler), OnWarning: func(message string) { said = message }}
	n.warn("hub: \x1b[2J\nis \u202e gone")
	if said != `hub: \x1b[2J is \u202e gone` {
		t.Errorf("%q", said)
	}
}
