package task

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// conditionalTask has a parameter of each optimizer, a grandchild, and fixed values.
const conditionalTask = `
name: a
goal: minimize
parameters:
  - {name: optimizer, type: categorical, choices: [sgd, adam, lbfgs]}
  - {name: momentum, type: float, low: 0, high: 1, when: {optimizer: sgd}}
  - {name: beta, type: float, low: 0.8, high: 1, when: {optimizer: [adam, lbfgs]}}
  - {name: steps, type: int, low: 1, high: 5, when: {beta: {low: 0.9}, optimizer: adam}}
  - {name: epochs, value: 20}
  - {name: rate, type: float, low: 2, high: 2}
  - {name: device, type: categorical, choices: [cpu]}
  - {name: compile, value: true}
parameter_constraints: ["momentum <= 0.5", "steps * (1 - beta) <= 0.2"]
`

func parseConditional(t *testing.T) *Task {
	t.Helper()
	parsed, err := Parse("task.yaml", []byte(conditionalTask), able)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestInactiveParametersAreAbsent(t *testing.T) {
	s := parseConditional(t).Space
	for _, c := range []struct {
		values map[string]any
		want   string // JSON, or an error
	}{
		{map[string]any{"optimizer": "sgd", "momentum": 0.25}, `{"optimizer":"sgd","momentum":0.25,"epochs":20,"rate":2,"device":"cpu","compile":true}`},
		{map[string]any{"optimizer": "lbfgs", "beta": 0.95, "steps": nil, "epochs": 20}, `{"optimizer":"lbfgs","beta":0.95,"epochs":20,"rate":2,"device":"cpu","compile":true}`},
		{map[string]any{"optimizer": "adam", "beta": 0.95, "steps": 2}, `{"optimizer":"adam","beta":0.95,"steps":2,"epochs":20,"rate":2,"device":"cpu","compile":true}`},
		{map[string]any{"optimizer": "adam", "beta": 0.85}, `{"optimizer":"adam","beta":0.85,"epochs":20,"rate":2,"device":"cpu","compile":true}`},
		{map[string]any{"optimizer": "adam", "momentum": 0.1, "beta": 0.85}, `task: parameter "momentum": 0.1 given, expected no value: it applies only with optimizer: sgd`},
		{map[string]any{"optimizer": "sgd"}, `task: parameter "momentum": no value given; it takes a number from 0 to 1`},
		{map[string]any{"optimizer": "adam", "beta": 0.95, "steps": 5}, `violates the parameter constraint "steps * (1 - beta) <= 0.2"`},
		{map[string]any{"optimizer": "sgd", "momentum": 0.25, "epochs": 21}, `task: parameter "epochs": 21 is not accepted; it takes only 20`},
	} {
		design, err := s.ParseDesign(c.values)
		got := design.Key()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v:\n got %s\nwant %s", c.values, got, c.want)
		}
		if err == nil {
			if again := s.Decode(s.Encode(design)); !again.Equal(design) {
				t.Errorf("%v became %v", design, again)
			}
		}
	}
}

func TestConditionErrorsHaveThePosition(t *testing.T) {
	const head = "name: a\ngoal: minimize\nparameters:\n  - {name: b, type: bool}\n  - {name: n, type: int, low: 0, high: 9}\n  - {name: x, type: float, low: 0, high: 1"
	for tail, want := range map[string]string{
		", when: {y: 1}}":                            `6:52: parameter "x": when: unknown parameter "y"; expected one of b, n`,
		", when: {x: 1}}":                            `6:52: parameter "x": when: the parameter cannot depend on itself`,
		", when: {}}":                                `6:51: parameter "x": when: no condition given; expected PARENT: VALUE`,
		", when: b}":                                 `6:51: when must be a mapping (key: value), not the text "b"; expected when: {KEY: VALUE}`,
		", when: {b: maybe}}":                        `6:55: parameter "x": when: b: the text "maybe" is not accepted; it takes true or false`,
		", when: {n: 007}}":                          `6:55: parameter "x": when: n: must be a decimal number without leading zeros or _, not 007`,
		", when: {n: [1, .inf]}}":                    `6:59: parameter "x": when: n: must be a finite number, not .inf`,
		", when: {n: [1, [2]]}}":                     `6:59: parameter "x": when: n: a list is not accepted; it takes a whole number from 0 to 9`,
		", when: {n: }}":                             `parameter "x": when: n: null is not accepted; it takes a whole number from 0 to 9`,
		", when: {b: {low: 1}}}":                     `6:52: parameter "x": when: a range applies only to a parent with type: float or int; "b" is a bool`,
		", when: {n: 10}}":                           `6:55: parameter "x": when: n: 10 is not accepted; it takes a whole number from 0 to 9`,
		", when: {n: {low: 10}}}":                    `6:52: parameter "x": when: no value of "n" is in the range; it takes a whole number from 0 to 9`,
		", when: {n: {low: 4, high: 3}}}":            `6:52: parameter "x": when: low 4 must be at most high 3`,
		", when: {n: {lo: 4}}}":                      `6:56: parameter "x": when: n: unknown key "lo"; accepted: high, low`,
		", when: {n: []}}":                           `6:52: parameter "x": when: no value of "n" given; it takes a whole number from 0 to 9`,
		"}\n  - {name: y, value: 1, when: {x: 0.5}}": `7:32: parameter "y": when: "x" is a float without steps; expected a range: {low: …, high: …}`,
		", when: {y: true}}\n  - {name: y, type: bool, when: {x: {low: .5}}}": `7:34: parameter "y": when: the conditions form a cycle: x → y → x`,
		"}\nparameter_constraints: [x + n > 20]":                              `7:24: parameter_constraints: none of 131072 random designs satisfies all parameter constraints`,
		"}\nparameter_constraints: 3":                                         `7:24: parameter_constraints must be a list, not the number 3`,
		"}\nparameter_constraints: [true]":                                    `7:25: a parameter constraint must be an expression, not true`,
		"}\nparameter_constraints: [n]":                                       `7:25: parameter_constraints: expression "n": expected bool, but got number`,
		"}\nparameter_constraints: [y < 3]":                                   `7:25: parameter_constraints: expression "y < 3": unknown parameter "y"; expected one of b, n, x`,
		"}\nparameter_constraints: [n <]":                                     `7:25: parameter_constraints: expression "n <": unexpected end, at character 3`,
		"}\nparameter_constraints: [n = 3]":                                   `7:25: parameter_constraints: expression "n = 3": = is no operator; expected ==, <= or >=, at character 3`,
		"}\n  - {name: c, type: categorical, choices: [p, q]}\nparameter_constraints: [\"c == 'r'\"]": `8:25: parameter_constraints: expression "c == 'r'": "r" is not a value of "c"; it takes one of "p", "q"`,
		"}\n  - {name: c, type: categorical, choices: [p, q]}\nparameter_constraints: [c < 3]":        `8:25: parameter_constraints: expression "c < 3": invalid operation: < (mismatched types text and number), at character 3`,
		"}\nparameter_constraints: [1 < 2]":                                                                 `7:25: parameter_constraints: expression "1 < 2": it names no parameter`,
		"}\nparameter_constraints: [n < 3, n < 3]":                                                          `7:32: parameter_constraints: the expression is repeated`,
		"}\nparameter_constraints: [\"all(1..1000000000, # > n)\"]":                                         `7:25: parameter_constraints: expression "all(1..1000000000, # > n)": unknown function "all"`,
		"}\nparameter_constraints: [\"n in 1..1000000000\"]":                                                `operator ".." is not accepted`,
		"}\nparameter_constraints: [\"let y = n; y > 1\"]":                                                  `is not accepted; expected numbers, texts, parameters, operators and the functions abs`,
		"}\nparameter_constraints: [" + strings.Repeat("(", 200) + "n" + strings.Repeat(")", 200) + " > 1]": `it is longer than 256 characters`,
		"}\nparameter_constraints: [\"" + strings.Repeat("n+", 100) + "n > 1\"]":                            `203 operators and operands, expected at most 64`,
		"}\n  - {name: c, value: 1, low: 0}":                                                                `7:15: parameter "c": value is not accepted beside low: it defines the values by itself`,
		"}\n  - {name: c, type: int, value: 1.5}":                                                           `7:33: parameter "c": value 1.5 must be a whole number from -2^53 to 2^53 for type: int`,
		"}\n  - {name: c, type: bool, value: 1}":                                                            `7:34: parameter "c": value must be a value of type: bool, not the number 1`,
		"}\n  - {name: c, value: 010}":                                                                      `7:22: parameter "c": value must be a decimal number without leading zeros or _, not 010`,
		"}\n  - {name: c, value: }":                                                                         `parameter "c": value must be a text, a number, true or false, not empty`,
		"}\n  - {name: c, value: [1]}":                                                                      `7:22: parameter "c": value must be a text, a number, true or false, not a list`,
	} {
		_, err := Parse("task.yaml", []byte(head+tail), able)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", tail, err, want)
		}
	}
}

func TestConditionalTaskRoundTrip(t *testing.T) {
	parsed := parseConditional(t)
	again, err := Parse("task.json", parsed.Canonical(), able)
	if err != nil {
		t.Fatal(err)
	}
	made, err := New(Spec{
		Name: "a", Goal: Minimize, Parameters: parsed.Space.Parameters(), ParameterConstraints: parsed.Space.ParameterConstraints(),
		Surrogate: Settings{"features": parsed.Surrogate.Features, "lengthscale": parsed.Surrogate.Lengthscale},
	}, able)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Task{again, made} {
		if string(other.Canonical()) != string(parsed.Canonical()) {
			t.Errorf("got  %s\nwant %s", other.Canonical(), parsed.Canonical())
		}
	}
}

func TestEqualWritingsOfConditionsHaveOneID(t *testing.T) {
	const head = "name: a\ngoal: minimize\nparameters:\n  - {name: n, type: int, low: 0, high: 9}\n  - {name: f, type: float, value: 3}\n  - {name: x, type: float, low: 0, high: 1, when: "
	var ids []string
	for _, when := range []string{"{n: [2, 1], f: 3}", "{f: [3], n: [1, 2, 2.0]}", "{f: 3.0, n: [1, 2]}"} {
		parsed, err := Parse("task.yaml", []byte(head+when+"}"), able)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, parsed.ID().String())
	}
	if ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("got IDs %v, expected equal ones", ids)
	}
}

// TestRepairStaysNear compares repaired points with the nearest of many feasible designs. On the
// triangle below a line both can be computed.
func TestRepairStaysNear(t *testing.T) {
	s, err := NewSpace([]Parameter{{Name: "x", Kind: Float, Low: 0, High: 1}, {Name: "y", Kind: Float, Low: 0, High: 1}}, "x + y <= 1")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		u := []float64{rng.Float64(), rng.Float64()}
		moved := []float64{u[0], u[1]}
		s.Snap(moved)
		distance := math.Hypot(moved[0]-u[0], moved[1]-u[1])
		if nearest := max(0, (u[0]+u[1]-1)/math.Sqrt2); distance > 1.5*nearest+0.1 {
			t.Errorf("%v moved to %v, by %g; the nearest design is %g away", u, moved, distance, nearest)
		}
		if moved[0]+moved[1] > 1+1e-9 {
			t.Errorf("%v moved to %v, expected x + y <= 1", u, moved)
		}
	}
}

func TestRuleOperators(t *testing.T) {
	parameters := []Parameter{
		{Name: "n", Kind: Int, Low: 0, High: 9}, {Name: "x", Kind: Float, Low: 0, High: 1},
		{Name: "c", Kind: Categorical, Choices: []string{"a", "b"}}, {Name: "b", Kind: Bool},
	}
	values := []Value{IntValue(6), FloatValue(0.5), ChoiceValue("b"), BoolValue(true)}
	for text, want := range map[string]bool{
		"n % 4 == 2": true, "n / 4 == 1.5": true, "n ** 2 < 36": false, "c == 'b' and b": true, "not b or c in ['a']": false,
		"b ? n > 5 : n < 5": true, "max(n, 7) == 7": true, "round(x) == 1": true, "abs(x - 1) <= .5": true, "n * 9007199254740993 > 0": true,
		"n > -9223372036854775807 and n < 2147483648": true, "3000000000.5 > 3000000000 + n - n": true,
		"n * 1e300 * 1e300 > 1e308": true, "n % 0 == 0": false, "min(n, x) == x": true, "-n < 0": true, "1 <= n && n <= 6": true,
	} {
		s := &Space{index: map[string]int{}}
		for i, p := range parameters {
			s.add(i, p)
		}
		if problems := s.compileRules([]string{text}); problems != nil {
			t.Error(problems)
			continue
		}
		if _, violated := s.violated(values); violated == want {
			t.Errorf("%s is %v, expected %v", text, !violated, want)
		}
	}
}

// TestRuleCheckAgreesWithDesigns: the constraints that hold at a point are those that hold for its
// design, whichever points were checked before.
func TestRuleCheckAgreesWithDesigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		check := s.newRuleCheck()
		for range 5 {
			u := drawPoint(t, s)
			_, broken := s.violated(s.values(u))
			if got := check.satisfied(u); got == broken || got != s.Settle(u) || got != check.satisfied(u) {
				t.Fatalf("%v satisfies %q: %v", u, s.ParameterConstraints(), got)
			}
		}
	})
}
