package sanitize

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Writer writes its input in the form of Lines, however the input is split.
type Writer struct {
	Out  io.Writer
	held []byte // the beginning of a character or of a line break
}

// Write writes everything except an incomplete character or line break at the end.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(bytes.Clone(w.held), p...)
	whole := len(text) - incomplete(text)
	w.held = bytes.Clone(text[whole:])
	if _, err := io.WriteString(w.Out, Lines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the held bytes at the end of the input.
func (w *Writer) Flush() error {
	held := w.held
	w.held = nil
	_, err := io.WriteString(w.Out, Lines(string(held)))
	return err
}

// incomplete returns the number of bytes at the end that later ones may complete.
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
