package protocol

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// ReceiptKind is the kind of shares that hold a Receipt. They have slot 0. The receipt of an
// author with more releases is the newer one, whatever the stamps.
const ReceiptKind = "receipt"

// MaxReceipted bounds the releases of a Receipt, whatever the task plans.
const MaxReceipted = 4096

// ReleaseName is the random name of a DP release. Two releases have the same name only if they
// are the same. The zero name is that of all releases by versions without names.
type ReleaseName [8]byte

// Receipt lists an author's DP releases, in order. Peers store the longest receipt that they
// received, even an empty one, and send it back to its author, whose journal may have lost
// releases.
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

// Forked reports whether neither receipt is a prefix of the other, so that two journals have
// recorded releases.
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

// DecodeReceipt is the inverse of Encode. It accepts at most this many releases, and only the
// encoding that Encode returns.
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
		return Receipt{}, fmt.Errorf("%w: receipt with names of %d bytes, accepted are up to %d of %d bytes each", ErrMalformed, n, releases, size)
	}
	var r Receipt
	for rest := m.Releases; len(rest) > 0; rest = rest[size:] {
		r.Releases = append(r.Releases, ReleaseName(rest))
	}
	// Receipts with different digests of the payload must differ in content.
	if form, err := r.Encode(); err != nil || !bytes.Equal(form, payload) {
		return Receipt{}, fmt.Errorf("%w: receipt not in its canonical form", ErrMalformed)
	}
	return r, nil
}
