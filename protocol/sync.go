package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/fbo-node/fbo/protocol/pb"
)

// Limits of one sync exchange.
const (
	MaxHeld         = 8192 // shares named by one request
	maxRequestBytes = 1 << 20
	maxItemBytes    = MaxEnvelopeBytes + 64

	maxResponseBytes = 64 << 20
)

// Held names a share that a node already has.
type Held struct {
	Key
	Stamp
}

// SyncItem is one share of a response, still sealed: the receiver opens it as
// it opens every other envelope.
type SyncItem struct {
	Envelope []byte
	Age      time.Duration // since the sender of the item accepted it, whole seconds
}

// WriteSyncRequest names at most the first MaxHeld shares.
func WriteSyncRequest(w io.Writer, held []Held) error {
	m := &pb.SyncRequest{}
	for _, h := range held[:min(len(held), MaxHeld)] {
		m.Held = append(m.Held, &pb.Held{
			Author: []byte(h.Author), Kind: h.Kind, Slot: h.Slot, Epoch: h.Epoch, Sequence: h.Sequence,
		})
	}
	_, err := protodelim.MarshalTo(w, m)
	return err
}

// ReadSyncRequest reads what WriteSyncRequest wrote.
func ReadSyncRequest(r io.Reader) ([]Held, error) {
	var raw emptypb.Empty // keeps the bytes, so that the names can be counted first
	if err := unmarshal(bufio.NewReader(r), &raw, maxRequestBytes); err != nil {
		return nil, fmt.Errorf("protocol: sync request: %w", err)
	}
	body := raw.ProtoReflect().GetUnknown()
	if n := countFields(body); n > MaxHeld {
		return nil, fmt.Errorf("protocol: sync request: %w: names %d shares, the limit is %d", ErrMalformed, n, MaxHeld)
	}
	var m pb.SyncRequest
	if err := proto.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("protocol: sync request: %w: %w", ErrMalformed, err)
	}
	held := make([]Held, len(m.Held))
	for i, h := range m.Held {
		author, err := peer.IDFromBytes(h.Author)
		if err != nil {
			return nil, fmt.Errorf("protocol: sync request: %w: author: %w", ErrMalformed, err)
		}
		held[i] = Held{Key{author, h.Kind, h.Slot}, Stamp{h.Epoch, h.Sequence}}
	}
	return held, nil
}

// countFields counts the fields of an encoded message without decoding them: a
// name may be two bytes on the wire and takes a hundred in memory.
func countFields(message []byte) (n int) {
	for len(message) > 0 {
		_, _, length := protowire.ConsumeField(message)
		if length < 0 {
			break // Unmarshal says what is wrong
		}
		message = message[length:]
		n++
	}
	return n
}

// WriteSyncItem appends one share to a response.
func WriteSyncItem(w io.Writer, item SyncItem) error {
	_, err := protodelim.MarshalTo(w, &pb.SyncItem{
		Envelope:   item.Envelope,
		AgeSeconds: uint32(min(max(item.Age, 0), MaxTTL) / time.Second),
	})
	return err
}

// ReadSyncItems calls accept for each share of a response, until its end or
// the limit of MaxHeld shares; more than 64 MiB are an error.
func ReadSyncItems(r io.Reader, accept func(SyncItem) error) error {
	buffered := bufio.NewReader(io.LimitReader(r, maxResponseBytes))
	for range MaxHeld {
		var m pb.SyncItem
		err := unmarshal(buffered, &m, maxItemBytes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("protocol: sync response: %w", err)
		}
		if err := accept(SyncItem{Envelope: m.Envelope, Age: time.Duration(m.AgeSeconds) * time.Second}); err != nil {
			return err
		}
	}
	return nil
}

func unmarshal(r protodelim.Reader, m proto.Message, limit int64) error {
	return protodelim.UnmarshalOptions{MaxSize: limit}.UnmarshalFrom(r, m)
}
