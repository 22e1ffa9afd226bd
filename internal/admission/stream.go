package admission

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/task"
)

// Protocol is the name of the protocol.
const Protocol = "/fbo/admit/1"

const maxNameBytes = 128

// MaxResponseBytes is the maximum length of a response.
const MaxResponseBytes = 1 + 2 + invitation.MaxTextBytes + 4 + task.MaxFileBytes

// ErrMalformed means that a message has another form than honest nodes send.
var ErrMalformed = errors.New("malformed admission message")

// Status is the result of a request.
type Status byte

// Results of requests.
const (
	Admitted    Status = iota
	Unknown            // the node has no such task or string, or does not run the task now
	Expired            // a guest string after its time
	UsedUp             // a guest string that as many others have used as may
	Revoked            // a guest string that its maker has ended
	Unavailable        // the node cannot record the use now
	statuses
)

// Refusal is the error of a request that the node refuses.
type Refusal struct{ Status Status }

func (r *Refusal) Error() string {
	switch r.Status {
	case Expired:
		return "the string has expired: ask its sender for a new one"
	case UsedUp:
		return "the string is used up: ask its sender for a new one"
	case Revoked:
		return "the string was revoked: ask its sender for a new one"
	case Unavailable:
		return "the node cannot record the use of the string now: ask its sender to look at the node's log, and try again"
	}
	return "the node does not know the string, or does not run the task: ask its sender to run the task, or for a new string"
}

// Response is the answer to a request.
type Response struct {
	Status     Status
	Invitation string // text of the task's invitation, for holders of guest strings
	Task       []byte // in canonical form; nil unless admitted
}

// WriteRequest writes a request: the name of a task or string.
func WriteRequest(w io.Writer, name cid.Cid) error {
	raw := name.Bytes()
	if len(raw) > maxNameBytes {
		return fmt.Errorf("%w: name of %d bytes, the limit is %d", ErrMalformed, len(raw), maxNameBytes)
	}
	_, err := w.Write(append([]byte{byte(len(raw))}, raw...))
	return err
}

// ReadRequest reads a request that WriteRequest has written. It reads no further bytes.
func ReadRequest(r io.Reader) (cid.Cid, error) {
	var size [1]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return cid.Undef, fmt.Errorf("request for a task: %w", err)
	}
	if size[0] > maxNameBytes {
		return cid.Undef, fmt.Errorf("%w: name of %d bytes, the limit is %d", ErrMalformed, size[0], maxNameBytes)
	}
	raw := make([]byte, size[0])
	if _, err := io.ReadFull(r, raw); err != nil {
		return cid.Undef, fmt.Errorf("request for a task: %w", err)
	}
	name, err := cid.Cast(raw)
	if err != nil {
		return cid.Undef, fmt.Errorf("%w: name: %w", ErrMalformed, err)
	}
	return name, nil
}

// WriteResponse writes a response.
func WriteResponse(w io.Writer, response Response) error {
	out := []byte{byte(response.Status)}
	if response.Status == Admitted {
		out = binary.BigEndian.AppendUint16(out, uint16(len(response.Invitation)))
		out = append(out, response.Invitation...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(response.Task)))
		out = append(out, response.Task...)
	}
	_, err := w.Write(out)
	return err
}

// ReadResponse reads a response that WriteResponse has written.
func ReadResponse(r io.Reader) (response Response, err error) {
	var status [1]byte
	if _, err := io.ReadFull(r, status[:]); err != nil {
		return Response{}, fmt.Errorf("answer to a request for a task: %w", err)
	}
	if response.Status = Status(status[0]); response.Status >= statuses {
		return Response{}, fmt.Errorf("%w: status %d, expected 0 to %d", ErrMalformed, status[0], statuses-1)
	}
	if response.Status != Admitted {
		return response, nil
	}
	invited, err := readPart(r, 2, invitation.MaxTextBytes)
	if err != nil {
		return Response{}, err
	}
	response.Invitation = string(invited)
	response.Task, err = readPart(r, 4, task.MaxFileBytes)
	return response, err
}

// readPart reads a part after its length, which has 2 or 4 bytes.
func readPart(r io.Reader, width int, limit uint32) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[4-width:]); err != nil {
		return nil, fmt.Errorf("answer to a request for a task: %w", err)
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > limit {
		return nil, fmt.Errorf("%w: part of %d bytes, the limit is %d", ErrMalformed, size, limit)
	}
	part := make([]byte, size)
	if _, err := io.ReadFull(r, part); err != nil {
		return nil, fmt.Errorf("answer to a request for a task: %w", err)
	}
	return part, nil
}

// Name returns the name by which a request refers to the ticket.
func (t Ticket) Name() cid.Cid {
	if t.Kind == Open {
		return t.Task
	}
	return t.Secret.Keys().Tag()
}

// Request asks for the task of a ticket on a stream that this node has opened. It returns the task in
// canonical form, of which it has checked the ID, and the task's invitation; nil for an open task.
// Errors wrap a Refusal, ErrMalformed, or invitation.ErrForeign if the peer does not know the secret.
func Request(stream io.ReadWriter, ends invitation.Ends, t Ticket) (canonical []byte, invited *invitation.Invitation, err error) {
	if err := WriteRequest(stream, t.Name()); err != nil {
		return nil, nil, err
	}
	if t.Kind != Open {
		if err := t.Secret.Keys().Prove(stream, ends); err != nil {
			return nil, nil, err
		}
	}
	response, err := ReadResponse(stream)
	if err != nil {
		return nil, nil, err
	}
	if response.Status != Admitted {
		return nil, nil, &Refusal{response.Status}
	}
	if id, err := t.Task.Prefix().Sum(response.Task); err != nil || id != t.Task {
		return nil, nil, fmt.Errorf("%w: %v sends another task than %v", ErrMalformed, ends.Accepted, t.Task)
	}
	if t.Kind != Guest {
		return response.Task, t.Invitation(), nil
	}
	i, err := invitation.Parse(response.Invitation)
	if err != nil || i.Task() != t.Task {
		return nil, nil, fmt.Errorf("%w: %v sends no invitation to task %v", ErrMalformed, ends.Accepted, t.Task)
	}
	return response.Task, &i, nil
}

// Entry is what a node knows about the name in a request.
type Entry struct {
	Keys   *invitation.Keys // of the secret; nil for an open task
	Answer func() Response  // called after the proof; it has recorded the use of a guest string when it returns
}

// Serve answers a request on a stream that the peer has opened. The function find returns nil for a
// name that it does not know. Then the stream looks as if the peer had not proved the secret, so that
// the peer does not learn which names exist.
func Serve(stream io.ReadWriter, ends invitation.Ends, find func(name cid.Cid) *Entry) error {
	name, err := ReadRequest(stream)
	if err != nil {
		return err
	}
	entry := find(name)
	if entry == nil {
		entry = &Entry{Answer: func() Response { return Response{Status: Unknown} }}
		if invitation.IsName(name) {
			entry.Keys = invitation.New(name).Keys() // of a new secret, which no node has
		}
	}
	if entry.Keys != nil {
		if err := entry.Keys.Answer(stream, ends); err != nil {
			return err
		}
	}
	return WriteResponse(stream, entry.Answer())
}
