package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"fbo-node":                    "fbo-node",
		"größer, 日本":                  "größer, 日本",
		`back\slash "quotes"`:         `back\slash "quotes"`,
		"two\nlines\tand\r\nmore":     "two lines and  more",
		"\x1b[2Jgone":                 `\x1b[2Jgone`,
		"\u009b31mred":                `\u009b31mred`,
		"\x1b]0;title\x07":            `\x1b]0;title\a`,
		"left\u202eright":             `left\u202eright`,
		"\xff\xfe":                    `\xff\xfe`,
		"null\x00":                    `null\x00`,
		"zero\u200bwidth":             `zero\u200bwidth`,
		"replacement \ufffd is shown": "replacement \ufffd is shown",
	} {
		if got := Text(text, 100); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := Text(strings.Repeat("ä", 50), 10); got != strings.Repeat("ä", 10)+"…" {
		t.Errorf("a long text is shown as %q", got)
	}
}

func TestTextIsPrintable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")) + rapid.String().Draw(rt, "string")
		got := Text(text, 1000)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			rt.Fatalf("%q is shown as %q", text, got)
		}
		if Text(got, 100000) != got {
			rt.Fatalf("%q is no longer plain", got)
		}
	})
}
