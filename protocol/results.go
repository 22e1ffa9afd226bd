package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// MaxResults is the maximum number of results in a share.
const MaxResults = 200

// Results is the share with designs that its author has evaluated, and their outcomes.
type Results struct {
	// Observations is the number of all results of the author, including those that Results omits:
	// at least len(Results).
	Observations int
	Results      []Result // 1 to MaxResults; a design may occur several times
}

// Result is a design with its outcome, or with the information that its evaluation failed.
type Result struct {
	Point Point
	// Failed means that the evaluation failed. Value is then 0, and Constraints is nil.
	Failed bool
	// Value is the objective as measured, at most MaxUnit in size.
	Value float64
	// Constraints has a reading for each constraint of the task, in the task's order: a number of at
	// most MaxUnit in size, or for a truth value 0 or 1. It is nil if the task has no constraints.
	Constraints []float64
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (r Results) Encode(space *task.Space, constraints []task.Constraint) ([]byte, error) {
	if err := r.validate(space, constraints); err != nil {
		return nil, err
	}
	m := &pb.Results{Observations: uint32(r.Observations)}
	for _, one := range r.Results {
		result := &pb.Result{Point: one.Point.message(), Constraints: one.Constraints}
		if !one.Failed {
			result.Value = &one.Value
		}
		m.Results = append(m.Results, result)
	}
	return proto.Marshal(m)
}

// DecodeResults is the inverse of Encode. All points must be points of the space, and each outcome
// must have a reading of every constraint.
func DecodeResults(payload []byte, space *task.Space, constraints []task.Constraint) (Results, error) {
	if limit := maxResultsBytes(space, constraints); len(payload) > limit {
		return Results{}, fmt.Errorf("%w: results of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Results
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Results{}, fmt.Errorf("%w: results: %w", ErrMalformed, err)
	}
	r := Results{Observations: int(m.Observations)}
	for _, one := range m.Results {
		r.Results = append(r.Results, Result{
			Point:       pointFrom(one.Point),
			Failed:      one.Value == nil,
			Value:       one.GetValue(),
			Constraints: one.Constraints,
		})
	}
	if err := r.validate(space, constraints); err != nil {
		return Results{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return r, nil
}

// maxResultsBytes returns the maximum size of a payload.
func maxResultsBytes(space *task.Space, constraints []task.Constraint) int {
	return MaxResults*(pointBytes(space)+8*len(constraints)+24) + payloadOverhead
}

func (r Results) validate(space *task.Space, constraints []task.Constraint) error {
	if err := checkObservations("list of results", r.Observations); err != nil {
		return err
	}
	n := len(r.Results)
	if n < 1 || n > MaxResults {
		return fmt.Errorf("a list of %d results, expected 1 to %d", n, MaxResults)
	}
	if r.Observations < n {
		return fmt.Errorf("a list of %d results of %d observations, expected as many or more", n, r.Observations)
	}
	for i, one := range r.Results {
		if err := one.check(space, constraints); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// check returns an error if the result is not one of a task with this space and these constraints.
func (r Result) check(space *task.Space, constraints []task.Constraint) error {
	if err := r.Point.check(space); err != nil {
		return err
	}
	if r.Failed {
		if r.Value != 0 || len(r.Constraints) > 0 {
			return fmt.Errorf("a failed evaluation with value %g and %d readings, expected none", r.Value, len(r.Constraints))
		}
		return nil
	}
	if !(math.Abs(r.Value) <= MaxUnit) {
		return fmt.Errorf("a value of %g, expected numbers up to %g in size", r.Value, MaxUnit)
	}
	if len(r.Constraints) != len(constraints) {
		return fmt.Errorf("%d readings of constraints, the task has %d constraints", len(r.Constraints), len(constraints))
	}
	for i, c := range constraints {
		switch v := r.Constraints[i]; {
		case c.Truth && v != 0 && v != 1:
			return fmt.Errorf("a reading of %s of %g, expected 0 or 1", c.Output, v)
		case !(math.Abs(v) <= MaxUnit):
			return fmt.Errorf("a reading of %s of %g, expected numbers up to %g in size", c.Output, v, MaxUnit)
		}
	}
	return nil
}
