package evaluator

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Failure is the error of an evaluation that gave no value.
type Failure struct {
	Trial  uint64
	Reason string // readable reason, such as "exited with code 3"
	Log    string // path of the file with the end of its output; empty if there was no output
	Stderr string // last line of its standard error, shortened
	Err    error  // cause, if any; for a cancelled evaluation or one that took too long, the cause of its context

	worker bool // the failure is one of Workers, not of a Command
}

// failureOf returns the error of an evaluation: err if it is a *Stopped, and otherwise a failure with
// the reason.
func failureOf(err error, f Failure) error {
	if stopped := (*Stopped)(nil); errors.As(err, &stopped) {
		return stopped
	}
	f.Reason, f.Err = err.Error(), errors.Unwrap(err)
	return &f
}

// Error returns the reason, the last line of standard error and the path of the log. It omits the
// path if the reason already quotes the whole output. It omits the trial, because callers add it.
func (f *Failure) Error() string {
	var b strings.Builder
	who := "command"
	if f.worker {
		who = "worker"
	}
	fmt.Fprintf(&b, "the %s %s", who, f.Reason)
	if f.Stderr != "" {
		fmt.Fprintf(&b, "; the last line of its standard error is %q", f.Stderr)
	}
	if f.Log != "" && (f.Stderr != "" || !strings.HasPrefix(f.Reason, printedReason)) {
		fmt.Fprintf(&b, " (see %s)", f.Log)
	}
	return b.String()
}

// printedReason is the beginning of reasons that quote the command's output.
const printedReason = "printed "

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// maxQuote is the maximum length of a line of output in an error.
const maxQuote = 200 // bytes

func shorten(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if len(line) <= maxQuote {
		return line
	}
	end := maxQuote
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}

// lastLine returns the last line that is not blank, without surrounding spaces.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
