package node_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/tsampling"
)

// One peer answers with shares of more made-up authors than there are places. Who comes
// later is heard all the same.
func TestAnAnswerFullOfMadeUpAuthorsKeepsNobodyOut(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		victim := f.add()
		attacker := f.attackBy(0, attack{name: "made-up authors", polite: true, turn: func(*attacker, uint64) {}})
		defer attacker.close()
		var answer [][]byte
		for range 1100 {
			key, _, err := crypto.GenerateEd25519Key(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			share, err := protocol.Seal(protocol.Share{
				Task: f.task.ID(), Key: protocol.Key{Kind: tsampling.Kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1},
				TTL: time.Hour, Payload: weightsOf(16, 1),
			}, key)
			if err != nil {
				t.Fatal(err)
			}
			answer = append(answer, share.Envelope)
		}
		attacker.host.SetStreamHandler(attacker.syncProtocol(), func(s network.Stream) {
			for _, envelope := range answer {
				_ = protocol.WriteSyncItem(s, protocol.SyncItem{Envelope: envelope})
			}
			_ = s.Close()
		})
		authors := func(n *simulated) int { f.mu.Lock(); defer f.mu.Unlock(); return len(n.got) }
		for begun := time.Now(); authors(victim) < 1024; time.Sleep(time.Second) {
			if time.Since(begun) > 10*time.Minute {
				t.Fatalf("the victim has taken %d of %d authors", authors(victim), len(answer))
			}
		}
		late := f.add()
		late.connect()
		time.Sleep(5 * time.Second)
		for _, n := range f.nodes {
			n.evaluate()
		}
		time.Sleep(5 * time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		if victim.got[late.node.ID()].IsZero() {
			t.Error("an honest node that came late is not heard")
		}
		if made := len(late.got); made > 1024/2+64+1 {
			t.Errorf("%d authors were passed on to it", made)
		}
	})
}
