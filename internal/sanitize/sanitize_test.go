package sanitize

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextEscapesControlCharacters(t *testing.T) {
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

func TestJSONEscapesControlCharacters(t *testing.T) {
	for data, want := range map[string]string{
		`{"a": "b"}` + "\n":            `{"a": "b"}` + "\n",
		"[\"größer, 日本\"]":             "[\"größer, 日本\"]",
		"[\"\u009b31m\u202e\u200b\"]":  `["\u009b31m\u202e\u200b"]`,
		"[\"\x7f\"]":                   `["\u007f"]`,
		"[\"\U000e0041\"]":             `["\udb40\udc41"]`,
		"[\"\U0001f600\"]":             "[\"\U0001f600\"]",
		"[\"\u2028 and \u00a0\"]":      `["\u2028 and \u00a0"]`,
		"[\"broken \xff\"]":            "[\"broken \\ufffd\"]",
		"[\"replaced \ufffd\"]":        "[\"replaced \ufffd\"]",
		`["\u001b[2J stays escaped"]`:  `["\u001b[2J stays escaped"]`,
		"{\n\t\"indented\": true\r\n}": "{\n\t\"indented\": true\r\n}",
	} {
		if got := string(JSON([]byte(data))); got != want {
			t.Errorf("%q is shown as %q, want %q", data, got, want)
		}
	}
}

// What can be shown says the same.
func TestJSONHasTheSameValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.MapOf(rapid.String(), rapid.String()).Draw(rt, "texts")
		data, err := json.Marshal(texts)
		if err != nil {
			rt.Fatal(err)
		}
		shown := JSON(data)
		if strings.ContainsFunc(string(shown), func(r rune) bool { return !unicode.IsPrint(r) }) {
			rt.Fatalf("%q is shown as %q", data, shown)
		}
		var got map[string]string
		if err := json.Unmarshal(shown, &got); err != nil || !maps.Equal(got, texts) {
			rt.Fatalf("%q says %q, %v; want %q", shown, got, err, texts)
		}
	})
}
