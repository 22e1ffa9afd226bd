// Package base contains the common parts of all commands: exit codes and errors of usage, checks of
// arguments, the data directory, logs, JSON, the terminal.
package base

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/node"
)

// Exit codes of the program.
const (
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitGaveUp = 3 // too many evaluations failed: a restart helps only after the cause is removed
)

// ExitCode returns the exit code of the program after an error.
func ExitCode(err error) int {
	var usage UsageError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, node.ErrTooManyFailures):
		return ExitGaveUp
	}
	return ExitFailed
}

// UsageError marks an error in the user's input: exit code 2.
type UsageError struct{ error }

// Unwrap returns the marked error.
func (e UsageError) Unwrap() error { return e.error }

// BadUsage marks an error as one in the user's input.
func BadUsage(err error) error { return UsageError{err} }

// Usagef formats an error in the user's input.
func Usagef(format string, args ...any) error {
	return BadUsage(fmt.Errorf(format, args...))
}
