package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a task file.
type Error struct {
	File         string // as given to Parse
	Line, Column int    // from 1; columns count characters; 0 without a file
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

// ParseError holds what is wrong with a task file, in the order of the file.
// Parse returns no other type of error. Without a file, from New, it has no places.
type ParseError struct {
	Errors  []*Error // at least one, at most 20
	Omitted int      // how many more there are
}

func newParseError(all []*Error) *ParseError {
	slices.SortStableFunc(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	shown := min(len(all), maxErrors)
	return &ParseError{Errors: all[:shown], Omitted: len(all) - shown}
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
