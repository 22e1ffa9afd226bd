package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
)

// MaxEquivocationProofBytes bounds the two envelopes of a Contradiction together, so that
// all of them can be kept and passed on. Of larger shares nothing is proven.
const MaxEquivocationProofBytes = 64 << 10

// Conflict is how two shares contradict each other.
type Conflict uint8

// Conflicts.
const (
	SameStamp      Conflict = iota // two shares with one stamp
	ForkedReceipts                 // two receipts of which neither goes on where the other ends
)

// EquivocationProof is two signed shares of one author that no author with one whole journal
// signs: its data directory was copied, or put back from a backup, or it lies. Anybody
// can verify it.
type EquivocationProof struct {
	First, Second Share // in order of their digests, so that there is one form of it
	Conflict      Conflict
}

// ProveEquivocation tells whether two shares are a Contradiction.
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

// OpenEquivocationProof opens both envelopes and verifies that they contradict each other.
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

// Accounts returns what both receipts hold; ok is false if they are no receipts.
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

// Digest names the contradiction.
func (c EquivocationProof) Digest() [DigestBytes]byte {
	sum := sha256.Sum256(append(c.First.Digest[:], c.Second.Digest[:]...))
	return [DigestBytes]byte(sum[:])
}

// Bytes is how much the two envelopes take.
func (c EquivocationProof) Bytes() int { return len(c.First.Envelope) + len(c.Second.Envelope) }

// Compare is positive when c says more than another one of the same author and
// conflict: it knows of more releases, or is newer. So all that hear both keep the same.
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
