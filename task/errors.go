package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one error in a task file, or in the table that it names.
type Error struct {
	File         string // as given to Parse, or the table in its folder
	Line, Column int    // from 1; columns count characters, in tables bytes; 0 without a file
	Message      string
}

// Error returns the message after its place, as in
// `task.yaml:4:12: parameter "x": low 3 must be below high 1`.
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

// maxErrors bounds how many errors of one file are reported.
const maxErrors = 20

// ParseError holds the errors of a task file, in the order of the file. Parse returns no
// other type of error. A ParseError of New has no positions, since there is no file.
type ParseError struct {
	Errors  []*Error // at least one, at most 20
	Omitted int      // number of further errors
}

// parseError returns the collected errors.
func (d *decoder) parseError() *ParseError {
	table := func(e *Error) int { // errors of the table follow those of the task file
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
