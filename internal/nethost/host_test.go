package nethost

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multiaddr"
)

// The reason that a peer sends as it ends a connection is in errors of libp2p.
func TestDialReasonIsPlain(t *testing.T) {
	err := errors.New("failed to dial: all dials failed\n  * [/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31m" + strings.Repeat("x", 10000))
	got := DialReason(err)
	if !strings.HasPrefix(got, `[/ip4/127.0.0.1] Application error 0x1 (remote): \x1b[2J\u009b31mxxx`) || len(got) > 2*MaxReason {
		t.Errorf("%.300q", got)
	}
}

// Addresses that this node has not dialled are left out, unless there are no others.
func TestDialReasonLeavesOutUndialledAddresses(t *testing.T) {
	undialled := swarm.TransportError{Address: multiaddr.StringCast("/ip4/127.0.0.1/udp/1/quic-v1"), Cause: swarm.ErrGaterDisallowedConnection}
	refused := swarm.TransportError{Address: multiaddr.StringCast("/ip4/127.0.0.1/tcp/1"), Cause: errors.New("connection refused")}
	reason := func(failed ...swarm.TransportError) string {
		return DialReason(fmt.Errorf("failed to dial: %w", &swarm.DialError{Cause: swarm.ErrAllDialsFailed, DialErrors: failed}))
	}
	if got := reason(undialled, refused); got != "[/ip4/127.0.0.1/tcp/1] connection refused" {
		t.Error(got)
	}
	if got := reason(undialled); !strings.Contains(got, "gater") {
		t.Error(got)
	}
}
