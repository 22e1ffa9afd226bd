package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Contribution is the share that reports how many vectors its author has contributed to private
// sums. No share contains a vector.
type Contribution struct {
	Release int // number of vectors that the author has contributed so far, including the latest; at least 1
	Round   int // round of private sums to which the author contributed the latest vector; at least Release
}

// Encode returns the payload, which has a few bytes.
func (c Contribution) Encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.Contribution{Release: uint32(c.Release), Round: uint32(c.Round)})
}

// DecodeContribution is the inverse of Encode.
func DecodeContribution(payload []byte) (Contribution, error) {
	if len(payload) > payloadOverhead {
		return Contribution{}, fmt.Errorf("%w: contribution of %d bytes, the limit is %d", ErrMalformed, len(payload), payloadOverhead)
	}
	var m pb.Contribution
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Contribution{}, fmt.Errorf("%w: contribution: %w", ErrMalformed, err)
	}
	if m.Release > math.MaxInt32 || m.Round > math.MaxInt32 {
		return Contribution{}, fmt.Errorf("%w: contribution %d in round %d", ErrMalformed, m.Release, m.Round)
	}
	c := Contribution{Release: int(m.Release), Round: int(m.Round)}
	if err := c.check(); err != nil {
		return Contribution{}, err
	}
	return c, nil
}

func (c Contribution) check() error {
	if c.Release < 1 || c.Round < c.Release || c.Round > math.MaxInt32 {
		return fmt.Errorf("%w: contribution %d in round %d, expected contributions from 1 in rounds up to %d, at most one in each", ErrMalformed, c.Release, c.Round, math.MaxInt32)
	}
	return nil
}
