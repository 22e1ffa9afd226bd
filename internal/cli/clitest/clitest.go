// Package clitest has what tests of several packages of the command line use.
package clitest

import (
	"testing"

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
