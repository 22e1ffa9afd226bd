package strategytest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Positions of the kind and the round in a message of package securesum, and the kind of a deal.
const (
	DealKindAt  = 1
	DealRoundAt = 34
	DealKind    = 1
)

// Deals holds the deals that a member of a secure sum has sent, by round and receiver.
type Deals map[Deal][]byte

// Deal names the message with which one contributor deals to one receiver in one round.
type Deal struct {
	Round uint64
	To    peer.ID
}

// Add stores a message of package securesum if it is a deal. It fails the test if the member has dealt
// other bytes to the receiver in this round: they would belong to a second contribution.
func (d Deals) Add(t testing.TB, member int, to peer.ID, message []byte) {
	t.Helper()
	if message[DealKindAt] != DealKind {
		return
	}
	deal := Deal{binary.BigEndian.Uint64(message[DealRoundAt:]), to}
	if before, ok := d[deal]; ok && !bytes.Equal(before, message) {
		t.Fatalf("member %d deals twice in round %d", member, deal.Round)
	}
	d[deal] = message
}

// Fuse ends a simulated member after a number of outputs; a negative one never does.
type Fuse int

// Burnt counts one output and reports whether the member ends before it.
func (f *Fuse) Burnt() bool {
	if *f == 0 {
		return true
	}
	*f--
	return false
}

// Queue holds deliveries of messages in the order in which they were sent.
type Queue []func()

// Add appends a delivery.
func (q *Queue) Add(deliver func()) { *q = append(*q, deliver) }

// Drain makes all deliveries, with those that they add.
func (q *Queue) Drain() {
	for len(*q) > 0 {
		deliver := (*q)[0]
		*q = (*q)[1:]
		deliver()
	}
}

// Records returns the records among the outputs of a step, which a node writes before all else.
func Records(outputs []strategy.Output) [][]byte {
	var records [][]byte
	for _, output := range outputs {
		if record, ok := output.(strategy.Record); ok {
			records = append(records, record.Data)
		}
	}
	return records
}
