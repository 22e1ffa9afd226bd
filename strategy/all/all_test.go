package all_test

import (
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
)

// Which strategy a file has that names none is part of its ID.
func TestDefaultStrategyOfTasks(t *testing.T) {
	const parameters = "name: a\ngoal: minimize\nparameters: [{name: x, type: int, low: 1, high: 9}]\n"
	for rest, want := range map[string]string{
		"":                                    "peer-prior",
		"constraints: [{name: c, high: 1}]\n": "constrained-gp",
		"failures: constraint\n":              "constrained-gp",
	} {
		parsed, err := all.Strategies().Parse("test", []byte(parameters+rest))
		if err != nil {
			t.Fatalf("%q: %v", rest, err)
		}
		if parsed.Strategy.Type != want {
			t.Errorf("%q: strategy %s, want %s", rest, parsed.Strategy.Type, want)
		}
	}
}
