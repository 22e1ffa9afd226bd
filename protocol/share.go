package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits that decoding enforces for every share.
const (
	MaxEnvelopeBytes = 256 << 10
	MaxKindBytes     = 32
	MaxTTL           = 90 * 24 * time.Hour
)

// ErrMalformed is wrapped by all errors about data that no honest node sends.
var ErrMalformed = errors.New("malformed share")

// Stamp orders the shares of one author.
type Stamp struct {
	Epoch    uint64 `json:"epoch"`    // grows with each start of the author
	Sequence uint64 `json:"sequence"` // grows by one with each share of an epoch, from 1
}

// Compare returns a negative number if s is older than t, a positive number if s is newer, and 0 if
// they are equal.
func (s Stamp) Compare(t Stamp) int {
	if c := cmp.Compare(s.Epoch, t.Epoch); c != 0 {
		return c
	}
	return cmp.Compare(s.Sequence, t.Sequence)
}

func (s Stamp) String() string { return fmt.Sprintf("%d.%d", s.Epoch, s.Sequence) }

// Key identifies a share among those of a task. A newer share replaces an older one with the same
// key.
type Key struct {
	Author peer.ID
	Kind   string
	Slot   uint64
}

// Share is a signed message of one author for one task.
type Share struct {
	Task cid.Cid
	Key
	Stamp
	TTL     time.Duration // time from sending until the share expires, in whole seconds; at most MaxTTL
	Payload []byte        // data in the encoding of the exchange that publishes this kind

	Envelope []byte   // exact bytes of the signed envelope; set by Seal and Open
	Digest   [32]byte // SHA-256 of the signed content; set by Seal and Open
}

// Seal signs the share with its author's key. It returns the share with Author, Envelope and Digest
// set.
func Seal(s Share, key crypto.PrivKey) (Share, error) {
	if key.Type() != crypto.Ed25519 {
		return Share{}, fmt.Errorf("cannot seal with a %v key, expected Ed25519", key.Type())
	}
	author, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return Share{}, fmt.Errorf("author of share: %w", err)
	}
	s.Author = author
	if err := s.validate(); err != nil {
		return Share{}, fmt.Errorf("cannot seal: %w", err)
	}
	signed := &signedShare{Share: s}
	envelope, err := record.Seal(signed, key)
	if err != nil {
		return Share{}, fmt.Errorf("sign share: %w", err)
	}
	if s.Envelope, err = envelope.Marshal(); err != nil {
		return Share{}, fmt.Errorf("encode envelope: %w", err)
	}
	if len(s.Envelope) > MaxEnvelopeBytes {
		return Share{}, fmt.Errorf("a share of kind %q takes %d bytes, the limit is %d", s.Kind, len(s.Envelope), MaxEnvelopeBytes)
	}
	s.Digest = sha256.Sum256(envelope.RawPayload)
	return s, nil
}

// Open decodes an envelope, and verifies its signature and all limits. The returned share refers to
// the given bytes. Every error wraps ErrMalformed.
func Open(envelopeBytes []byte) (Share, error) {
	if len(envelopeBytes) > MaxEnvelopeBytes {
		return Share{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrMalformed, len(envelopeBytes), MaxEnvelopeBytes)
	}
	var signed signedShare
	envelope, err := record.ConsumeTypedEnvelope(envelopeBytes, &signed)
	if err != nil {
		return Share{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !bytes.Equal(envelope.PayloadType, signed.Codec()) {
		return Share{}, fmt.Errorf("%w: the envelope holds something else than a share", ErrMalformed)
	}
	if envelope.PublicKey.Type() != crypto.Ed25519 {
		return Share{}, fmt.Errorf("%w: signed with a %v key, expected Ed25519", ErrMalformed, envelope.PublicKey.Type())
	}
	// An Ed25519 signature has only one form. If the envelope has only one form too, peers cannot
	// make a second or a longer envelope of the same share.
	if form, err := envelope.Marshal(); err != nil || !bytes.Equal(form, envelopeBytes) {
		return Share{}, fmt.Errorf("%w: the envelope is not in its canonical form", ErrMalformed)
	}
	s := signed.Share
	if s.Author, err = peer.IDFromPublicKey(envelope.PublicKey); err != nil {
		return Share{}, fmt.Errorf("%w: author: %w", ErrMalformed, err)
	}
	if err := s.validate(); err != nil {
		return Share{}, err
	}
	s.Envelope = envelopeBytes
	s.Digest = sha256.Sum256(envelope.RawPayload)
	return s, nil
}

func (s *Share) validate() error {
	if !s.Task.Defined() {
		return fmt.Errorf("%w: no task", ErrMalformed)
	}
	return s.validateFields()
}

// validateFields checks the fields that an announcement has too.
func (s *Share) validateFields() error {
	switch {
	case s.Kind == "" || len(s.Kind) > MaxKindBytes:
		return fmt.Errorf("%w: kind of %d bytes, expected 1 to %d", ErrMalformed, len(s.Kind), MaxKindBytes)
	case s.Epoch == 0 || s.Sequence == 0:
		return fmt.Errorf("%w: stamp %v, epoch and sequence count from 1", ErrMalformed, s.Stamp)
	case s.TTL < time.Second || s.TTL > MaxTTL || s.TTL%time.Second != 0:
		return fmt.Errorf("%w: time to live %v, expected whole seconds from 1s to %v", ErrMalformed, s.TTL, MaxTTL)
	}
	return nil
}

// signedShare is the record in the signed envelope.
type signedShare struct{ Share }

func (*signedShare) Domain() string { return "fbo-share-v1" }
func (*signedShare) Codec() []byte  { return []byte("/fbo/share/1") }

func (s *signedShare) MarshalRecord() ([]byte, error) {
	return proto.Marshal(&pb.Share{
		Task:       s.Task.Bytes(),
		Epoch:      s.Epoch,
		Sequence:   s.Sequence,
		Kind:       s.Kind,
		Slot:       s.Slot,
		TtlSeconds: uint32(s.TTL / time.Second),
		Payload:    s.Payload,
	})
}

func (s *signedShare) UnmarshalRecord(data []byte) error {
	var m pb.Share
	if err := proto.Unmarshal(data, &m); err != nil {
		return err
	}
	task, err := cid.Cast(m.Task)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	s.Share = Share{
		Task:    task,
		Key:     Key{Kind: m.Kind, Slot: m.Slot},
		Stamp:   Stamp{Epoch: m.Epoch, Sequence: m.Sequence},
		TTL:     time.Duration(m.TtlSeconds) * time.Second,
		Payload: m.Payload,
	}
	return nil
}
