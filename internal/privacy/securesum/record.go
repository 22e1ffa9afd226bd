package securesum

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// A record is
//
//	version (1 byte, 1) · kind (1) · round (8)
//
// A vote continues with: digest of the configuration (32) · signature (64) · choice. Only agents
// with this configuration can read the choice. A disqualified dealer continues with: digest (32) ·
// roster index (2). There are at most three records per round, and one per dealer.
const (
	recordOpened = 1 // the agent takes part in the round
	recordDealt  = 2 // the agent is about to send the shares of its vector
	recordVoted  = 3 // the agent is about to send its vote

	recordDisqualified = 4 // the agent has a proof against a dealer, whose deals it no longer accepts
)

const recordBytes = 2 + 8

// recordVersion is the version of records. It is independent of that of messages: a vote of another
// configuration is recognised by the digest.
const recordVersion = 1

// ErrJournal means that a record of an earlier run is unreadable. A vote or a contribution of the
// agent may then be unknown, so the exchange sends nothing.
var ErrJournal = errors.New("a record of secure sums is unreadable")

type record struct {
	kind      byte
	round     uint64
	digest    [sha256.Size]byte // set for recordVoted and recordDisqualified
	signature []byte            // set for recordVoted, like choice
	choice    []byte
	dealer    int // roster index; set for recordDisqualified
}

func (r record) encode() []byte {
	data := binary.BigEndian.AppendUint64([]byte{recordVersion, r.kind}, r.round)
	switch r.kind {
	case recordVoted:
		data = append(data, r.digest[:]...)
		data = append(data, r.signature...)
		data = append(data, r.choice...)
	case recordDisqualified:
		data = append(data, r.digest[:]...)
		data = binary.BigEndian.AppendUint16(data, uint16(r.dealer))
	}
	return data
}

func decodeRecord(data []byte) (record, error) {
	if len(data) < recordBytes || data[0] != recordVersion {
		return record{}, fmt.Errorf("%w: %d bytes", ErrJournal, len(data))
	}
	r := record{kind: data[1], round: binary.BigEndian.Uint64(data[2:])}
	body := reader{rest: data[recordBytes:]}
	switch r.kind {
	case recordOpened, recordDealt:
	case recordVoted:
		copy(r.digest[:], body.take(sha256.Size))
		r.signature = body.take(signatureBytes)
		r.choice = body.take(len(body.rest))
	case recordDisqualified:
		copy(r.digest[:], body.take(sha256.Size))
		r.dealer = body.below(2, MaxRoster)
	default:
		body.bad = true
	}
	if body.bad || len(body.rest) > 0 || r.round == 0 {
		return record{}, fmt.Errorf("%w: kind %d, round %d, %d bytes", ErrJournal, r.kind, r.round, len(data))
	}
	return r, nil
}
