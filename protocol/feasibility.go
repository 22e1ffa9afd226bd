package protocol

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// MaxLabels is the maximum number of labels in a share.
const MaxLabels = 64

// Feasibility is the share with designs that its author has evaluated, and whether each was
// feasible. It contains no measured values.
type Feasibility struct {
	// Observations is the number of all labels of the author, also those too old for Labels: at
	// least len(Labels).
	Observations int
	Labels       []Label // 1 to MaxLabels; a design may occur several times
}

// Label is a design and whether it was feasible.
type Label struct {
	Point    Point
	Feasible bool
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (f Feasibility) Encode(space *task.Space) ([]byte, error) {
	if err := f.validate(space); err != nil {
		return nil, err
	}
	m := &pb.Feasibility{Observations: uint32(f.Observations)}
	for _, l := range f.Labels {
		m.Labels = append(m.Labels, &pb.Label{Point: l.Point.message(), Feasible: l.Feasible})
	}
	return proto.Marshal(m)
}

// DecodeFeasibility is the inverse of Encode. All points must be points of the space.
func DecodeFeasibility(payload []byte, space *task.Space) (Feasibility, error) {
	if limit := MaxLabels*(pointBytes(space)+8) + payloadOverhead; len(payload) > limit {
		return Feasibility{}, fmt.Errorf("%w: labels of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Feasibility
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Feasibility{}, fmt.Errorf("%w: labels: %w", ErrMalformed, err)
	}
	f := Feasibility{Observations: int(m.Observations)}
	for _, l := range m.Labels {
		f.Labels = append(f.Labels, Label{Point: pointFrom(l.Point), Feasible: l.Feasible})
	}
	if err := f.validate(space); err != nil {
		return Feasibility{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return f, nil
}

func (f Feasibility) validate(space *task.Space) error {
	if err := checkObservations("list of labels", f.Observations); err != nil {
		return err
	}
	n := len(f.Labels)
	if n < 1 || n > MaxLabels {
		return fmt.Errorf("a list of %d labels, expected 1 to %d", n, MaxLabels)
	}
	if f.Observations < n {
		return fmt.Errorf("a list of %d labels of %d observations, expected as many or more", n, f.Observations)
	}
	for i, l := range f.Labels {
		if err := l.Point.check(space); err != nil {
			return fmt.Errorf("label %d: %w", i, err)
		}
	}
	return nil
}
