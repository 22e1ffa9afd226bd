package protocol

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// ReceiptKind is the kind of shares with a Receipt, whose slot is 0. Among an author's receipts,
// the one with more releases is the newer one, whatever the stamps.
const ReceiptKind = "receipt"

// MaxReceipted is the maximum number of releases in a Receipt, whatever the task plans.
const MaxReceipted = 4096

// ReleaseName is the random name of a DP release, which distinguishes it from all others. Versions
// without names used the zero name for all releases.
type ReleaseName [8]byte

// Receipt is the share that lists its author's DP releases, in order. Peers store the longest
// receipt of an author that they have received, even an empty one. They send it back to the author,
// whose journal may have lost releases.
type Receipt struct {
	Releases []ReleaseName // at most MaxReceipted
}

// Common returns the length of the common prefix of two receipts.
func (r Receipt) Common(other Receipt) int {
	for i, name := range r.Releases {
		if i == len(other.Releases) || other.Releases[i] != name {
			return i
		}
	}
	return len(r.Releases)
}

// Forked reports whether neither receipt is a prefix of the other. Then two different journals have
// recorded releases of the author.
func (r Receipt) Forked(other Receipt) bool {
	return r.Common(other) < min(len(r.Releases), len(other.Releases))
}

// Encode returns the payload: 8 bytes for each release and a few more.
func (r Receipt) Encode() ([]byte, error) {
	if len(r.Releases) > MaxReceipted {
		return nil, fmt.Errorf("receipt of %d releases, the limit is %d", len(r.Releases), MaxReceipted)
	}
	var m pb.Receipt
	for _, name := range r.Releases {
		m.Releases = append(m.Releases, name[:]...)
	}
	return proto.Marshal(&m)
}

// DecodeReceipt is the inverse of Encode. It accepts at most the given number of releases, and only
// the exact encoding that Encode returns.
func DecodeReceipt(payload []byte, releases int) (Receipt, error) {
	const size = len(ReleaseName{})
	if limit := size*releases + payloadOverhead; len(payload) > limit {
		return Receipt{}, fmt.Errorf("%w: receipt of %d bytes, the limit for %d releases is %d", ErrMalformed, len(payload), releases, limit)
	}
	var m pb.Receipt
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Receipt{}, fmt.Errorf("%w: receipt: %w", ErrMalformed, err)
	}
	if n := len(m.Releases); n%size != 0 || n > size*releases {
		return Receipt{}, fmt.Errorf("%w: receipt with names of %d bytes, expected up to %d of %d bytes each", ErrMalformed, n, releases, size)
	}
	var r Receipt
	for rest := m.Releases; len(rest) > 0; rest = rest[size:] {
		r.Releases = append(r.Releases, ReleaseName(rest))
	}
	// With one encoding only, receipts with different digests of their payloads have different
	// contents.
	if form, err := r.Encode(); err != nil || !bytes.Equal(form, payload) {
		return Receipt{}, fmt.Errorf("%w: receipt not in its canonical form", ErrMalformed)
	}
	return r, nil
}
