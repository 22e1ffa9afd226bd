package protocol

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Sizes in bytes of the parts of a comparison. They are constant, so that they disclose nothing
// about the compared numbers.
const (
	SessionBytes = 16
	OfferBytes   = 2048
	AnswerBytes  = 4096
)

// Reasons for which a peer refuses a comparison.
const (
	RefusedEarly = 1 // the peer has no threshold yet
	RefusedOften = 2 // the peer has answered this node too often within the last hour
	maxRefusal   = 255
)

// Comparison is one message of a private comparison between the bound of one node and the threshold
// of another (package compare). Exactly one of Offer, Answer, Refusal and Verdict is set.
type Comparison struct {
	Session [SessionBytes]byte
	Offer   []byte
	Answer  []byte
	Refusal int // reason for the refusal; 0: none
	Verdict *Verdict
}

// Verdict is the result of a comparison.
type Verdict struct {
	Design *NearOptimal // nil if the design's bound does not exceed the threshold
}

// Encode returns the message. It returns an error for values that Decode would reject.
func (c Comparison) Encode(space *task.Space) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	m := &pb.Comparison{Session: c.Session[:]}
	switch {
	case c.Offer != nil:
		m.Step = &pb.Comparison_Offer{Offer: c.Offer}
	case c.Answer != nil:
		m.Step = &pb.Comparison_Answer{Answer: c.Answer}
	case c.Refusal != 0:
		m.Step = &pb.Comparison_Refusal{Refusal: uint32(c.Refusal)}
	default:
		verdict := &pb.Verdict{}
		if c.Verdict.Design != nil {
			design, err := c.Verdict.Design.Encode(space)
			if err != nil {
				return nil, err
			}
			verdict.Design = design
		}
		m.Step = &pb.Comparison_Verdict{Verdict: verdict}
	}
	return proto.Marshal(m)
}

// DecodeComparison is the inverse of Encode. A design in it must be a point of the space and have
// no bound.
func DecodeComparison(data []byte, space *task.Space) (Comparison, error) {
	if limit := AnswerBytes + pointBytes(space) + 2*payloadOverhead; len(data) > limit {
		return Comparison{}, fmt.Errorf("%w: a comparison of %d bytes, the limit is %d", ErrMalformed, len(data), limit)
	}
	var m pb.Comparison
	if err := proto.Unmarshal(data, &m); err != nil {
		return Comparison{}, fmt.Errorf("%w: comparison: %w", ErrMalformed, err)
	}
	if len(m.Session) != SessionBytes {
		return Comparison{}, fmt.Errorf("%w: the session of a comparison has %d bytes, expected %d", ErrMalformed, len(m.Session), SessionBytes)
	}
	c := Comparison{Session: [SessionBytes]byte(m.Session)}
	switch step := m.Step.(type) {
	case *pb.Comparison_Offer:
		c.Offer = step.Offer
	case *pb.Comparison_Answer:
		c.Answer = step.Answer
	case *pb.Comparison_Refusal:
		c.Refusal = whole(step.Refusal)
	case *pb.Comparison_Verdict:
		c.Verdict = &Verdict{}
		if len(step.Verdict.GetDesign()) > 0 {
			design, err := DecodeNearOptimal(step.Verdict.GetDesign(), space)
			if err != nil {
				return Comparison{}, err
			}
			c.Verdict.Design = &design
		}
	}
	if err := c.validate(); err != nil {
		return Comparison{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return c, nil
}

func (c Comparison) validate() error {
	parts := 0
	for _, there := range []bool{c.Offer != nil, c.Answer != nil, c.Refusal != 0, c.Verdict != nil} {
		if there {
			parts++
		}
	}
	switch {
	case parts != 1:
		return fmt.Errorf("a comparison with %d of offer, answer, refusal and verdict, expected 1", parts)
	case c.Offer != nil && len(c.Offer) != OfferBytes:
		return fmt.Errorf("the offer of a comparison has %d bytes, expected %d", len(c.Offer), OfferBytes)
	case c.Answer != nil && len(c.Answer) != AnswerBytes:
		return fmt.Errorf("the answer of a comparison has %d bytes, expected %d", len(c.Answer), AnswerBytes)
	case c.Refusal < 0 || c.Refusal > maxRefusal:
		return fmt.Errorf("a comparison is refused for reason %d, expected 1 to %d", c.Refusal, maxRefusal)
	case c.Verdict != nil && c.Verdict.Design != nil && c.Verdict.Design.Bound != nil:
		return errors.New("the design of a comparison has a bound, which must stay secret")
	}
	return nil
}
