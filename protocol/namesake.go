package protocol

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/protocol/pb"
)

// MaxNamesakes bounds the tasks of one answer.
const MaxNamesakes = 16

// Limits of one question whether a node works on a task of a certain name.
const (
	maxNamesakeRequestBytes  = sha256.Size + 8
	maxNamesakeResponseBytes = MaxNamesakes * (maxTaskBytes + 8)
)

// NameHash stands for a task's name in a question of one node to another, so that
// the name is told only to who knows it already. Both nodes are part of it: what
// one was asked tells it nothing about what others ask.
func NameHash(asking, answering peer.ID, name string) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{"fbo task name 1", string(asking), string(answering), name} {
		fmt.Fprintf(h, "%d:%s", len(part), part) // a hash takes everything
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// WriteNamesakeRequest sends a question.
func WriteNamesakeRequest(w io.Writer, nameHash [sha256.Size]byte) error {
	_, err := protodelim.MarshalTo(w, &pb.NamesakeRequest{NameHash: nameHash[:]})
	return err
}

// ReadNamesakeRequest reads what WriteNamesakeRequest wrote.
func ReadNamesakeRequest(r io.Reader) (nameHash [sha256.Size]byte, err error) {
	var m pb.NamesakeRequest
	if err := unmarshal(bufio.NewReader(r), &m, maxNamesakeRequestBytes); err != nil {
		return nameHash, fmt.Errorf("protocol: namesake request: %w", err)
	}
	if len(m.NameHash) != len(nameHash) {
		return nameHash, fmt.Errorf("protocol: namesake request: %w: hash of %d bytes, want %d", ErrMalformed, len(m.NameHash), len(nameHash))
	}
	return [sha256.Size]byte(m.NameHash), nil
}

// WriteNamesakeResponse sends at most the first MaxNamesakes tasks.
func WriteNamesakeResponse(w io.Writer, tasks []cid.Cid) error {
	var m pb.NamesakeResponse
	for _, task := range tasks[:min(len(tasks), MaxNamesakes)] {
		m.Tasks = append(m.Tasks, task.Bytes())
	}
	_, err := protodelim.MarshalTo(w, &m)
	return err
}

// ReadNamesakeResponse reads what WriteNamesakeResponse wrote.
func ReadNamesakeResponse(r io.Reader) ([]cid.Cid, error) {
	var m pb.NamesakeResponse
	if err := unmarshalCounted(r, &m, maxNamesakeResponseBytes, MaxNamesakes); err != nil {
		return nil, fmt.Errorf("protocol: namesake response: %w", err)
	}
	var tasks []cid.Cid
	for _, raw := range m.Tasks {
		task, err := castTask(raw)
		if err != nil {
			return nil, fmt.Errorf("protocol: namesake response: %w", err)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}
