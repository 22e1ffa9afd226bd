package protocol

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/internal/pb"
)

// MaxTaskNames is the maximum number of tasks in a response.
const MaxTaskNames = 16

// Limits of a request with a task's name, and of its response.
const (
	maxTaskNameRequestBytes  = sha256.Size + 8
	maxTaskNameResponseBytes = MaxTaskNames * (maxTaskBytes + 8)
)

// NameHash returns the hash that represents a task's name in a request between two nodes. Only a node
// that already knows the name recognises it. The hash depends on both node IDs, so that hashes in
// requests between different nodes cannot be compared.
func NameHash(asking, answering peer.ID, name string) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{"fbo task name 1", string(asking), string(answering), name} {
		fmt.Fprintf(h, "%d:%s", len(part), part) // writing to a hash never fails
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// WriteTaskMismatchRequest writes a request.
func WriteTaskMismatchRequest(w io.Writer, nameHash [sha256.Size]byte) error {
	_, err := protodelim.MarshalTo(w, &pb.TaskMismatchRequest{NameHash: nameHash[:]})
	return err
}

// ReadTaskMismatchRequest reads a request that WriteTaskMismatchRequest has written.
func ReadTaskMismatchRequest(r io.Reader) (nameHash [sha256.Size]byte, err error) {
	var m pb.TaskMismatchRequest
	if err := unmarshal(bufio.NewReader(r), &m, maxTaskNameRequestBytes); err != nil {
		return nameHash, fmt.Errorf("task mismatch request: %w", err)
	}
	if len(m.NameHash) != len(nameHash) {
		return nameHash, fmt.Errorf("task mismatch request: %w: hash of %d bytes, want %d", ErrMalformed, len(m.NameHash), len(nameHash))
	}
	return [sha256.Size]byte(m.NameHash), nil
}

// WriteTaskMismatchResponse writes a response with the first MaxTaskNames tasks.
func WriteTaskMismatchResponse(w io.Writer, tasks []cid.Cid) error {
	var m pb.TaskMismatchResponse
	for _, task := range tasks[:min(len(tasks), MaxTaskNames)] {
		m.Tasks = append(m.Tasks, task.Bytes())
	}
	_, err := protodelim.MarshalTo(w, &m)
	return err
}

// ReadTaskMismatchResponse reads a response that WriteTaskMismatchResponse has written.
func ReadTaskMismatchResponse(r io.Reader) ([]cid.Cid, error) {
	var m pb.TaskMismatchResponse
	if err := unmarshalCounted(r, &m, maxTaskNameResponseBytes, MaxTaskNames); err != nil {
		return nil, fmt.Errorf("task mismatch response: %w", err)
	}
	var tasks []cid.Cid
	for _, raw := range m.Tasks {
		task, err := taskText(raw)
		if err != nil {
			return nil, fmt.Errorf("task mismatch response: %w", err)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}
