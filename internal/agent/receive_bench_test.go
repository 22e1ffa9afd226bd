package agent

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// BenchmarkReceive takes words of presence of 100 peers, one after the other, in an
// agent with 200 trials: renewed ones, as in a settled federation, and ones that say
// something new. Run: go test -run '^$' -bench Receive ./internal/agent
func BenchmarkReceive(b *testing.B) {
	const peers, trials = 100, 200
	for _, renewed := range []bool{true, false} {
		b.Run(fmt.Sprintf("renewed=%v", renewed), func(b *testing.B) {
			d := newDriver(b, configOf(b, newTask(b, "bowl", "type: ts, initial_designs: 1000"), 1))
			d.run(trials, bowl)
			word := presenceOf(b, "somebody")
			receive := func(n int) {
				payload := word
				if !renewed {
					payload = presenceOf(b, peer.ID(binary.AppendUvarint(nil, uint64(n))))
				}
				share := protocol.Share{
					Task: d.agent.id, Key: protocol.Key{Author: peer.ID(fmt.Sprintf("peer %02d", n%peers)), Kind: "presence"},
					Stamp: protocol.Stamp{Epoch: 1, Sequence: uint64(n) + 1}, TTL: time.Hour, Payload: payload,
				}
				if result, err := d.agent.Receive(d.now, share, 0); result != Accepted {
					b.Fatal(result, err)
				}
				d.agent.Ready()
			}
			n := 0
			for ; n < peers; n++ {
				receive(n)
			}
			b.ReportAllocs()
			for b.Loop() {
				receive(n)
				n++
			}
		})
	}
}
