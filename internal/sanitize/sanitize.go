// Package sanitize makes text that others have written fit to be shown: on a terminal
// it cannot move the cursor, change colours or titles, hide what stands beside it,
// or fill the screen.
package sanitize

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the text on one line. White space becomes spaces; whatever else is
// not printable, control and formatting characters and invalid UTF-8 among it, becomes
// an escape as in Go. Of a text of more than most characters the rest is left out.
func Text(text string, most int) string {
	var b strings.Builder
	for count := 0; text != ""; count++ {
		if count == most {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r) && (r != utf8.RuneError || size > 1):
			b.WriteRune(r)
		default:
			quoted := strconv.Quote(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

// JSON returns JSON that has the same values and can be shown: in its texts, whatever is not
// printable is escaped, and invalid UTF-8 is U+FFFD, as readers take it.
func JSON(data []byte) []byte {
	shown := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, unicode.IsPrint(r) && (r != utf8.RuneError || size > 1): // below there are only spaces beside texts
			shown = append(shown, data[:size]...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				shown = fmt.Appendf(shown, `\u%04x`, unit)
			}
		}
		data = data[size:]
	}
	return shown
}

// Lines returns the text with its line breaks and tabs, and all else as Text does. A return
// of the carriage, with which programs write over a line, becomes a line break.
func Lines(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, cell := range strings.Split(line, "\t") {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Text(cell, len(cell)))
		}
	}
	return b.String()
}
