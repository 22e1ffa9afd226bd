package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// TestCoarseSharesAfterRestarts checks that a node publishes its coarse share again after a
// restart, byte for byte. Its draws differ in another epoch, but many restarts must disclose no
// more than one.
func TestCoarseSharesAfterRestarts(t *testing.T) {
	s := &stage{t: t, names: map[peer.ID]int{}}
	play := func(script string) {
		for line := range strings.Lines(script) {
			s.command(strings.Fields(line))
		}
	}
	last := func() protocol.Share {
		t.Helper()
		for i := len(s.network) - 1; i >= 0; i-- {
			if share := s.network[i].share; share.Kind == protocol.DensityKind {
				return share
			}
		}
		t.Fatal("nothing shared")
		return protocol.Share{}
	}
	play("agents 2 bowl type: peer-prior, initial_designs: 3\nrun 1 6")
	before := last()
	for range 5 {
		play("drop\ncrash 1\nstart 1")
		after := last()
		if after.Stamp.Epoch <= before.Stamp.Epoch {
			t.Fatalf("epoch %d after %d", after.Stamp.Epoch, before.Stamp.Epoch)
		}
		if !bytes.Equal(after.Payload, before.Payload) {
			t.Errorf("published %x, and %x in epoch %d", before.Payload, after.Payload, after.Stamp.Epoch)
		}
	}
}
