package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
)

// MaxEquivocationProofBytes is the maximum total size of the two envelopes of an EquivocationProof.
// With this limit nodes can store and forward all proofs. Larger shares cannot be used as a proof.
const MaxEquivocationProofBytes = 64 << 10

// Conflict is the kind of contradiction between two shares.
type Conflict uint8

// Kinds of conflicts.
const (
	SameStamp      Conflict = iota // two different shares with the same stamp
	ForkedReceipts                 // two receipts, neither of which is a prefix of the other
)

// EquivocationProof holds two shares of which an author with one complete journal signs at most
// one. So the author's data directory was copied or restored from a backup, or the author is
// dishonest. Every node can verify the proof.
type EquivocationProof struct {
	First, Second Share // sorted by digest, so that each proof has only one form
	Conflict      Conflict
}

// ProveEquivocation returns the proof that two shares form; ok is false if they do not contradict
// each other.
func ProveEquivocation(a, b Share) (EquivocationProof, bool) {
	if a.Author != b.Author || a.Task != b.Task || a.Digest == b.Digest || len(a.Envelope)+len(b.Envelope) > MaxEquivocationProofBytes {
		return EquivocationProof{}, false
	}
	c := EquivocationProof{First: a, Second: b, Conflict: SameStamp}
	if bytes.Compare(a.Digest[:], b.Digest[:]) > 0 {
		c.First, c.Second = b, a
	}
	if first, second, ok := c.Accounts(); ok && first.Forked(second) {
		c.Conflict = ForkedReceipts
		return c, true
	}
	return c, a.Stamp == b.Stamp
}

// OpenEquivocationProof opens both envelopes and verifies that the shares contradict each other.
// Every error wraps ErrMalformed.
func OpenEquivocationProof(first, second []byte) (EquivocationProof, error) {
	a, err := Open(first)
	if err != nil {
		return EquivocationProof{}, err
	}
	b, err := Open(second)
	if err != nil {
		return EquivocationProof{}, err
	}
	c, ok := ProveEquivocation(a, b)
	if !ok {
		return EquivocationProof{}, fmt.Errorf("%w: two shares of %s and %s that do not contradict each other", ErrMalformed, a.Author, b.Author)
	}
	return c, nil
}

// Accounts returns the receipts in the two shares; ok is false if the shares are not receipts.
func (c EquivocationProof) Accounts() (first, second Receipt, ok bool) {
	if c.First.Kind != ReceiptKind || c.Second.Kind != ReceiptKind {
		return first, second, false
	}
	first, err := DecodeReceipt(c.First.Payload, MaxReceipted)
	if err != nil {
		return first, second, false
	}
	second, err = DecodeReceipt(c.Second.Payload, MaxReceipted)
	return first, second, err == nil
}

// Digest returns a digest that identifies the proof.
func (c EquivocationProof) Digest() [DigestBytes]byte {
	sum := sha256.Sum256(append(c.First.Digest[:], c.Second.Digest[:]...))
	return [DigestBytes]byte(sum[:])
}

// Bytes returns the total size of the two envelopes.
func (c EquivocationProof) Bytes() int { return len(c.First.Envelope) + len(c.Second.Envelope) }

// Compare returns a positive number if c takes precedence over another proof of the same author and
// conflict, and a negative number if the other does. The proof with more releases takes precedence,
// then the one with the newer stamp, then the one with the larger digest. So all nodes that receive
// both proofs keep the same one.
func (c EquivocationProof) Compare(other EquivocationProof) int {
	mine, theirs := c.Digest(), other.Digest()
	return cmp.Or(
		cmp.Compare(c.releases(), other.releases()),
		c.newest().Compare(other.newest()),
		bytes.Compare(mine[:], theirs[:]),
	)
}

func (c EquivocationProof) releases() int {
	first, second, ok := c.Accounts()
	if !ok {
		return 0
	}
	return len(first.Releases) + len(second.Releases) - first.Common(second)
}

func (c EquivocationProof) newest() Stamp {
	if c.First.Stamp.Compare(c.Second.Stamp) > 0 {
		return c.First.Stamp
	}
	return c.Second.Stamp
}
