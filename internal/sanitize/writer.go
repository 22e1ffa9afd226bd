package sanitize

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Writer writes what it gets as Lines shows it, whatever its pieces are.
type Writer struct {
	Out  io.Writer
	held []byte // the begin of a character or of a line break
}

// Write writes all but an incomplete character or line break at the end.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(bytes.Clone(w.held), p...)
	whole := len(text) - incomplete(text)
	w.held = bytes.Clone(text[whole:])
	if _, err := io.WriteString(w.Out, Lines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is held when nothing more comes.
func (w *Writer) Flush() error {
	held := w.held
	w.held = nil
	_, err := io.WriteString(w.Out, Lines(string(held)))
	return err
}

// incomplete counts the bytes at the end that the next ones may complete.
func incomplete(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for size := 1; size < utf8.UTFMax && size <= len(text); size++ {
		if end := text[len(text)-size:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return size
		}
	}
	return 0
}
