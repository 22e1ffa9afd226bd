package node

import (
	"log/slog"
	"testing"
)

func TestWarningsArePlain(t *testing.T) {
	var said string
	n := &Node{log: slog.New(slog.DiscardHandler), OnWarning: func(message string) { said = message }}
	n.warn("hub: \x1b[2J\nis \u202e gone")
	if said != `hub: \x1b[2J is \u202e gone` {
		t.Errorf("%q", said)
	}
}
