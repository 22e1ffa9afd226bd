package protocol

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits of a request to a hub and its response.
const (
	maxTaskBytes               = 128
	maxRendezvousRequestBytes  = maxTaskBytes + MaxRecordBytes + 16
	maxRendezvousResponseBytes = MaxRecords * (MaxRecordBytes + 8)
)

// RendezvousRequest registers a node for a task at a hub, and requests the records of other nodes
// on it.
type RendezvousRequest struct {
	Task       cid.Cid
	PeerRecord []byte // signed peer record of the requesting node, for OpenRecord
}

// WriteRendezvousRequest writes a request.
func WriteRendezvousRequest(w io.Writer, request RendezvousRequest) error {
	_, err := protodelim.MarshalTo(w, &pb.RendezvousRequest{Task: request.Task.Bytes(), PeerRecord: request.PeerRecord})
	return err
}

// ReadRendezvousRequest reads a request that WriteRendezvousRequest has written. The caller must
// verify the record with OpenRecord.
func ReadRendezvousRequest(r io.Reader) (RendezvousRequest, error) {
	var m pb.RendezvousRequest
	if err := unmarshal(bufio.NewReader(r), &m, maxRendezvousRequestBytes); err != nil {
		return RendezvousRequest{}, fmt.Errorf("meet request: %w", err)
	}
	task, err := taskText(m.Task)
	if err != nil {
		return RendezvousRequest{}, fmt.Errorf("meet request: %w", err)
	}
	return RendezvousRequest{Task: task, PeerRecord: m.PeerRecord}, nil
}

// taskText parses the binary CID of a task.
func taskText(raw []byte) (cid.Cid, error) {
	if len(raw) > maxTaskBytes {
		return cid.Undef, fmt.Errorf("%w: task of %d bytes, the limit is %d", ErrMalformed, len(raw), maxTaskBytes)
	}
	task, err := cid.Cast(raw)
	if err != nil {
		return cid.Undef, fmt.Errorf("%w: task: %w", ErrMalformed, err)
	}
	return task, nil
}

// WriteRendezvousResponse writes a response with the first MaxRecords records.
func WriteRendezvousResponse(w io.Writer, records [][]byte) error {
	_, err := protodelim.MarshalTo(w, &pb.RendezvousResponse{PeerRecords: records[:min(len(records), MaxRecords)]})
	return err
}

// ReadRendezvousResponse reads a response that WriteRendezvousResponse has written.
func ReadRendezvousResponse(r io.Reader) ([][]byte, error) {
	var m pb.RendezvousResponse
	if err := unmarshalCounted(r, &m, maxRendezvousResponseBytes, MaxRecords); err != nil {
		return nil, fmt.Errorf("meet response: %w", err)
	}
	return m.PeerRecords, nil
}
