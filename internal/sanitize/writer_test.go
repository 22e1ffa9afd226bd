package sanitize

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWriterInPieces holds Writer to Lines of the whole.
func TestWriterInPieces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.SampledFrom([][]byte{{'\r'}, {'\n'}, {0xf0}, {0x9f, 0x98}, {0x80}, []byte("\x1b[2J"), []byte("\t日本")}),
		)).Draw(rt, "pieces")
		var shown, whole strings.Builder
		w := Writer{Out: &shown}
		for _, piece := range pieces {
			if n, err := w.Write(piece); err != nil || n != len(piece) {
				rt.Fatalf("%d, %v; want %d bytes written", n, err, len(piece))
			}
			whole.Write(piece)
		}
		if err := w.Flush(); err != nil {
			rt.Fatal(err)
		}
		if want := Lines(whole.String()); shown.String() != want {
			rt.Fatalf("%q is shown as %q, want %q", pieces, shown.String(), want)
		}
	})
}
