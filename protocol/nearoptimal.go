package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// NearOptimal is the share with a design that its author estimates to be near-optimal.
type NearOptimal struct {
	Observations int // number of observations behind the estimate, at least 1
	Point        Point
	Bound        *float64 // lower confidence bound of the objective at the design, signed so that larger is better; nil if the task does not exchange it
	Release      int      // consecutive number of the DP release among those of its author, from 1; 0 on tasks without privacy
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (n NearOptimal) Encode(space *task.Space) ([]byte, error) {
	if err := n.validate(space); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.NearOptimal{Observations: uint32(n.Observations), Point: n.Point.message(), Bound: n.Bound, Release: uint32(n.Release)})
}

// DecodeNearOptimal is the inverse of Encode. The point must be one of the space.
func DecodeNearOptimal(payload []byte, space *task.Space) (NearOptimal, error) {
	if limit := pointBytes(space) + payloadOverhead; len(payload) > limit {
		return NearOptimal{}, fmt.Errorf("%w: a design of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.NearOptimal
	if err := proto.Unmarshal(payload, &m); err != nil {
		return NearOptimal{}, fmt.Errorf("%w: design: %w", ErrMalformed, err)
	}
	n := NearOptimal{Observations: int(m.Observations), Point: pointFrom(m.Point), Bound: m.Bound, Release: int(m.Release)}
	if err := n.validate(space); err != nil {
		return NearOptimal{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return n, nil
}

func (n NearOptimal) validate(space *task.Space) error {
	if err := checkObservations("design", n.Observations); err != nil {
		return err
	}
	if err := checkRelease("design", n.Release); err != nil {
		return err
	}
	if err := checkUnit("bound", n.Bound); err != nil {
		return err
	}
	return n.Point.check(space)
}

// checkObservations returns an error if a number of observations is out of range. It also rejects
// negative numbers, which large values of uint32 become if an int has 32 bits.
func checkObservations(name string, count int) error {
	if count < 1 || count > math.MaxInt32 {
		return fmt.Errorf("a %s resting on %d observations, expected 1 to %d", name, count, math.MaxInt32)
	}
	return nil
}

// checkRelease returns an error if the number of a DP release is out of range. 0 means that the
// share is no DP release.
func checkRelease(name string, release int) error {
	if release < 0 || release > math.MaxInt32 {
		return fmt.Errorf("a %s of release %d, expected 0 to %d", name, release, math.MaxInt32)
	}
	return nil
}
