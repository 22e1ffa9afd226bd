// Package clitest contains helpers for tests of several packages of the command line.
package clitest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// MixedTask returns a task with a float, an int and a categorical parameter, whose choices need
// quoting.
func MixedTask(t testing.TB) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte(`
name: mixed
goal: maximize
parameters:
  - {name: lr, type: float, low: 0.001, high: 1, scale: log}
  - {name: units, type: int, low: 1, high: 64}
  - {name: kind, type: categorical, choices: [sgd, "a, \"b\"", "7", "-", "x y"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Peer IDs of two parties of a roster, and of a node that is none.
const (
	PartyA = "12D3KooWKykovPgZ8oYpymctQjbcaLxAjJDzXhoUcHjvpWpmWRGK"
	PartyB = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"
	PartyC = "12D3KooWRWurYaFGap39PbQ7dLAdHPhvcdy7tQvxFmh1dFUBp3YJ"
)

// FairTask returns the text of a task of these parties, with further keys of the section strategy.
func FairTask(roster []string, keys string) string {
	return fmt.Sprintf(`name: together
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 64}
strategy:
  {type: fair, roster: [%s]%s}
`, strings.Join(roster, ", "), keys)
}

// NothingFeasible is the text about the trials of Infeasible.
const NothingFeasible = "nothing feasible yet; the least violation so far is that of trial 3: ram=12 (at most 10)"

// Infeasible returns a task with a constraint, and trials that all violate it.
func Infeasible(t testing.TB) (*task.Task, []strategy.Trial) {
	t.Helper()
	spec := *MixedTask(t)
	spec.Constraints = []task.Constraint{{Output: "ram", Low: math.Inf(-1), High: 10}}
	design, err := spec.Space.UnmarshalDesign([]byte(`{"lr": 0.1, "units": 3, "kind": "sgd"}`))
	if err != nil {
		t.Fatal(err)
	}
	outcome := strategy.Outcome{Value: 0.5, Constraints: map[string]task.Reading{"ram": task.Number(12)}}
	return &spec, []strategy.Trial{{ID: 3, Why: strategy.Why{Source: strategy.Own}, State: strategy.Done, Design: design, Outcome: &outcome}}
}
