package evaluator

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpandArgument(t *testing.T) {
	values := map[string]string{"lr": "0.1", "n2": "8", "text": "{lr}"}
	cases := []struct{ arg, want, unknown string }{
		{"", "", ""},
		{"--lr={lr}", "--lr=0.1", ""},
		{"{lr}{n2}", "0.18", ""},
		{"{text}", "{lr}", ""}, // a value is not expanded again
		{"{{lr}}", "{lr}", ""},
		{"{{{lr}}}", "{0.1}", ""},
		{`{"a": 1}`, `{"a": 1}`, ""},
		{"{} { } {2} {a-b}", "{} { } {2} {a-b}", ""},
		{"{lr", "{lr", ""},
		{"lr}", "lr}", ""},
		{"x{LR}", "", "LR"},
		{"{lr} {_foo1}", "", "_foo1"},
	}
	for _, c := range cases {
		got, unknown := expandArgument(c.arg, values)
		if got != c.want || unknown != c.unknown {
			t.Errorf("%q: got %q, %q; want %q, %q", c.arg, got, unknown, c.want, c.unknown)
		}
	}
}

// Doubling the braces of any text is the way to have it unchanged.
func TestEscapedArgumentIsUnchanged(t *testing.T) {
	escape := strings.NewReplacer("{", "{{", "}", "}}")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("{}ab1 _"))).Draw(t, "text")
		if got, unknown := expandArgument(escape.Replace(text), nil); got != text || unknown != "" {
			t.Fatalf("%q became %q, %q", text, got, unknown)
		}
	})
}

func TestParseOutputRejects(t *testing.T) {
	cases := []struct{ line, want string }{
		{"", "nothing"},
		{"1,5", "neither a number"},
		{"0x10", "neither a number"},
		{"1_000", "neither a number"},
		{"1e999", "infinite"},
		{"[1]", "neither a number"},
		{"{}", `"value" is missing`},
		{`{"Value": 1}`, `unknown key "Value"`},
		{`{"value": 1, "vale": 2}`, `unknown key "vale"`},
		{`{"value": 1, "value": 2}`, "repeated"},
		{`{"value": "1"}`, "not a number"},
		{`{"value": null}`, "not a number"},
		{`{"value": 1e999}`, "infinite"},
		{`{"value": NaN}`, "NaN and Infinity are not accepted"},
		{`{"value": 1`, "not valid JSON"},
		{`{"value": 1} 2`, "more after"},
		{`{"value": 1, "constraints": [1]}`, "not a JSON object"},
		{`{"value": 1, "constraints": {"m": true}}`, `constraint "m"`},
		{`{"value": 1, "constraints": {"m": 1, "m": 1}}`, "repeated"},
	}
	for _, c := range cases {
		if got, err := parseOutput(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, %v; want %q", c.line, got, err, c.want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept tail
		var all []byte
		for range rapid.IntRange(0, 8).Draw(t, "writes") {
			piece := make([]byte, rapid.IntRange(0, maxOutput).Draw(t, "length"))
			for i := range piece {
				piece[i] = byte(len(all) + i*7)
			}
			all = append(all, piece...)
			if n, err := kept.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			if len(kept.kept) > 2*maxOutput {
				t.Fatalf("holds %d bytes", len(kept.kept))
			}
		}
		kept.trim()
		want := all[max(0, len(all)-maxOutput):]
		if string(kept.kept) != string(want) || kept.cut != (len(all) > maxOutput) {
			t.Fatalf("kept %d of %d bytes, cut %v", len(kept.kept), len(all), kept.cut)
		}
	})
}

func FuzzParseOutput(f *testing.F) {
	for _, text := range []string{"1\n", "x\n-2.5e3\n\n", `{"value": 1, "constraints": {"a": 2}}`, "{", "nan", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		result, err := parseOutput(text)
		if err != nil {
			if len(err.Error()) > 10*maxQuote {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		for _, v := range result.Constraints {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("constraint %v", v)
			}
		}
		if math.IsNaN(result.Value) || math.IsInf(result.Value, 0) {
			t.Fatalf("value %v", result.Value)
		}
	})
}
