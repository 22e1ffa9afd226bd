package protocol

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// ReceiptKind is the kind of shares that hold a Receipt. They have slot 0, and of two
// that one author has signed the one with more releases is newer, whatever the stamps.
const ReceiptKind = "receipt"

// MaxReceipted bounds the releases of a Receipt, whatever the task plans.
const MaxReceipted = 4096

// ReleaseName is a random name of a private release. Releases have one name only if they
// are the same. The zero name is that of all releases by versions that gave none.
type ReleaseName [8]byte

// Receipt is an author's account of its private releases, in order. Peers keep the
// longest that they have heard, an empty one too, and tell it to its author, whose journal
// may have lost some.
type Receipt struct {
	Releases []ReleaseName // at most MaxReceipted
}

// Common returns how many releases two accounts have in common, from the first on.
func (r Receipt) Common(other Receipt) int {
	for i, name := range r.Releases {
		if i == len(other.Releases) || other.Releases[i] != name {
			return i
		}
	}
	return len(r.Releases)
}

// Forked tells whether neither account goes on where the other ends, so that two
// journals have counted releases.
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

// DecodeReceipt is the inverse of Encode. It accepts at most so many releases, and one
// form of each receipt alone.
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
	// What a digest of the payload tells apart must be another account.
	if form, err := r.Encode(); err != nil || !bytes.Equal(form, payload) {
		return Receipt{}, fmt.Errorf("%w: receipt not in its canonical form", ErrMalformed)
	}
	return r, nil
}
