package protocol

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits of a sync request and its response.
const (
	MaxShareIDs           = 8192 // IDs of shares in a request
	MaxRecords            = 32   // peer records in a request or response
	MaxEquivocationProofs = 2    // proofs against the requesting node in a request: one for each Conflict
	MaxSyncAuthors        = 64   // authors in a request, and authors that a keeper suggests
	MaxSyncRequestBytes   = 1<<20 + MaxRecords*(MaxRecordBytes+8) + MaxEquivocationProofs*(MaxEquivocationProofBytes+16) + MaxSyncAuthors*maxAuthorBytes
	maxAuthorBytes        = 64 // of an author's ID in a request or response
	maxItemBytes          = MaxEnvelopeBytes + 64

	maxResponseBytes = 64 << 20
	firstBytes       = 16 << 10 // memory for a message before its bytes arrive
)

// DigestBytes is the length of the digests in a ShareID.
const DigestBytes = 16

// equivocationKind is the kind in the ShareID of an EquivocationProof, whose slot is the Conflict.
// No share has this kind.
const equivocationKind = "equivocation"

// ShareID identifies a share, or an EquivocationProof, that a node has.
type ShareID struct {
	Key
	Stamp
	Digest [DigestBytes]byte // digest of the content; see ShareIDOf
}

// ShareIDOf returns the ID of a share. For a receipt it contains the digest of the payload, because
// the meaning of a receipt does not depend on its stamp.
func ShareIDOf(s Share) ShareID {
	h := ShareID{Key: s.Key, Stamp: s.Stamp, Digest: [DigestBytes]byte(s.Digest[:])}
	if s.Kind == ReceiptKind {
		sum := sha256.Sum256(s.Payload)
		h.Digest = [DigestBytes]byte(sum[:])
	}
	return h
}

// ProofID returns the ID of a proof of equivocation.
func ProofID(c EquivocationProof) ShareID {
	return ShareID{Key: Key{Author: c.First.Author, Kind: equivocationKind, Slot: uint64(c.Conflict)}, Digest: c.Digest()}
}

// SyncRequest requests the shares that Have does not contain. It also contains the peer records of
// the requesting node and of other members.
type SyncRequest struct {
	Have        []ShareID
	PeerRecords [][]byte // signed, for OpenRecord

	// Equivocations holds the proofs against the requesting node itself. The request contains them
	// because, if two nodes use one key, a request in the other direction could reach the other
	// node.
	Equivocations []SealedEquivocationProof

	// Authors restricts the request to shares of these authors, at most MaxSyncAuthors. If it is empty,
	// the request is for shares of all authors.
	Authors []peer.ID

	// Suggest asks a keeper for authors whose shares would be useful to the requesting node.
	Suggest bool
}

// SealedEquivocationProof holds the two envelopes for OpenEquivocationProof.
type SealedEquivocationProof struct{ First, Second []byte }

// SyncItem is one item of a response. It is an envelope with a share for Open, or a peer record for
// OpenRecord, or two envelopes for OpenEquivocationProof, or the suggestion of a keeper.
type SyncItem struct {
	Envelope            []byte
	Age                 time.Duration // time since the sender of the item accepted the share, in whole seconds
	PeerRecord          []byte
	ConflictingEnvelope []byte // second envelope of an EquivocationProof; the first is Envelope

	Suggested []peer.ID // authors that a keeper suggests, best first; at most MaxSyncAuthors
}

// ProofItem returns the item with a proof of equivocation.
func ProofItem(c EquivocationProof) SyncItem {
	return SyncItem{Envelope: c.First.Envelope, ConflictingEnvelope: c.Second.Envelope, Age: MaxTTL}
}

// WriteSyncRequest writes a request with the first MaxShareIDs IDs, the first MaxRecords records,
// the first MaxEquivocationProofs proofs and the first MaxSyncAuthors authors.
func WriteSyncRequest(w io.Writer, request SyncRequest) error {
	m := &pb.SyncRequest{
		PeerRecords: request.PeerRecords[:min(len(request.PeerRecords), MaxRecords)], Authors: authorBytes(request.Authors), Suggest: request.Suggest,
	}
	for _, h := range request.Have[:min(len(request.Have), MaxShareIDs)] {
		m.Have = append(m.Have, &pb.ShareID{
			Author: []byte(h.Author), Kind: h.Kind, Slot: h.Slot, Epoch: h.Epoch, Sequence: h.Sequence, Digest: h.Digest[:],
		})
	}
	for _, c := range request.Equivocations[:min(len(request.Equivocations), MaxEquivocationProofs)] {
		m.Equivocations = append(m.Equivocations, &pb.EquivocationProof{First: c.First, Second: c.Second})
	}
	_, err := protodelim.MarshalTo(w, m)
	return err
}

// ReadSyncRequest reads a request that WriteSyncRequest has written.
func ReadSyncRequest(r io.Reader) (SyncRequest, error) {
	var m pb.SyncRequest
	if err := unmarshalCounted(r, &m, MaxSyncRequestBytes, MaxShareIDs+MaxRecords+MaxEquivocationProofs+MaxSyncAuthors+1); err != nil {
		return SyncRequest{}, fmt.Errorf("sync request: %w", err)
	}
	if len(m.Have) > MaxShareIDs || len(m.PeerRecords) > MaxRecords || len(m.Equivocations) > MaxEquivocationProofs {
		return SyncRequest{}, fmt.Errorf("sync request: %w: %d shares, %d records and %d proofs, the limits are %d, %d and %d",
			ErrMalformed, len(m.Have), len(m.PeerRecords), len(m.Equivocations), MaxShareIDs, MaxRecords, MaxEquivocationProofs)
	}
	authors, err := readAuthors(m.Authors)
	if err != nil {
		return SyncRequest{}, fmt.Errorf("sync request: %w", err)
	}
	request := SyncRequest{Have: make([]ShareID, len(m.Have)), PeerRecords: m.PeerRecords, Authors: authors, Suggest: m.Suggest}
	for i, h := range m.Have {
		author, err := peer.IDFromBytes(h.Author)
		if err != nil {
			return SyncRequest{}, fmt.Errorf("sync request: %w: author: %w", ErrMalformed, err)
		}
		if len(h.Digest) != DigestBytes {
			return SyncRequest{}, fmt.Errorf("sync request: %w: digest of %d bytes, expected %d", ErrMalformed, len(h.Digest), DigestBytes)
		}
		request.Have[i] = ShareID{Key: Key{author, h.Kind, h.Slot}, Stamp: Stamp{h.Epoch, h.Sequence}, Digest: [DigestBytes]byte(h.Digest)}
	}
	for _, c := range m.Equivocations {
		request.Equivocations = append(request.Equivocations, SealedEquivocationProof{First: c.First, Second: c.Second})
	}
	return request, nil
}

func authorBytes(ids []peer.ID) [][]byte {
	var list [][]byte
	for _, id := range ids[:min(len(ids), MaxSyncAuthors)] {
		list = append(list, []byte(id))
	}
	return list
}

func readAuthors(list [][]byte) (ids []peer.ID, err error) {
	if len(list) > MaxSyncAuthors {
		return nil, fmt.Errorf("%w: %d authors, the limit is %d", ErrMalformed, len(list), MaxSyncAuthors)
	}
	for _, data := range list {
		id, err := peer.IDFromBytes(data)
		if err != nil || len(data) > maxAuthorBytes {
			return nil, fmt.Errorf("%w: author of %d bytes is no peer ID", ErrMalformed, len(data))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// unmarshalCounted reads and decodes a message. It rejects a message with too many fields before
// decoding them.
func unmarshalCounted(r io.Reader, m proto.Message, limit uint64, fields int) error {
	body, err := readBody(bufio.NewReader(r), limit)
	if err != nil {
		return err
	}
	if n := countFields(body); n > fields {
		return fmt.Errorf("%w: %d entries, the limit is %d", ErrMalformed, n, fields)
	}
	if err := proto.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// readBody reads a message that follows its length. It allocates memory only as the bytes arrive,
// so that a peer cannot use memory by announcing a long message.
func readBody(r *bufio.Reader, limit uint64) ([]byte, error) {
	size, err := readLength(r, limit)
	if err != nil {
		return nil, err
	}
	body := make([]byte, min(size, firstBytes))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		if read += n; uint64(read) == size {
			return body, nil
		}
		if err != nil {
			return nil, unexpectedEOF(err)
		}
		longer := make([]byte, min(2*uint64(read), size))
		copy(longer, body)
		body = longer
	}
}

// countFields returns the number of fields of an encoded message without decoding them. A ShareID
// can be two bytes in the message, but takes a hundred in memory.
func countFields(message []byte) (n int) {
	for len(message) > 0 {
		_, _, length := protowire.ConsumeField(message)
		if length < 0 {
			break // Unmarshal returns the error
		}
		message = message[length:]
		n++
	}
	return n
}

// WriteSyncItem writes one item of a response.
func WriteSyncItem(w io.Writer, item SyncItem) error {
	_, err := protodelim.MarshalTo(w, &pb.SyncItem{
		Envelope:   item.Envelope,
		AgeSeconds: uint32(min(max(item.Age, 0), MaxTTL) / time.Second),
		PeerRecord: item.PeerRecord,

		ConflictingEnvelope: item.ConflictingEnvelope,
		Suggested:           authorBytes(item.Suggested),
	})
	return err
}

// ReadSyncItems calls accept for each item of a response. It stops at the end, after
// MaxShareIDs+MaxRecords items, or at an error of accept, which it returns. A response of more than
// 64 MiB is an error.
func ReadSyncItems(r io.Reader, accept func(SyncItem) error) error {
	buffered := bufio.NewReader(io.LimitReader(r, maxResponseBytes))
	for range MaxShareIDs + MaxRecords {
		var m pb.SyncItem
		err := unmarshal(buffered, &m, maxItemBytes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("sync response: %w", err)
		}
		suggested, err := readAuthors(m.Suggested)
		if err != nil {
			return fmt.Errorf("sync response: %w", err)
		}
		item := SyncItem{Suggested: suggested, Envelope: m.Envelope, Age: time.Duration(m.AgeSeconds) * time.Second, PeerRecord: m.PeerRecord, ConflictingEnvelope: m.ConflictingEnvelope}
		if err := accept(item); err != nil {
			return err
		}
	}
	return nil
}

// unmarshal reads and decodes a message. Errors that the sender has caused wrap ErrMalformed,
// unlike those of a broken stream.
func unmarshal(r protodelim.Reader, m proto.Message, limit int64) error {
	err := protodelim.UnmarshalOptions{MaxSize: limit}.UnmarshalFrom(r, m)
	var tooLarge *protodelim.SizeTooLargeError
	if errors.As(err, &tooLarge) || errors.Is(err, proto.Error) {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}
