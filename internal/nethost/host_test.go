package nethost

import (
	"errors"
	"strings"
	"testing"
)

// The reason that a peer sends as it ends a connection is in errors of libp2p.
func TestDialReasonIsPlain(t *testing.T) {
	err := errors.New("failed to dial: all dials failed\n  * [/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31m" + strings.Repeat("x", 10000))
	got := DialReason(err)
	if !strings.HasPrefix(got, `[/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31mxxx`) || len(got) > 2*MaxReason {
		t.Errorf("%.300q", got)
	}
}
