package node

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// Errors of a run that ends because of failures, which its error wraps.
var (
	// ErrTooManyFailures: more evaluations failed than RunOptions allow.
	ErrTooManyFailures = errors.New("too many evaluations have failed")
	// ErrNothingWorks: of these, and no evaluation of the node has ever had an
	// outcome.
	ErrNothingWorks = errors.New("no evaluation has worked")
)

// When a run without a limit of its own ends. Ten failures before the first outcome mean a mistake
// in the command or its environment, most likely: five in a row occur by chance in one of twenty
// runs where half of the space fails, and such a mistake seldom takes long to fail. Later a part of the space may fail, so that only many
// failures without an outcome between them show that something has broken: 20 of designs that the
// node's model expected to complete, or 100 of any.
const (
	maxFirstFailures      = 10
	maxUnexpectedFailures = 20
	maxFailuresInARow     = 100
)

// GaveUpError ends a run in which too many evaluations failed. Nothing is lost by
// it: the next run counts failures anew.
type GaveUpError struct {
	Count      int    // of failures
	InARow     bool   // Count is without an outcome between them; else of the whole run
	Unexpected bool   // Count is of designs that the node's model expected to complete
	Worked     bool   // some evaluation of the node has had an outcome
	Trial      uint64 // the last that failed
	Reason     error  // why it did
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

// Unwrap returns ErrTooManyFailures, if it applies ErrNothingWorks, and the reason.
func (e *GaveUpError) Unwrap() []error {
	if e.Worked {
		return []error{ErrTooManyFailures, e.Reason}
	}
	return []error{ErrTooManyFailures, ErrNothingWorks, e.Reason}
}

// failures counts those of one run.
type failures struct {
	count      int
	inARow     int
	unexpected int  // of these, of designs that the node's model expected to complete
	worked     bool // some evaluation, of any run, has had an outcome
}

// note adds one, whether the node's model expected it or not; its error means that this was one
// too many. A limit of 0 stands for the default.
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
