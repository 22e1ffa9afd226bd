package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Candidate is the share with which its author proposes a design in a round: the design that it
// would evaluate without peers.
type Candidate struct {
	Round        int // from 1 to the number of rounds of the task
	Point        Point
	Response     *float64 // best value that the author has observed so far, signed so that larger is better; nil if the task does not exchange it
	VisiblePeers int      // number of peers that the author considers present
}

// maxNeighbours is the maximum of Candidate.VisiblePeers.
const maxNeighbours = 1 << 20

// Encode returns the payload. It returns an error for values that Decode would reject.
func (c Candidate) Encode(space *task.Space, rounds int) ([]byte, error) {
	if err := c.validate(space, rounds); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Candidate{
		Round:        uint32(c.Round),
		Point:        c.Point.message(),
		Response:     c.Response,
		VisiblePeers: uint32(c.VisiblePeers),
	})
}

// DecodeCandidate is the inverse of Encode. The point must be one of the space, and the round one
// of the task's rounds.
func DecodeCandidate(payload []byte, space *task.Space, rounds int) (Candidate, error) {
	if limit := pointBytes(space) + payloadOverhead; len(payload) > limit {
		return Candidate{}, fmt.Errorf("%w: a candidate of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Candidate
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Candidate{}, fmt.Errorf("%w: candidate: %w", ErrMalformed, err)
	}
	c := Candidate{
		Round:        int(min(m.Round, math.MaxInt32)),
		Point:        pointFrom(m.Point),
		Response:     m.Response,
		VisiblePeers: int(min(m.VisiblePeers, math.MaxInt32)),
	}
	if err := c.validate(space, rounds); err != nil {
		return Candidate{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return c, nil
}

func (c Candidate) validate(space *task.Space, rounds int) error {
	switch {
	case c.Round < 1 || c.Round > rounds:
		return fmt.Errorf("a candidate of round %d, the task has rounds 1 to %d", c.Round, rounds)
	case c.VisiblePeers < 0 || c.VisiblePeers > maxNeighbours:
		return fmt.Errorf("a candidate that claims %d neighbours, expected up to %d", c.VisiblePeers, maxNeighbours)
	}
	if err := checkUnit("response", c.Response); err != nil {
		return err
	}
	return c.Point.check(space)
}

// checkUnit returns an error if an optional number in units of the objective is too large or NaN.
func checkUnit(name string, value *float64) error {
	if value != nil && !(math.Abs(*value) <= MaxUnit) {
		return fmt.Errorf("a %s of %g, expected numbers up to %g in size", name, *value, MaxUnit)
	}
	return nil
}
