package task_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const head = "name: a\ngoal: minimize\nparameters:\n"

// one is a good file with a float parameter, of four lines.
const one = head + "  - {name: x, type: float, low: 0, high: 1}\n"

func TestParseFillsDefaults(t *testing.T) {
	got, err := parse("task.yaml", []byte(`
name: wearable-lr
goal: minimize                     # or maximize
parameters:
  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: batch_size, type: int, low: 20, high: 100}
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "wearable-lr" || got.Goal != task.Minimize {
		t.Errorf("name %q, goal %q", got.Name, got.Goal)
	}
	wantParameters := []task.Parameter{
		{Name: "learning_rate", Kind: task.Float, Low: 0.001, High: 1, Scale: task.Log},
		{Name: "batch_size", Kind: task.Int, Low: 20, High: 100, Scale: task.Linear},
		{Name: "optimizer", Kind: task.Categorical, Choices: []string{"sgd", "adam"}},
	}
	if p := got.Space.Parameters(); !reflect.DeepEqual(p, wantParameters) {
		t.Errorf("parameters %+v", p)
	}
	if want := (task.Surrogate{Type: "exact", Kernel: "matern52", Features: 256, Basis: "quasi", Lengthscale: 0.3, CategoryLengthscale: 1}); got.Surrogate != want {
		t.Errorf("surrogate %+v, want %+v", got.Surrogate, want)
	}
	if want := (task.Strategy{Type: "peer-prior", InitialDesigns: 3}); got.Strategy.Type != want.Type || got.Strategy.InitialDesigns != want.InitialDesigns {
		t.Errorf("strategy %+v, want %+v", got.Strategy, want)
	}
	if keys := got.Strategy.Settings.Keys(); keys["share"] != "coarse" {
		t.Errorf("the share of the default strategy is %v", keys["share"])
	}
}

func TestParseAcceptsOtherWritings(t *testing.T) {
	want, err := parse("task.yaml", []byte(one))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"byte order mark": "\ufeff" + one,
		"CRLF":            strings.ReplaceAll(one, "\n", "\r\n"),
		"markers":         "---\n" + one + "...\n# end\n",
		"JSON":            "{\n\t\"name\": \"a\", \"goal\": \"minimize\",\n\t\"parameters\": [{\"name\": \"x\", \"type\": \"float\", \"low\": 0, \"high\": 1}]\n}",
		"block style":     "parameters:\n- name: x\n  type: float\n  low: -0.0\n  high: +1.\ngoal: 'minimize'\nname: \"\\u0061\"\n",
		"version":         one + "fbo: 1\nstrategy: {share: coarse}\n",
		"defaults":        one + "surrogate: {}\nstrategy: {}\n",
		"learned":         one + "surrogate: {hyperparameters: learned}\n",
	} {
		got, err := parse("task.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !got.ID().Equals(want.ID()) {
			t.Errorf("%s: ID differs: %s", name, got.Canonical())
		}
	}
}

func TestParseLimits(t *testing.T) {
	many := head + strings.Repeat("  - {type: ts}\n", 101)
	choices := "  - {name: x, type: categorical, choices: [" + strings.Repeat("a, ", 65) + "]}\n"
	for text, want := range map[string]string{
		"#" + strings.Repeat("x", 64<<10): "task.yaml:1:1: the file has 65537 bytes; at most 65536 are accepted",
		many:                              "task.yaml:4:3: parameters must be 1 to 100, not 101",
		head + choices:                    `task.yaml:4:43: parameter "x": choices must be 1 to 64, not 65`,
	} {
		_, err := parse("task.yaml", []byte(text))
		if err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestParseErrorIsBoundedAndSorted(t *testing.T) {
	_, err := parse("", []byte("goal: x\n"+strings.Repeat("a: 1\n", 50)+"b: 1\n"))
	var all *task.ParseError
	if !errors.As(err, &all) {
		t.Fatalf("error is a %T", err)
	}
	// name, parameters, goal, a, 49 repetitions, b
	if len(all.Errors) != 20 || all.Omitted != 34 {
		t.Errorf("%d errors, %d omitted", len(all.Errors), all.Omitted)
	}
	for i := 1; i < len(all.Errors); i++ {
		if all.Errors[i].Line < all.Errors[i-1].Line {
			t.Errorf("error %d is out of order", i)
		}
	}
	var first *task.Error
	if !errors.As(err, &first) || first.Error() != `task:1:1: missing key "name"` {
		t.Errorf("first error: %v", first)
	}
	if !strings.HasSuffix(err.Error(), "\nand 34 more") {
		t.Errorf("the omitted errors are not counted: %v", err)
	}
}

// Numbers are checked as they are written, not as float64 rounds them.
func TestParseNumbersAtTheEdge(t *testing.T) {
	p, err := parse("", []byte(head+"  - {name: x, type: int, low: 9007199254740000, high: 9007199254740992}\n"))
	if err != nil || p.Space.Parameters()[0].High != 1<<53 {
		t.Errorf("2^53 is not accepted: %v", err)
	}
	p, err = parse("", []byte(head+"  - {name: x, type: float, low: 1e-300, high: 1e300, scale: log}\n"))
	if err != nil || p.Space.Parameters()[0].Low != 1e-300 {
		t.Errorf("1e-300 is not accepted: %v", err)
	}
	p, err = parse("", []byte(head+"  - {name: x, type: float, low: -0, high: 1}\n"))
	if err != nil || math.Signbit(p.Space.Parameters()[0].Low) {
		t.Errorf("-0 is kept: %v", err)
	}
}

// parse knows the strategies of this project.
func parse(file string, data []byte) (*task.Task, error) {
	return all.Strategies().Parse(file, data)
}

// types lists the types of strategy as errors do.
func types() string {
	var names []string
	for _, r := range all.Strategies() {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

func newTask(spec task.Spec) (*task.Task, error) { return all.Strategies().NewTask(spec) }

// Ways to write the same space give the same ID; a step of 1 between ints is none.
func TestOneFormOfKinds(t *testing.T) {
	for short, long := range map[string]string{
		"{name: x, type: int, low: 1, high: 9}":                  "{name: x, type: int, low: 1, high: 9, step: 1.0, scale: linear}",
		"{name: x, type: int, low: 1, high: 9, step: 3}":         "{name: x, type: int, low: 1, high: 7, step: 3e0}",
		"{name: x, type: float, low: 0, high: 1, step: 0.3}":     "{step: 3e-1, name: x, type: float, low: 0, high: .9}",
		"{name: x, type: categorical, choices: [1, 2.50, -0.0]}": "{name: x, type: categorical, choices: [1.0, 25e-1, 0]}",
	} {
		first, err := parse("", []byte(head+"  - "+short))
		if err != nil {
			t.Fatal(err)
		}
		second, err := parse("", []byte(head+"  - "+long))
		if err != nil || !second.ID().Equals(first.ID()) {
			t.Errorf("%s and %s: %v", short, long, err)
		}
	}
}
