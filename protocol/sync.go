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

// Limits of one sync exchange.
const (
	MaxShareIDs           = 8192 // shares named by one request
	MaxRecords            = 32   // peer records in one request or response
	MaxEquivocationProofs = 2    // of the asking node itself, one for each Conflict
	MaxSyncRequestBytes   = 1<<20 + MaxRecords*(MaxRecordBytes+8) + MaxEquivocationProofs*(MaxEquivocationProofBytes+16)
	maxItemBytes          = MaxEnvelopeBytes + 64

	maxResponseBytes = 64 << 20
	firstBytes       = 16 << 10 // of a request, before more has arrived
)

// DigestBytes is the length of the digests by which requests distinguish shares.
const DigestBytes = 16

// equivocationKind is the kind by which requests name an EquivocationProof; the slot is its
// Conflict. No share has it.
const equivocationKind = "equivocation"

// ShareID names a share that a node already has, or an EquivocationProof.
type ShareID struct {
	Key
	Stamp
	Digest [DigestBytes]byte // of its content; see ShareIDOf
}

// ShareIDOf returns the ID of a share. The digest of a receipt is that of its payload, because
// its meaning does not depend on the stamp.
func ShareIDOf(s Share) ShareID {
	h := ShareID{Key: s.Key, Stamp: s.Stamp, Digest: [DigestBytes]byte(s.Digest[:])}
	if s.Kind == ReceiptKind {
		sum := sha256.Sum256(s.Payload)
		h.Digest = [DigestBytes]byte(sum[:])
	}
	return h
}

// ProofID names a proof of equivocation.
func ProofID(c EquivocationProof) ShareID {
	return ShareID{Key: Key{Author: c.First.Author, Kind: equivocationKind, Slot: uint64(c.Conflict)}, Digest: c.Digest()}
}

// SyncRequest asks for the shares that Have does not name, and introduces the
// asking node and others that it knows.
type SyncRequest struct {
	Have        []ShareID
	PeerRecords [][]byte // sealed, as OpenRecord takes them

	// Equivocations holds proofs about the asking node itself. Where two nodes have one key, the
	// asked node could reach the other one when it asks back.
	Equivocations []SealedEquivocationProof
}

// SealedEquivocationProof is what OpenEquivocationProof takes.
type SealedEquivocationProof struct{ First, Second []byte }

// SyncItem is one share of a response, still sealed: the receiver opens it as
// it opens every other envelope. Or it is a peer record, for OpenRecord, or two
// envelopes, for OpenEquivocationProof.
type SyncItem struct {
	Envelope            []byte
	Age                 time.Duration // since the sender of the item accepted it, whole seconds
	PeerRecord          []byte
	ConflictingEnvelope []byte // with Envelope: another one, of an EquivocationProof
}

// ProofItem returns the item that forwards a proof of equivocation.
func ProofItem(c EquivocationProof) SyncItem {
	return SyncItem{Envelope: c.First.Envelope, ConflictingEnvelope: c.Second.Envelope, Age: MaxTTL}
}

// WriteSyncRequest names at most the first MaxShareIDs shares and sends at most the
// first MaxRecords records.
func WriteSyncRequest(w io.Writer, request SyncRequest) error {
	m := &pb.SyncRequest{PeerRecords: request.PeerRecords[:min(len(request.PeerRecords), MaxRecords)]}
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

// ReadSyncRequest reads what WriteSyncRequest wrote.
func ReadSyncRequest(r io.Reader) (SyncRequest, error) {
	var m pb.SyncRequest
	if err := unmarshalCounted(r, &m, MaxSyncRequestBytes, MaxShareIDs+MaxRecords+MaxEquivocationProofs); err != nil {
		return SyncRequest{}, fmt.Errorf("sync request: %w", err)
	}
	if len(m.Have) > MaxShareIDs || len(m.PeerRecords) > MaxRecords || len(m.Equivocations) > MaxEquivocationProofs {
		return SyncRequest{}, fmt.Errorf("sync request: %w: %d shares, %d records and %d proofs, the limits are %d, %d and %d",
			ErrMalformed, len(m.Have), len(m.PeerRecords), len(m.Equivocations), MaxShareIDs, MaxRecords, MaxEquivocationProofs)
	}
	request := SyncRequest{Have: make([]ShareID, len(m.Have)), PeerRecords: m.PeerRecords}
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

// unmarshalCounted refuses a message of too many fields before it decodes them.
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

// readBody reads a message after its length. Its memory grows with the received bytes, so that
// an announced message costs nothing yet.
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

// countFields counts the fields of an encoded message without decoding them: a
// name may be two bytes on the wire and takes a hundred in memory.
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

// WriteSyncItem appends one share or record to a response.
func WriteSyncItem(w io.Writer, item SyncItem) error {
	_, err := protodelim.MarshalTo(w, &pb.SyncItem{
		Envelope:   item.Envelope,
		AgeSeconds: uint32(min(max(item.Age, 0), MaxTTL) / time.Second),
		PeerRecord: item.PeerRecord,

		ConflictingEnvelope: item.ConflictingEnvelope,
	})
	return err
}

// ReadSyncItems calls accept for each item of a response, until its end or the
// limit of MaxShareIDs shares and MaxRecords records; more than 64 MiB are an error.
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
		item := SyncItem{Envelope: m.Envelope, Age: time.Duration(m.AgeSeconds) * time.Second, PeerRecord: m.PeerRecord, ConflictingEnvelope: m.ConflictingEnvelope}
		if err := accept(item); err != nil {
			return err
		}
	}
	return nil
}

// unmarshal distinguishes errors of the sender, which wrap ErrMalformed, from a broken stream.
func unmarshal(r protodelim.Reader, m proto.Message, limit int64) error {
	err := protodelim.UnmarshalOptions{MaxSize: limit}.UnmarshalFrom(r, m)
	var tooLarge *protodelim.SizeTooLargeError
	if errors.As(err, &tooLarge) || errors.Is(err, proto.Error) {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}
