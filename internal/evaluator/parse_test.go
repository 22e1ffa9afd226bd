package evaluator

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/task"

	"github.com/fbo-node/fbo/strategy"
)

func TestExpandArgument(t *testing.T) {
	values := map[string]string{"lr": "0.1", "n2": "8", "text": "{lr}"}
	cases := []struct{ arg, want, unknown string }{
		{"", "", ""},
		{"--lr={lr}", "--lr=0.1", ""},
		{"{lr}{n2}", "0.18", ""},
		{"{text}", "{lr}", ""}, // a value is not expanded again
		{"{{lr}}", "{lr}", ""},
		{"{{{lr}}}", "{{lr}}", ""},
		{"{{LR}} {{lr}}{lr}", "{LR} {lr}0.1", ""},
		{"{{lr}", "{0.1", ""},
		{"{lr}}", "0.1}", ""},
		{`{"a": 1}`, `{"a": 1}`, ""},
		{`{"a": {"b": {}}}`, `{"a": {"b": {}}}`, ""},
		{`{"a": {"lr": {lr}}}`, `{"a": {"lr": 0.1}}`, ""},
		{`print(f"{{}} {1 + 1}")`, `print(f"{{}} {1 + 1}")`, ""},
		{"${HOME} ${lr} $${HOME}", "${HOME} $0.1 $${HOME}", ""},
		{"{ lr } {lr:.3f} {lr,n2}", "{ lr } {lr:.3f} {lr,n2}", ""},
		{"{} { } {2} {a-b}", "{} { } {2} {a-b}", ""},
		{"{lr", "{lr", ""},
		{"lr}", "lr}", ""},
		{"x{LR}", "", "LR"},
		{"{lr} {_foo1}", "", "_foo1"},
	}
	for _, c := range cases {
		got, _, unknown := expandArgument(c.arg, values)
		if got != c.want || unknown != c.unknown {
			t.Errorf("%q: got %q, %q; want %q, %q", c.arg, got, unknown, c.want, c.unknown)
		}
	}
}

// TestArgumentsOfInactiveParameters checks that options of inactive parameters are left out, and that
// other arguments keep their places.
func TestArgumentsOfInactiveParameters(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "kind", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "x", Kind: task.Float, Low: 0, High: 1, When: []task.Condition{task.Equals("kind", task.ChoiceValue("a"))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Args: []string{"train", "{kind}", "{x}", "--x={x}", "--kind={kind}", "x: {x}", "-{{x}}", "-c"}, parameters: space.Parameters()}
	for text, want := range map[string][]string{
		`{"kind": "a", "x": 0.5}`: {"a", "0.5", "--x=0.5", "--kind=a", "x: 0.5", "-{x}", "-c"},
		`{"kind": "b"}`:           {"b", "", "--kind=b", "x: ", "-{x}", "-c"},
	} {
		design, err := space.UnmarshalDesign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.expand(design); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; expected %q", text, got, err, want)
		}
	}
}

// TestEscapedArgumentIsUnchanged checks that doubling the braces around each identifier is the way
// to have any text unchanged.
func TestEscapedArgumentIsUnchanged(t *testing.T) {
	inBraces := regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("{{}}ab1 _$"))).Draw(t, "text")
		escaped := inBraces.ReplaceAllString(text, "{$0}")
		if got, _, unknown := expandArgument(escaped, map[string]string{"a": "value"}); got != text || unknown != "" {
			t.Fatalf("%q, escaped as %q, became %q, %q", text, escaped, got, unknown)
		}
	})
}

// TestBracesWithoutNamesAreUnchanged checks that texts in which nothing looks like a placeholder
// need no escape.
func TestBracesWithoutNamesAreUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`{}1 "$`))).Draw(t, "text")
		if got, _, unknown := expandArgument(text, map[string]string{"a": "value"}); got != text || unknown != "" {
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
		{`{"Value": 1}`, `"value" is missing`},
		{`{'value': 1}`, "json.dumps"},
		{`{"error": "out of memory"}`, `reported the error "out of memory"`},
		{`{"error": "Traceback\n  line 3\nKeyError: 'x'\n", "value": 1}`, `reported the error "KeyError: 'x'"`},
		{`{"error": ""}`, "without a text"},
		{`{"error": 3}`, `reported the error "3"`},
		{`{"error": null}`, `"value" is missing`},
		{`{"value": 1, "value": 2}`, "repeated"},
		{`{"value": "1"}`, "not a number"},
		{`{"value": null}`, "not a number"},
		{`{"value": 1e999}`, "infinite"},
		{`{"value": NaN}`, `the value: "NaN" is not a number`},
		{`{"value": -Infinity}`, `the value: "-Infinity" is not a number`},
		{`{"value": 1`, "not valid JSON"},
		{`{"value": 1} 2`, "more after"},
		{`{"value": 1, "constraints": [1]}`, "not a JSON object"},
		{`{"value": 1, "constraints": {"m": "true"}}`, `constraint "m"`},
		{`{"value": 1, "constraints": {"m": null}}`, `constraint "m"`},
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
		kept := tail{limit: maxOutput}
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
	for _, text := range []string{"1\n", "x\n-2.5e3\n\n", `{"value": 1, "constraints": {"a": 2}}`, `{"value": 1, "b": NaN, "c": 3, "trial": 4}`, `{"value": 1, "attributes": {"a": "b"}, "tags": ["c"], "files": ["d", {"path": "e", "sha256": ""}], "metrics": {"f": 1, "g": "h"}}`, `{"error": "no\nway"}`, "{", "nan", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		result, err := parseOutput(text)
		if strategy.CheckAnnotations(result.Annotations) != nil {
			t.Fatalf("annotations %+v", result.Annotations)
		}
		for _, hint := range result.Hints {
			if len(result.Hints) > maxHints+1 || utf8.RuneCountInString(hint) > maxHint || strings.ContainsFunc(hint, unicode.IsControl) {
				t.Fatalf("%d hints, with %q", len(result.Hints), hint)
			}
		}
		if err != nil {
			if len(err.Error()) > 10*maxQuote {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		for name, v := range result.Metrics {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%q is %v", name, v)
			}
		}
		for name, v := range result.Constraints {
			if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
				t.Fatalf("%q is %v", name, v)
			}
		}
		if len(result.Metrics) > strategy.MaxMetrics {
			t.Fatalf("%d metrics", len(result.Metrics))
		}
		if math.IsNaN(result.Value) || math.IsInf(result.Value, 0) {
			t.Fatalf("value %v", result.Value)
		}
	})
}

// What is no number of its own, or too much, is left out and costs no value.
func TestMetricsAreBounded(t *testing.T) {
	var line strings.Builder
	line.WriteString(`{"value": 1, "text": "NaN", "list": [1, 2], "flag": true, "huge": 1e999, "nan": NaN, "\u001b[2J": 3, "` +
		strings.Repeat("n", strategy.MaxMetricName+1) + `": 4`)
	for i := range strategy.MaxMetrics + 5 {
		fmt.Fprintf(&line, `, "m%d": %d`, i, i)
	}
	line.WriteString("}")
	got, err := parseOutput(line.String())
	if err != nil || got.Value != 1 || len(got.Metrics) != strategy.MaxMetrics {
		t.Fatalf("got %d metrics, %v", len(got.Metrics), err)
	}
	for i := range strategy.MaxMetrics {
		if name := fmt.Sprint("m", i); got.Metrics[name] != float64(i) {
			t.Errorf("%s is %v", name, got.Metrics[name])
		}
	}
}

// TestAnnotationsOfAnswers: annotations that are accepted are stored, also with a failure. Others cost
// no value, and a hint describes what is wrong.
func TestAnnotationsOfAnswers(t *testing.T) {
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	good := strategy.Annotations{
		Attributes: map[string]string{"commit": "abc"}, Tags: []string{"a"}, Files: []strategy.File{{Path: "out/model.pt", SHA256: sum}, {Path: "log"}},
	}
	const all = `"attributes": {"commit": "abc"}, "tags": ["a"], "files": [{"path": "out/model.pt", "sha256": "` + sum + `"}, "log"]`
	for _, c := range []struct {
		line string
		want strategy.Annotations
		hint string // empty: none
	}{
		{`{"value": 1, ` + all + `}`, good, ""},
		{`{"error": "no memory", ` + all + `}`, good, ""},
		{`{"value": 1, "attributes": null, "tags": null, "metrics": {"x": 2, "y": "NaN"}}`, strategy.Annotations{}, ""},
		{`{"value": 1, "commit": "abc"}`, strategy.Annotations{}, `expected texts as {"attributes": {"commit": "abc"}}`},
		{`{"value": 1, "metrics": {"commit": "abc"}}`, strategy.Annotations{}, `the text of "commit" is not stored`},
		{`{"value": 1, "metrics": {"x": 1, "x": 2}}`, strategy.Annotations{}, `the key "x" is repeated`},
		{`{"value": 1, "attributes": {"epochs": 3}}`, strategy.Annotations{}, `"epochs" is 3; expected a text`},
		{`{"value": 1, "attributes": "abc"}`, strategy.Annotations{}, `not a JSON object`},
		{`{"value": 1, "tags": "a"}`, strategy.Annotations{}, `expected a list of texts`},
		{`{"value": 1, "tags": ["a\u001b"]}`, strategy.Annotations{}, `is no tag`},
		{`{"value": 1, "files": [{"name": "a"}]}`, strategy.Annotations{}, `file 1: key "name": expected path and sha256`},
		{`{"value": 1, "files": [null]}`, strategy.Annotations{}, `file 1`},
		{`{"value": 1, "files": [{"path": "a", "sha256": "b"}]}`, strategy.Annotations{}, `expected 64 hexadecimal digits`},
		{`{"value": 1, "attributes": {"a": "` + strings.Repeat("x", strategy.MaxAttributeText+1) + `"}}`, strategy.Annotations{}, `expected at most 4096`},
	} {
		got, err := parseOutput(c.line)
		if !strings.Contains(c.line, "error") && (err != nil || got.Value != 1) {
			t.Errorf("%s: got %v, %v", c.line, got, err)
		}
		if !strategy.SameAnnotations(got.Annotations, c.want) || (c.hint == "") != (len(got.Hints) == 0) || !strings.Contains(fmt.Sprint(got.Hints), c.hint) {
			t.Errorf("%s: got %+v, hints %q; expected %q", c.line, got.Annotations, got.Hints, c.hint)
		}
	}
}

// Quoting changes nothing in what is JSON already.
// TestCostOfAnswers: a cost is no metric, accompanies a failure, and fails nothing if it is wrong. Other
// outputs of this name keep their meaning.
func TestCostOfAnswers(t *testing.T) {
	for line, want := range map[string]*float64{
		`{"value": 1, "cost": 3.5}`:                             new(3.5),
		`{"value": 1, "cost": 0, "metrics": {"cost": 7}}`:       new(0.0),
		`{"error": "no memory", "cost": 2}`:                     new(2.0),
		`{"value": 1, "cost": null}`:                            nil,
		`{"value": 1}`:                                          nil,
		`{"cost": 2.5, "constraints": {"cost": 9}, "value": 1}`: new(2.5),
	} {
		a, err := parseAnswer(line)
		if got := a.Cost; (got == nil) != (want == nil) || got != nil && *got != *want || (err != nil) != a.failed || len(a.Hints) > 0 {
			t.Errorf("%s: %+v, %v", line, a, err)
		}
		for name, v := range a.Metrics {
			if v != 7 {
				t.Errorf("%s: metric %s = %g", line, name, v)
			}
		}
	}
	for _, cost := range []string{"-1", "NaN", "Infinity", `"3.5"`, "1e999", "[1]", "true"} {
		a, err := parseAnswer(`{"value": 1, "accuracy": 0.5, "cost": ` + cost + `}`)
		if err != nil || a.Cost != nil || a.Value != 1 || a.Metrics["accuracy"] != 0.5 || len(a.Hints) != 1 ||
			!strings.HasPrefix(a.Hints[0], "the cost is not stored: ") || !strings.Contains(a.Hints[0], "expected a finite number of 0 or more") {
			t.Errorf("cost %s: %+v, %v", cost, a, err)
		}
	}
}

func TestQuoteNonNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`"\NaInfity{}-é`))).Draw(t, "text")
		object, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		if got := quoteNonNumbers(object); string(got) != string(object) {
			t.Fatalf("%s became %s", object, got)
		}
	})
}

func FuzzReadWorkerLine(f *testing.F) {
	for _, line := range []string{`{"trial": 7, "value": 1}`, `10%\r{"trial": 7, "error": "x"}`, `{"loss": 1}`, `{'trial': 7}`, `{"trial": 6, "value": 1}`, `5%{"trial": 7, "value": 1}`, "\xff"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		result, isAnswer, err := readWorkerLine(line, 7, unread(t))
		if !isAnswer && err != nil || err != nil && len(err.Error()) > 10*maxQuote {
			t.Fatalf("%v, %v", isAnswer, err)
		}
		if isAnswer && err == nil && (!strings.Contains(line, "7") || math.IsNaN(result.Value) || math.IsInf(result.Value, 0)) {
			t.Fatalf("%q gave %v", line, result)
		}
	})
}

func TestReadWorkerLine(t *testing.T) {
	cases := []struct {
		line     string
		isAnswer bool
		want     string // of the error; empty: none
	}{
		{"", false, ""},
		{"0.5", false, ""},
		{"loading data", false, ""},
		{`{"epoch": 1, "loss": 0.5}`, false, ""},
		{`{'epoch': 1}`, false, ""},
		{`{'value': 1}`, true, "json.dumps"},
		{`{"value": 1.}`, true, "not valid JSON"},
		{`50%{"trial": 7, "value": 1, "constraints": {"ram": 3}}`, true, ""},
		{`50%{"value": 1, "trial": 7}`, true, ""},
		{`50%{"trial": 7, "error": "no memory"}`, true, `reported the error "no memory"`},
		{`asked {"trial": 7, "parameters": {"x": 1}}`, false, ""},
		{`loss {"value": 1}`, false, ""},
		{`50%{"trial": 6, "value": 1}`, false, ""},
		{`{"trial": 7, "value": 1}`, true, ""},
		{"100%\r{\"trial\": 7, \"value\": 1}\r", true, ""},
		{`{"value": 1, "trial": 7, "acc": 0.5}`, true, ""},
		{`{"value": 1}`, true, `does not say "trial": 7`},
		{`{"error": "x"}`, true, `does not say "trial": 7`},
		{`{"trial": 6, "value": 1}`, false, ""},
		{`{"trial": 8, "value": 1}`, true, "about another trial than 7"},
		{`{"trial": "7", "value": 1}`, true, "about another trial than 7"},
		{`{"trial": 7}`, true, `"value" is missing`},
		{`{"trial": 7, "value": NaN}`, true, `"NaN" is not a number`},
		{`{'trial': 7, 'value': 1}`, true, "json.dumps"},
		{`{"trial": 7, "error": "no memory"}`, true, `reported the error "no memory"`},
	}
	for _, c := range cases {
		_, isAnswer, err := readWorkerLine(c.line, 7, unread(t))
		if isAnswer != c.isAnswer || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, %v; want %v, %q", c.line, isAnswer, err, c.isAnswer, c.want)
		}
	}
}
