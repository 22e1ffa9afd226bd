package protocol

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/protocol/pb"
)

// Limits of one conversation with a hub.
const (
	maxTaskBytes         = 128
	maxMeetRequestBytes  = maxTaskBytes + MaxRecordBytes + 16
	maxMeetResponseBytes = MaxRecords * (MaxRecordBytes + 8)
)

// MeetRequest registers a node for a task at a hub, and asks for others.
type MeetRequest struct {
	Task   cid.Cid
	Record []byte // the asking node's own, sealed, as OpenRecord takes it
}

// WriteMeetRequest sends a request.
func WriteMeetRequest(w io.Writer, request MeetRequest) error {
	_, err := protodelim.MarshalTo(w, &pb.MeetRequest{Task: request.Task.Bytes(), Record: request.Record})
	return err
}

// ReadMeetRequest reads what WriteMeetRequest wrote. The record is for
// OpenRecord to verify.
func ReadMeetRequest(r io.Reader) (MeetRequest, error) {
	var m pb.MeetRequest
	if err := unmarshal(bufio.NewReader(r), &m, maxMeetRequestBytes); err != nil {
		return MeetRequest{}, fmt.Errorf("protocol: meet request: %w", err)
	}
	task, err := castTask(m.Task)
	if err != nil {
		return MeetRequest{}, fmt.Errorf("protocol: meet request: %w", err)
	}
	return MeetRequest{Task: task, Record: m.Record}, nil
}

// castTask reads the binary CID of a task.
func castTask(raw []byte) (cid.Cid, error) {
	if len(raw) > maxTaskBytes {
		return cid.Undef, fmt.Errorf("%w: task of %d bytes, the limit is %d", ErrMalformed, len(raw), maxTaskBytes)
	}
	task, err := cid.Cast(raw)
	if err != nil {
		return cid.Undef, fmt.Errorf("%w: task: %w", ErrMalformed, err)
	}
	return task, nil
}

// WriteMeetResponse sends at most the first MaxRecords records.
func WriteMeetResponse(w io.Writer, records [][]byte) error {
	_, err := protodelim.MarshalTo(w, &pb.MeetResponse{Records: records[:min(len(records), MaxRecords)]})
	return err
}

// ReadMeetResponse reads what WriteMeetResponse wrote.
func ReadMeetResponse(r io.Reader) ([][]byte, error) {
	var m pb.MeetResponse
	if err := unmarshalCounted(r, &m, maxMeetResponseBytes, MaxRecords); err != nil {
		return nil, fmt.Errorf("protocol: meet response: %w", err)
	}
	return m.Records, nil
}
