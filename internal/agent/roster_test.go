package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
)

// TestSharesOutsideOfTheRosterAreNotStored sends the same share with the keys of a node on the roster
// and of one outside of it.
func TestSharesOutsideOfTheRosterAreNotStored(t *testing.T) {
	var roster []string
	for n := range 5 {
		id, err := peer.IDFromPrivateKey(fbotest.Key(t, n+1))
		if err != nil {
			t.Fatal(err)
		}
		roster = append(roster, id.String())
	}
	spec := newTask(t, "cup", fmt.Sprintf("type: peer-prior, share: sum, roster: [%s]", strings.Join(roster, ", ")))
	d := newPrivate(t, spec, 1)
	for key, want := range map[int]ShareResult{2: Accepted, 6: Stale} {
		share, err := protocol.Seal(protocol.Share{
			Task: spec.ID(), Key: protocol.Key{Kind: sums.Kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1},
			TTL: time.Hour, Payload: sums.State{Ready: true}.Encode(),
		}, fbotest.Key(t, key))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.receive(share); got != want {
			t.Errorf("key %d: %v, expected %v", key, got, want)
		}
	}
}
