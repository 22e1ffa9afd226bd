package base

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether a writer is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// CanWriteOver reports whether a writer is a terminal on which a line can be overwritten.
func CanWriteOver(w io.Writer) (file *os.File, ok bool) {
	file, ok = w.(*os.File)
	return file, ok && IsTerminal(w) && os.Getenv("TERM") != "dumb"
}

// Cut returns the first characters of a line.
func Cut(line string, characters int) string {
	if r := []rune(line); len(r) > characters {
		return string(r[:characters-1]) + "…"
	}
	return line
}
