package task

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// able are strategies of which the second takes constraints.
var able = []StrategyType{{Name: "first"}, {Name: "keeps", Constraints: true}, {Name: "too", Constraints: true}}

func constrained(t *testing.T, lines string) *Task {
	t.Helper()
	got, err := Parse("task", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+lines), able)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestConstraintsOfAFile(t *testing.T) {
	inf := math.Inf(1)
	got := constrained(t, `
constraints:
  - {name: latency_ms, low: 1, high: 10}
  - {name: gap, high: 0.05}
  - {name: speed, low: -3.5}
  - {name: exact, low: 2, high: 2}
  - {name: sound, type: bool}
  - {name: most, high: 1, type: number}
`)
	want := []Constraint{
		{Output: "exact", Low: 2, High: 2},
		{Output: "gap", Low: -inf, High: 0.05},
		{Output: "latency_ms", Low: 1, High: 10},
		{Output: "most", Low: -inf, High: 1},
		{Output: "sound", Low: 1, High: inf, Truth: true},
		{Output: "speed", Low: -3.5, High: inf},
	}
	if !slices.Equal(got.Constraints, want) || !got.Constrained() {
		t.Errorf("%+v", got.Constraints)
	}
	for i, text := range []string{"2 to 2", "at most 0.05", "1 to 10", "at most 1", "true", "at least -3.5"} {
		if got := got.Constraints[i].String(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	if got.Strategy.Type != "keeps" {
		t.Errorf("the default strategy is %q", got.Strategy.Type)
	}
}

// The order of constraints and the spelling of numbers mean nothing, all else does.
func TestConstraintsAreInTheID(t *testing.T) {
	plain := constrained(t, "strategy: {type: keeps}")
	if strings.Contains(string(plain.Canonical()), "constraints") {
		t.Errorf("a task without constraints: %s", plain.Canonical())
	}
	one := constrained(t, "constraints: [{name: a, high: 1}, {name: b, low: 0.5}]")
	if same := constrained(t, "failures: learn\nconstraints: [{low: 5e-1, name: b }, {name: a, high: 1.0, type: number}]"); same.ID() != one.ID() {
		t.Errorf("%s\n%s", one.Canonical(), same.Canonical())
	}
	seen := map[string]string{}
	for _, lines := range []string{
		"strategy: {type: keeps}",
		"constraints: [{name: a, high: 1}]",
		"constraints: [{name: a, low: 1}]",
		"constraints: [{name: a, low: 1, high: 1}]",
		"constraints: [{name: a, high: 2}]",
		"constraints: [{name: b, high: 1}]",
		"constraints: [{name: A, high: 1}]",
		"constraints: [{name: a, type: bool}]",
		"constraints: [{name: a, type: bool}]\nfailures: constraint",
		"failures: constraint",
		"failures: ignore",
	} {
		id := constrained(t, lines).ID().String()
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q have the same ID", lines, other)
		}
		seen[id] = lines
	}
}

func TestCanonicalConstraintsAreRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := Spec{Name: "a", Goal: Minimize, Parameters: []Parameter{{Name: "x", Kind: Float, High: 1}}}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching("[A-Za-z][A-Za-z0-9_]{0,63}"), 1, 16, rapid.ID).Draw(rt, "names") {
			c := Constraint{Output: Output(name), Low: math.Inf(-1), High: math.Inf(1)}
			low := rapid.Float64Range(-1e300, 1e300).Draw(rt, "low")
			side := rapid.SampledFrom([]string{"low", "high", "both"}).Draw(rt, "side")
			if side != "high" {
				c.Low = low
			}
			if side != "low" {
				c.High = max(low, rapid.Float64Range(-1e300, 1e300).Draw(rt, "high"))
			}
			if rapid.Bool().Draw(rt, "truth") {
				c = TruthOf(c.Output)
			}
			spec.Constraints = append(spec.Constraints, c)
		}
		spec.Failures = rapid.SampledFrom([]Failures{LearnFailures, IgnoreFailures, ConstrainFailures}).Draw(rt, "failures")
		made, err := New(spec, able)
		if err != nil {
			rt.Fatal(err)
		}
		read, err := Parse("canonical", made.Canonical(), able)
		if err != nil || read.ID() != made.ID() || !slices.Equal(read.Constraints, made.Constraints) || read.Failures != spec.Failures {
			rt.Fatalf("%s: %v", made.Canonical(), err)
		}
		for _, c := range spec.Constraints {
			if !slices.Contains(made.Constraints, c) {
				rt.Fatalf("%+v is not in %+v", c, made.Constraints)
			}
		}
	})
}

func TestConstraintErrors(t *testing.T) {
	for lines, want := range map[string]string{
		"constraints: 3":                                             "constraints must be a list",
		"constraints: []":                                            "constraints must be 1 to 16, not 0",
		"constraints: [3]":                                           "constraint 1 must be a mapping",
		"constraints: [{high: 1}]":                                   `missing key "name"`,
		"constraints: [{name: a}]":                                   `constraint "a": needs low, high or both`,
		"constraints: [{name: a-b, high: 1}]":                        `constraint "a-b": name "a-b" is not accepted; a letter`,
		"constraints: [{name: '', high: 1}]":                         `name "" is not accepted`,
		"constraints: [{name: '(completion)', high: 1}]":             `is not accepted; a letter`,
		"constraints: [{name: a, high: x}]":                          `constraint "a": high must be a number`,
		"constraints: [{name: a, high: .inf}]":                       `constraint "a": high must be`,
		"constraints: [{name: a, low: 2, high: 1}]":                  `constraint "a": high 1 must not be below low 2`,
		"constraints: [{name: a, type: bool, high: 1}]":              `constraint "a": high`,
		"constraints: [{name: a, type: truth}]":                      "type must be one of number, bool",
		"failures: [1]":                                              "failures must be",
		"failures: count":                                            "failures must be one of learn, ignore, constraint",
		"failures: constraint\nstrategy: {type: first}":              "type first takes no constraints, which the task has by failures: constraint; those that do: keeps, too",
		"constraints: [{name: a, hihg: 1}]":                          `unknown key "hihg"; accepted: name, type, low, high`,
		"constraints: [{name: a, high: 1}, {name: a, low: 0}]":       `constraint "a": the name is repeated`,
		"constraints: [{name: a, high: 1}]\nstrategy: {type: first}": "strategy: type first takes no constraints, which the task has; those that do: keeps, too",
	} {
		_, err := Parse("task", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+lines), able)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", lines, err, want)
		}
	}
	var many []string
	for i := range 17 {
		many = append(many, "{name: c"+string(rune('a'+i))+", high: 1}")
	}
	_, err := Parse("task", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nconstraints: ["+strings.Join(many, ", ")+"]"), able)
	if err == nil || !strings.Contains(err.Error(), "constraints must be 1 to 16, not 17") {
		t.Errorf("17 constraints: %v", err)
	}
}

// A set without a strategy for constraints says so rather than to take none.
func TestNobodyTakesConstraints(t *testing.T) {
	_, err := Parse("task", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nconstraints: [{name: a, high: 1}]"), []StrategyType{{Name: "first"}})
	if err == nil || !strings.Contains(err.Error(), "type first takes no constraints") {
		t.Error(err)
	}
}

func TestReadingJSON(t *testing.T) {
	for text, want := range map[string]Reading{"1.5": Number(1.5), "-2e300": Number(-2e300), "true": Truth(true), "false": Truth(false), "0": {}} {
		var got Reading
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
		back, err := json.Marshal(got)
		var again Reading
		if err != nil || json.Unmarshal(back, &again) != nil || again != got {
			t.Errorf("%v becomes %s, %v", got, back, err)
		}
	}
	if Truth(true) == Number(1) || Truth(false) == Number(0) {
		t.Error("true is a number")
	}
	for _, text := range []string{"null", `"1"`, `"true"`, "[]", "{}", "1e999"} {
		if err := json.Unmarshal([]byte(text), new(Reading)); err == nil {
			t.Errorf("%s is a reading", text)
		}
	}
}

// A strategy that needs the exact process takes no task of another, and says so once.
func TestStrategiesThatNeedTheExactProcess(t *testing.T) {
	types := []StrategyType{{Name: "any"}, {Name: "picky", Exact: true}}
	for lines, want := range map[string]string{
		"strategy: {type: picky}":                             "",
		"surrogate: {type: rff}":                              "",
		"surrogate: {type: rff}\nstrategy: {type: picky}":     "task:5:18: strategy: type picky needs surrogate type exact, not rff",
		"strategy: {type: picky}\nsurrogate: {type: rff}":     "task:4:18: strategy: type picky needs surrogate type exact, not rff",
		"surrogate: {type: precise}\nstrategy: {type: picky}": `task:4:19: surrogate: type must be one of exact, rff, not the text "precise"`,
	} {
		_, err := Parse("task", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+lines), types)
		if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
			t.Errorf("%s: %s, want %q", lines, got, want)
		}
	}
}
