package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one error in a task file, or in the table that it names.
type Error struct {
	File         string // name given to Parse, or the path of the table
	Line, Column int    // from 1; columns count characters, in tables bytes; 0 without a file
	Message      string
}

// Error returns the message with its position, such as `task.yaml:4:12: parameter "x": low 3 must
// be below high 1`.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "task: " + e.Message
	}
	file := e.File
	if file == "" {
		file = "task"
	}
	return fmt.Sprintf("%s:%d:%d: %s", file, e.Line, e.Column, e.Message)
}

// maxErrors is the maximum number of errors of one file that are reported.
const maxErrors = 20

// ParseError holds the errors of a task file, in the order of the file. Parse returns only errors
// of this type. If New returns one, the errors have no positions, since there is no file.
type ParseError struct {
	Errors  []*Error // at least one, at most 20
	Omitted int      // number of further errors
}

// parseError returns the collected errors, sorted by position.
func (d *decoder) parseError() *ParseError {
	table := func(e *Error) int { // sorts errors of the table after those of the task file
		if e.File == d.file {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(d.errors, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(table(a), table(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	shown := min(len(d.errors), maxErrors)
	return &ParseError{Errors: d.errors[:shown], Omitted: len(d.errors) - shown + d.omitted}
}

// Error returns one line per error.
func (e *ParseError) Error() string {
	lines := make([]string, 0, len(e.Errors)+1)
	for _, one := range e.Errors {
		lines = append(lines, one.Error())
	}
	if e.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.Omitted))
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes every *Error reachable for errors.As.
func (e *ParseError) Unwrap() []error {
	all := make([]error, len(e.Errors))
	for i, one := range e.Errors {
		all[i] = one
	}
	return all
}
