// Package sanitize makes text from peers and programs safe to display. On a terminal, sanitised
// text cannot move the cursor, change colours or titles, hide other text, or fill the screen.
package sanitize

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the text on one line, shortened to most characters. White space becomes spaces.
// Other characters that are not printable become escapes as in Go; these include control and
// formatting characters and invalid UTF-8.
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

// JSON returns JSON with the same values that is safe to display. It escapes characters of texts
// that are not printable. Invalid UTF-8 becomes U+FFFD, as JSON parsers read it.
func JSON(data []byte) []byte {
	shown := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, unicode.IsPrint(r) && (r != utf8.RuneError || size > 1): // valid JSON has ASCII control characters only as space between values
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

// Lines returns the text with its line breaks and tabs, and sanitises everything else as Text does.
// A carriage return, with which programs overwrite a line, becomes a line break.
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
