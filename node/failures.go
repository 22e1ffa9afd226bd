package node

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// Errors for a run that ends because evaluations failed. The run's error wraps one or both of them.
var (
	// ErrTooManyFailures means that more evaluations failed than RunOptions.MaxFailures allows.
	ErrTooManyFailures = errors.New("too many evaluations have failed")
	// ErrNothingWorks means that in addition no evaluation of the node has ever had an outcome.
	ErrNothingWorks = errors.New("no evaluation has worked")
)

// Limits on failures for a run without RunOptions.MaxFailures. Before the first outcome, ten
// failures most likely mean a mistake in the command or its environment. Such a mistake seldom
// takes long to fail. A limit of five would end one in twenty correct runs where half of the search
// space fails. After the first outcome, a part of the search space may still fail. So only many
// failures in a row show that something has broken: 20 of designs that the node's model expected to
// complete, or 100 of any designs.
const (
	maxFirstFailures      = 10
	maxUnexpectedFailures = 20
	maxFailuresInARow     = 100
)

// GaveUpError is the error of a run that ended because too many evaluations failed. All trials are
// recorded, and the next run counts failures from zero.
type GaveUpError struct {
	Count      int    // number of failures
	InARow     bool   // Count is of failures without an outcome between them; false: of all failures of the run
	Unexpected bool   // Count is of failures of designs that the node's model expected to complete
	Worked     bool   // at least one evaluation of the node has had an outcome
	Trial      uint64 // ID of the last trial that failed
	Reason     error  // reason for which that trial failed
}

// Error implements error.
func (e *GaveUpError) Error() string {
	what, count := ErrNothingWorks, fmt.Sprintf("%d in this run", e.Count)
	if e.Worked {
		what = ErrTooManyFailures
	}
	if e.InARow {
		count = fmt.Sprintf("%d in a row", e.Count)
	}
	if e.Unexpected {
		count += ", of designs that were expected to complete,"
	}
	return fmt.Sprintf("%v: %s failed, the last (trial %d): %s", what, count, e.Trial, sanitize.Text(e.Reason.Error(), nethost.MaxReason))
}

// Unwrap returns ErrTooManyFailures, ErrNothingWorks if no evaluation has had an outcome, and the
// reason of the last failure.
func (e *GaveUpError) Unwrap() []error {
	if e.Worked {
		return []error{ErrTooManyFailures, e.Reason}
	}
	return []error{ErrTooManyFailures, ErrNothingWorks, e.Reason}
}

// failures counts the failed evaluations of one run.
type failures struct {
	count      int
	inARow     int
	unexpected int  // failures in a row of designs that the node's model expected to complete
	worked     bool // some evaluation, of any run, has had an outcome
}

// note counts one failure. The argument expected reports whether the node's model expected it. The
// error is not nil if the failure exceeds the limit. A limit of 0 means the default limits.
func (f *failures) note(limit int, trial uint64, expected bool, reason error) error {
	f.count++
	f.inARow++
	if !expected {
		f.unexpected++
	}
	e := &GaveUpError{Count: f.count, Worked: f.worked, Trial: trial, Reason: reason}
	switch {
	case limit > 0 && f.count >= limit:
	case limit > 0:
		return nil
	case !f.worked && f.inARow >= maxFirstFailures, f.inARow >= maxFailuresInARow:
		e.Count, e.InARow = f.inARow, true
	case f.worked && f.unexpected >= maxUnexpectedFailures:
		e.Count, e.InARow, e.Unexpected = f.unexpected, true, f.unexpected < f.inARow
	default:
		return nil
	}
	return e
}
