package node_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// One peer answers with shares of more made-up authors than there are places. Who comes
// later is heard all the same, and so are those of whom another peer tells.
func TestAnAnswerFullOfMadeUpAuthorsKeepsNobodyOut(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		victim := f.add()
		heardOf := func(n *simulated, ids []peer.ID) (count int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, id := range ids {
				if !n.got[id].IsZero() {
					count++
				}
			}
			return count
		}
		referrer := func(index, count int) (*attacker, []peer.ID) {
			a := f.attackBy(index, attack{name: "made-up authors", polite: true, turn: func(*attacker, uint64) {}})
			answer, ids := sharesOfMany(t, f, count)
			a.host.SetStreamHandler(a.syncProtocol(), func(s network.Stream) {
				_, _ = protocol.ReadSyncRequest(s) // closed unread, a long one fails at whoever writes it
				for _, envelope := range answer {
					_ = protocol.WriteSyncItem(s, protocol.SyncItem{Envelope: envelope})
				}
				_ = s.Close()
			})
			return a, ids
		}
		attacker, madeUp := referrer(0, 1100)
		defer attacker.close()
		for begun := time.Now(); heardOf(victim, madeUp) < 1024; time.Sleep(time.Second) {
			if time.Since(begun) > 10*time.Minute {
				t.Fatalf("the victim has taken %d of %d authors", heardOf(victim, madeUp), len(madeUp))
			}
		}
		another, others := referrer(1, 20)
		defer another.close()
		late := f.add()
		late.connect()
		for begun := time.Now(); heardOf(victim, others) < len(others); time.Sleep(time.Second) {
			if time.Since(begun) > 10*time.Minute {
				t.Fatalf("the victim has taken %d of the %d authors of whom another peer tells", heardOf(victim, others), len(others))
			}
		}
		for _, n := range f.nodes {
			n.evaluate()
		}
		time.Sleep(5 * time.Second)
		if heardOf(victim, []peer.ID{late.node.ID()}) == 0 {
			t.Error("an honest node that came late is not heard")
		}
	})
}

// sharesOfMany returns shares of so many new authors, and who these are.
func sharesOfMany(t *testing.T, f *fleet, count int) (envelopes [][]byte, authors []peer.ID) {
	t.Helper()
	for range count {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		share, err := protocol.Seal(protocol.Share{
			Task: f.task.ID(), Key: protocol.Key{Kind: protocol.WeightsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1},
			TTL: time.Hour, Payload: weightsOf(16, 1),
		}, key)
		if err != nil {
			t.Fatal(err)
		}
		envelopes, authors = append(envelopes, share.Envelope), append(authors, share.Author)
	}
	return envelopes, authors
}
