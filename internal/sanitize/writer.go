package sanitize

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Writer writes its input as Lines returns it, however the input is divided into calls of Write.
type Writer struct {
	Out  io.Writer
	held []byte // incomplete character or line break at the end of the input so far
}

// Write writes p, except for an incomplete character or line break at its end.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(bytes.Clone(w.held), p...)
	whole := len(text) - incomplete(text)
	w.held = bytes.Clone(text[whole:])
	if _, err := io.WriteString(w.Out, Lines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the bytes that Write has held back. It must be called at the end of the input.
func (w *Writer) Flush() error {
	held := w.held
	w.held = nil
	_, err := io.WriteString(w.Out, Lines(string(held)))
	return err
}

// incomplete returns the number of bytes at the end of text that could be completed by later bytes.
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
