package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
)

// MaxContradictionBytes bounds the two envelopes of a Contradiction together, so that
// all of them can be kept and passed on. Of larger shares nothing is proven.
const MaxContradictionBytes = 64 << 10

// Conflict is how two shares contradict each other.
type Conflict uint8

// Conflicts.
const (
	OneStamp    Conflict = iota // two shares with one stamp
	TwoAccounts                 // two receipts of which neither goes on where the other ends
)

// Contradiction is two signed shares of one author that no author with one whole journal
// signs: its data directory was copied, or put back from a backup, or it lies. Anybody
// can verify it.
type Contradiction struct {
	First, Second Share // in order of their digests, so that there is one form of it
	Conflict      Conflict
}

// Contradict tells whether two shares are a Contradiction.
func Contradict(a, b Share) (Contradiction, bool) {
	if a.Author != b.Author || a.Task != b.Task || a.Digest == b.Digest || len(a.Envelope)+len(b.Envelope) > MaxContradictionBytes {
		return Contradiction{}, false
	}
	c := Contradiction{First: a, Second: b, Conflict: OneStamp}
	if bytes.Compare(a.Digest[:], b.Digest[:]) > 0 {
		c.First, c.Second = b, a
	}
	if first, second, ok := c.Accounts(); ok && first.Forked(second) {
		c.Conflict = TwoAccounts
		return c, true
	}
	return c, a.Stamp == b.Stamp
}

// OpenContradiction opens both envelopes and verifies that they contradict each other.
// Every error wraps ErrMalformed.
func OpenContradiction(first, second []byte) (Contradiction, error) {
	a, err := Open(first)
	if err != nil {
		return Contradiction{}, err
	}
	b, err := Open(second)
	if err != nil {
		return Contradiction{}, err
	}
	c, ok := Contradict(a, b)
	if !ok {
		return Contradiction{}, fmt.Errorf("%w: two shares of %s and %s that do not contradict each other", ErrMalformed, a.Author, b.Author)
	}
	return c, nil
}

// Accounts returns what both receipts hold; ok is false if they are no receipts.
func (c Contradiction) Accounts() (first, second Receipt, ok bool) {
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
func (c Contradiction) Digest() [DigestBytes]byte {
	sum := sha256.Sum256(append(c.First.Digest[:], c.Second.Digest[:]...))
	return [DigestBytes]byte(sum[:])
}

// Bytes is how much the two envelopes take.
func (c Contradiction) Bytes() int { return len(c.First.Envelope) + len(c.Second.Envelope) }

// Compare is positive when c says more than another one of the same author and
// conflict: it knows of more releases, or is newer. So all that hear both keep the same.
func (c Contradiction) Compare(other Contradiction) int {
	mine, theirs := c.Digest(), other.Digest()
	return cmp.Or(
		cmp.Compare(c.releases(), other.releases()),
		c.newest().Compare(other.newest()),
		bytes.Compare(mine[:], theirs[:]),
	)
}

func (c Contradiction) releases() int {
	first, second, ok := c.Accounts()
	if !ok {
		return 0
	}
	return len(first.Releases) + len(second.Releases) - first.Common(second)
}

func (c Contradiction) newest() Stamp {
	if c.First.Stamp.Compare(c.Second.Stamp) > 0 {
		return c.First.Stamp
	}
	return c.Second.Stamp
}
