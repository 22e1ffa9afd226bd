package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// Limits of the quartiles of curves.
const (
	// MinCurves is the number of evaluations from which quartiles are shared. Fewer would nearly be
	// the values themselves.
	MinCurves = 4
	// MaxRungs is the number of rungs of a task at most: powers of 2 up to 1e9.
	MaxRungs = 30
)

// Curves is the share with quartiles of its author's learning curves, for the first rungs of the task
// in ascending order. It has no curve, no design and no best value.
type Curves struct {
	Rungs []CurveRung // 1 to MaxRungs
}

// CurveRung describes the evaluations that reached a rung. Their numbers do not increase from rung to
// rung.
type CurveRung struct {
	Count  int       // number of evaluations, running and stopped ones included; MinCurves or more
	Values Quartiles // of the objective at the rung

	Complete int       // number of those with an outcome: MinCurves to Count, or 0
	Changes  Quartiles // of the differences between the outcome and the value at the rung
}

// Quartiles are the lower quartile, the median and the upper quartile, in the task's units: finite,
// up to MaxUnit in size, and in ascending order.
type Quartiles [3]float64

// Encode returns the payload: up to 60 bytes for each rung. It returns an error for values that
// DecodeCurves would reject.
func (c Curves) Encode() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	m := &pb.Curves{}
	for _, r := range c.Rungs {
		rung := &pb.CurveRung{Count: uint32(r.Count), Values: r.Values[:], Complete: uint32(r.Complete)}
		if r.Complete > 0 {
			rung.Changes = r.Changes[:]
		}
		m.Rungs = append(m.Rungs, rung)
	}
	return proto.Marshal(m)
}

// DecodeCurves is the inverse of Encode.
func DecodeCurves(payload []byte) (Curves, error) {
	if limit := MaxRungs*70 + payloadOverhead; len(payload) > limit {
		return Curves{}, fmt.Errorf("%w: curves of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Curves
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Curves{}, fmt.Errorf("%w: curves: %w", ErrMalformed, err)
	}
	var c Curves
	for i, r := range m.Rungs {
		complete := len(r.Changes) == 3
		if len(r.Values) != 3 || len(r.Changes) != 0 && !complete || complete != (r.Complete > 0) {
			return Curves{}, fmt.Errorf("%w: curves: rung %d has %d quartiles of values and %d of changes of %d evaluations, expected 3, and 3 of any",
				ErrMalformed, i+1, len(r.Values), len(r.Changes), r.Complete)
		}
		rung := CurveRung{Count: int(r.Count), Values: Quartiles(r.Values), Complete: int(r.Complete)}
		if complete {
			rung.Changes = Quartiles(r.Changes)
		}
		c.Rungs = append(c.Rungs, rung)
	}
	if err := c.validate(); err != nil {
		return Curves{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return c, nil
}

func (c Curves) validate() error {
	if n := len(c.Rungs); n < 1 || n > MaxRungs {
		return fmt.Errorf("curves: %d rungs, expected 1 to %d", n, MaxRungs)
	}
	count, complete := math.MaxInt32, math.MaxInt32
	for i, r := range c.Rungs {
		switch {
		case r.Count < MinCurves || r.Count > count:
			return fmt.Errorf("curves: rung %d has %d evaluations, expected %d to %d", i+1, r.Count, MinCurves, count)
		case r.Complete != 0 && (r.Complete < MinCurves || r.Complete > min(r.Count, complete)):
			return fmt.Errorf("curves: rung %d has %d complete evaluations, expected 0, or %d to %d", i+1, r.Complete, MinCurves, min(r.Count, complete))
		case !r.Values.valid() || !r.Changes.valid() || r.Complete == 0 && r.Changes != Quartiles{}:
			return fmt.Errorf("curves: rung %d has the quartiles %g and %g, expected numbers up to %g in size in ascending order", i+1, r.Values, r.Changes, MaxUnit)
		}
		count, complete = r.Count, r.Complete
	}
	return nil
}

func (q Quartiles) valid() bool {
	return -MaxUnit <= q[0] && q[0] <= q[1] && q[1] <= q[2] && q[2] <= MaxUnit
}
