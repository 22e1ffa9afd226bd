package sums

import (
	"encoding/binary"
	"fmt"

	"github.com/fbo-node/fbo/protocol"
)

// MaxRounds is the maximum number of rounds of a task.
const MaxRounds = 1000

// State is the share of a member: what it has contributed, and whether it could contribute more.
type State struct {
	Contributions int  // number of contributions so far
	Round         int  // round of the latest contribution; 0 before the first
	Ready         bool // the member has enough new observations for a contribution, and relies on enough members
}

// newest returns the maximum of each number of two States. It is ready if one of them is.
func (s State) newest(other State) State {
	return State{max(s.Contributions, other.Contributions), max(s.Round, other.Round), s.Ready || other.Ready}
}

// Encode returns the payload: two unsigned varints and one byte.
func (s State) Encode() []byte {
	data := binary.AppendUvarint(nil, uint64(s.Contributions))
	data = binary.AppendUvarint(data, uint64(s.Round))
	if s.Ready {
		return append(data, 1)
	}
	return append(data, 0)
}

// DecodeState is the inverse of Encode.
func DecodeState(payload []byte) (State, error) {
	r := reader{rest: payload}
	s := State{Contributions: r.number(MaxRounds), Round: r.number(MaxRounds)}
	ready := r.number(1)
	s.Ready = ready == 1
	if r.bad || len(r.rest) > 0 || s.Round < s.Contributions || s.Contributions == 0 && s.Round > 0 {
		return State{}, fmt.Errorf("%w: state of sums of %d bytes, expected contributions in rounds up to %d, at most one in each", protocol.ErrMalformed, len(payload), MaxRounds)
	}
	return s, nil
}

// reader reads numbers from the front of rest. After the first missing or invalid one it is bad.
type reader struct {
	rest []byte
	bad  bool
}

// number reads a varint of the shortest form, at most most.
func (r *reader) number(most int) int {
	v, n := binary.Uvarint(r.rest)
	if r.bad || n <= 0 || v > uint64(most) || n > 1 && r.rest[n-1] == 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.rest) < n {
		r.bad = true
		return nil
	}
	piece := r.rest[:n]
	r.rest = r.rest[n:]
	return piece
}
