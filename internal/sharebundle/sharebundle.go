// Package sharebundle encodes the shares of a task as a file, for nodes that exchange files instead
// of messages.
//
// A bundle is a signed list of items. An item is a share in its author's envelope, byte for byte as
// gossip carries it, with its age. The authors' signatures do not cover the ages, and cannot show
// that an item is missing. Therefore the exporting node signs the whole: a carrier can neither remove
// items nor make expired shares valid again.
//
// The format is the line "fbo-share-bundle-1 open" or "fbo-share-bundle-1 sealed", and a body. The
// body is a libp2p envelope with the task's ID, the time of the export, and the items in the format
// of a sync response. For a task by invitation the body is sealed by the key of gossip messages, so
// that without the invitation only its length is visible.
package sharebundle

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/protocol"
)

// Limits of a bundle.
const (
	MaxBytes   = 48 << 20 // more than the share cache stores
	MaxAuthors = 64       // as many authors as the share cache stores of those that were never connected
	MaxShares  = 4096
)

const (
	openLine   = "fbo-share-bundle-1 open\n"
	sealedLine = "fbo-share-bundle-1 sealed\n"

	// sealer takes the place of the author in the sealed body. No peer ID has this form.
	sealer peer.ID = "fbo share bundle 1"

	maxTaskBytes = 128
)

// Errors about the content of a file.
var (
	ErrDamaged = errors.New("damaged or not a bundle of shares")
	ErrForeign = errors.New("of another task")
	ErrSealed  = errors.New("sealed: reading it needs the task's invitation")
)

// Item is a share with the time since its author sent it.
type Item struct {
	Share protocol.Share
	Age   time.Duration // at Bundle.Made
}

// Bundle is the content of a file.
type Bundle struct {
	Task     cid.Cid
	Exporter peer.ID // signer of the bundle; Encode derives it from the key
	Made     time.Time
	Items    []Item
}

// Encode returns the file of a bundle, signed by the key. It is sealed if keys is not nil. The shares
// must be of the task and within the limits.
func Encode(b Bundle, key crypto.PrivKey, keys *invitation.Keys) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	envelope, err := record.Seal(&signed{b}, key)
	if err != nil {
		return nil, fmt.Errorf("sign bundle: %w", err)
	}
	body, err := envelope.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode bundle: %w", err)
	}
	file := append([]byte(openLine), body...)
	if keys != nil {
		file = append([]byte(sealedLine), keys.Seal(sealer, body)...)
	}
	if len(file) > MaxBytes {
		return nil, fmt.Errorf("the bundle has %d bytes, the limit is %d", len(file), MaxBytes)
	}
	return file, nil
}

// IsSealed reports whether a file is a sealed bundle.
func IsSealed(file []byte) bool { return bytes.HasPrefix(file, []byte(sealedLine)) }

// Decode reads a file. It verifies the signatures of the bundle and of all shares, the limits, and
// that all shares are of the bundle's task. A sealed bundle needs the invitation's keys, and a task by
// invitation, for which keys is not nil, needs a sealed bundle. The caller compares the task. Errors
// wrap ErrDamaged, ErrForeign or ErrSealed.
func Decode(file []byte, keys *invitation.Keys) (Bundle, error) {
	if len(file) > MaxBytes {
		return Bundle{}, fmt.Errorf("%w: more than %d bytes", ErrDamaged, MaxBytes)
	}
	body, open := bytes.CutPrefix(file, []byte(openLine))
	if !open {
		var sealed bool
		if body, sealed = bytes.CutPrefix(file, []byte(sealedLine)); !sealed {
			return Bundle{}, fmt.Errorf("%w: expected the first line %q or %q", ErrDamaged, openLine[:len(openLine)-1], sealedLine[:len(sealedLine)-1])
		}
		if keys == nil {
			return Bundle{}, ErrSealed
		}
		var err error
		if body, err = keys.Open(sealer, body); err != nil {
			return Bundle{}, fmt.Errorf("%w, or %w: the invitation does not open it", ErrForeign, ErrDamaged)
		}
	} else if keys != nil {
		return Bundle{}, fmt.Errorf("%w: it is not sealed, expected a bundle of nodes with the invitation", ErrForeign)
	}
	var s signed
	envelope, err := record.ConsumeTypedEnvelope(body, &s)
	if err != nil {
		return Bundle{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !bytes.Equal(envelope.PayloadType, s.Codec()) || envelope.PublicKey.Type() != crypto.Ed25519 {
		return Bundle{}, fmt.Errorf("%w: expected an envelope of a bundle, signed by an Ed25519 key", ErrDamaged)
	}
	if form, err := envelope.Marshal(); err != nil || !bytes.Equal(form, body) {
		return Bundle{}, fmt.Errorf("%w: the envelope is not in its canonical form", ErrDamaged)
	}
	if s.Exporter, err = peer.IDFromPublicKey(envelope.PublicKey); err != nil {
		return Bundle{}, fmt.Errorf("%w: exporter: %w", ErrDamaged, err)
	}
	return s.Bundle, nil
}

func (b *Bundle) check() error {
	authors := map[peer.ID]bool{}
	for _, item := range b.Items {
		if !item.Share.Task.Equals(b.Task) {
			return fmt.Errorf("a share of task %v in a bundle of task %v", item.Share.Task, b.Task)
		}
		authors[item.Share.Author] = true
	}
	switch {
	case !b.Task.Defined() || len(b.Task.Bytes()) > maxTaskBytes:
		return errors.New("the task's ID is missing or too long")
	case b.Made.Unix() <= 0:
		return errors.New("the time of the export is missing")
	case len(b.Items) > MaxShares:
		return fmt.Errorf("%d shares, the limit is %d", len(b.Items), MaxShares)
	case len(authors) > MaxAuthors:
		return fmt.Errorf("shares of %d nodes, the limit is %d", len(authors), MaxAuthors)
	}
	return nil
}

// signed is the record in the envelope.
type signed struct{ Bundle }

func (*signed) Domain() string { return "fbo-share-bundle-v1" }
func (*signed) Codec() []byte  { return []byte("/fbo/share-bundle/1") }

// MarshalRecord encodes the length of the task's ID, the ID, the time in seconds since 1970, and the
// items.
func (s *signed) MarshalRecord() ([]byte, error) {
	var out bytes.Buffer
	id := s.Task.Bytes()
	head := protowire.AppendVarint(nil, uint64(len(id)))
	head = protowire.AppendVarint(append(head, id...), uint64(s.Made.Unix()))
	out.Write(head)
	for _, item := range s.Items {
		if err := protocol.WriteSyncItem(&out, protocol.SyncItem{Envelope: item.Share.Envelope, Age: item.Age}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func (s *signed) UnmarshalRecord(data []byte) error {
	size, n := protowire.ConsumeVarint(data)
	if n < 0 || size > maxTaskBytes || uint64(len(data)-n) < size {
		return errors.New("the task's ID is cut short or too long")
	}
	id, err := cid.Cast(data[n : n+int(size)])
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	data = data[n+int(size):]
	made, n := protowire.ConsumeVarint(data)
	if n < 0 || made > 1<<40 {
		return errors.New("the time of the export is wrong")
	}
	b := Bundle{Task: id, Made: time.Unix(int64(made), 0).UTC()}
	err = protocol.ReadSyncItems(bytes.NewReader(data[n:]), func(item protocol.SyncItem) error {
		if len(b.Items) == MaxShares {
			return fmt.Errorf("more than %d shares", MaxShares)
		}
		if item.PeerRecord != nil || item.ConflictingEnvelope != nil {
			return errors.New("an item that is no share")
		}
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			return err
		}
		b.Items = append(b.Items, Item{Share: share, Age: item.Age})
		return nil
	})
	if err != nil {
		return err
	}
	s.Bundle = b
	return b.check()
}
