package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
)

// MaxEquivocationProofBytes bounds the total size of the two envelopes of an EquivocationProof, so
// that nodes can store and forward all proofs. Larger shares give no proof.
const MaxEquivocationProofBytes = 64 << 10

// Conflict is the way in which two shares contradict each other.
type Conflict uint8

// Conflicts.
const (
	SameStamp      Conflict = iota // two shares with one stamp
	ForkedReceipts                 // two receipts, neither of which is a prefix of the other
)

// EquivocationProof is two shares that no author with one complete journal signs both. The data
// directory of their author was copied or restored from a backup, or the author is dishonest. Every
// node can verify the proof.
type EquivocationProof struct {
	First, Second Share // in order of their digests, so that each proof has one form
	Conflict      Conflict
}

// ProveEquivocation returns the proof that two shares make; ok is false if they do not conflict.
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

// Accounts returns the two receipts; ok is false if the shares are not receipts.
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

// Compare returns a positive number if c takes precedence over another proof of the same author
// and conflict: c contains more releases, or is newer. So all nodes that receive both keep the same.
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
