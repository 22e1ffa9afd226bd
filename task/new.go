package task

import (
	"errors"
	"fmt"
)

// Spec is what a task file says, in Go values.
type Spec struct {
	Name       string
	Goal       Goal
	Parameters []Parameter

	// Constraints are at most 16, in any order.
	Constraints []Constraint

	// FailuresCount is the key failures: constraint.
	FailuresCount bool

	// The optional sections of the task file, with its keys. What is left out has the
	// defaults of the file.
	Surrogate, Strategy, Privacy Settings
}

// Settings are the keys of a section of the task file: numbers, texts, and for the
// roster a list of texts, as in Settings{"type": "fts", "share_every": 2}.
type Settings map[string]any

// New returns the task that Parse makes of a file with the same content, with the
// same ID. An
// error is what NewSpace says of the parameters, or else a *ParseError without places.
func New(spec Spec, strategies []StrategyType) (*Task, error) {
	space, err := NewSpace(spec.Parameters)
	if err != nil {
		return nil, err
	}
	form := map[string]any{
		"name":       spec.Name,
		"goal":       spec.Goal,
		"parameters": canonicalParameters(space),
	}
	if len(spec.Constraints) > 0 {
		form["constraints"] = canonicalConstraints(spec.Constraints)
	}
	if spec.FailuresCount {
		form["failures"] = counted
	}
	for key, settings := range map[string]Settings{"surrogate": spec.Surrogate, "strategy": spec.Strategy, "privacy": spec.Privacy} {
		if settings != nil {
			form[key] = settings
		}
	}
	text, err := marshal(form)
	if err != nil {
		return nil, fmt.Errorf("task: settings: %w", err)
	}
	t, err := Parse("", text, strategies)
	var problems *ParseError
	if errors.As(err, &problems) {
		for _, one := range problems.Errors {
			one.Line, one.Column = 0, 0 // nobody has written such a file
		}
	}
	return t, err
}
