package task

import (
	"errors"
	"fmt"
	"maps"

	"github.com/ipfs/go-cid"
)

// Spec has the content of a task file as Go values.
type Spec struct {
	Name       string
	Goal       Goal // not used with Objectives
	Parameters []Parameter

	// Objectives is Task.Objectives; nil means that the task has one objective.
	Objectives []ObjectiveGoal

	// ParameterConstraints has constraints among parameters, see NewSpace.
	ParameterConstraints []string

	// Listing has the task's designs. It must come from a space with the same parameters
	// (NewListed). Nil means that every combination of values is a design. MaxMoves is
	// Task.MaxMoves.
	Listing  *Listing
	MaxMoves int

	// Constraints has at most 16 constraints, in any order.
	Constraints []Constraint

	// Failures is the value of the key failures; "" means its default.
	Failures Failures

	// Continues is Task.Continues.
	Continues cid.Cid

	// Strategy is the section strategy. An empty Type, InitialDesigns 0 and nil Settings mean the
	// defaults of a task file. Its Settings come from the strategy's package, or are [Settings]
	// with some of the keys.
	Strategy Strategy

	// Surrogate and Privacy are the other optional sections of the task file, with the same keys.
	// Missing keys have the defaults of a task file.
	Surrogate, Privacy Settings

	// Stop is Task.Stop; nil means that evaluations are not stopped early.
	Stop *Stopping

	// About is not part of the ID. Its Default is a design of a space with the same parameters.
	About About
}

// Settings holds keys of a section of the task file, such as Settings{"share_every": 2}. Values are
// numbers or texts; for the roster and the fixed lengthscales they are lists. Settings implements
// StrategySettings. Missing keys have the defaults of a task file.
type Settings map[string]any

// Keys implements StrategySettings.
func (s Settings) Keys() map[string]any { return s }

// form returns the section strategy in the form of a task file.
func (s Strategy) form() (map[string]any, error) {
	form := map[string]any{}
	if s.Settings != nil {
		maps.Copy(form, s.Settings.Keys())
	}
	for _, key := range []string{typeKey, initialDesignsKey} {
		if _, doubled := form[key]; doubled {
			return nil, fmt.Errorf("task: Spec.Strategy.Settings has the key %q, expected only keys of the strategy's own; Spec.Strategy has a field for it", key)
		}
	}
	if s.Type != "" {
		form[typeKey] = s.Type
	}
	if s.InitialDesigns != 0 {
		form[initialDesignsKey] = s.InitialDesigns
	}
	return form, nil
}

// New returns the task that Parse returns for a file with the same content, with the same ID. The
// error is that of NewSpace for the parameters, an error if the Listing has other parameters, or a
// *ParseError without positions.
func New(spec Spec, strategies []StrategyType) (*Task, error) {
	space, err := NewSpace(spec.Parameters, spec.ParameterConstraints...)
	if err != nil {
		return nil, err
	}
	form := map[string]any{
		"name":       spec.Name,
		"parameters": canonicalParameters(space),
	}
	putGoal(form, spec.Goal, spec.Objectives)
	switch {
	case spec.Listing != nil && !sameParameters(spec.Listing.space, space):
		return nil, errors.New("task: Spec.Listing is of a space with other parameters than Spec.Parameters")
	case spec.Listing == nil && spec.MaxMoves != 0:
		return nil, fmt.Errorf("task: Spec.MaxMoves is %d without a Spec.Listing, expected 0", spec.MaxMoves)
	case spec.Listing != nil && spec.MaxMoves != 0 && !spec.Listing.Graph() && !spec.Listing.Absent():
		return nil, fmt.Errorf("task: Spec.MaxMoves is %d, and Spec.Listing has no graph", spec.MaxMoves)
	}
	if spec.Listing != nil {
		form["designs"] = canonicalDesigns(spec.Listing, spec.MaxMoves)
	}
	if len(spec.ParameterConstraints) > 0 {
		form[rulesKey] = spec.ParameterConstraints
	}
	if len(spec.Constraints) > 0 {
		form["constraints"] = canonicalConstraints(spec.Constraints)
	}
	if spec.Failures != "" {
		form["failures"] = string(spec.Failures)
	}
	if spec.Continues.Defined() {
		form[continuesKey] = spec.Continues.String()
	}
	strategy, err := spec.Strategy.form()
	if err != nil {
		return nil, err
	}
	for key, settings := range map[string]Settings{"surrogate": spec.Surrogate, "strategy": strategy, "privacy": spec.Privacy} {
		if settings != nil {
			form[key] = settings
		}
	}
	if spec.Stop != nil {
		form[stopKey] = spec.Stop.form()
	}
	spec.About.put(form)
	text, err := marshal(form)
	if err != nil {
		return nil, fmt.Errorf("task: settings: %w", err)
	}
	d := newDecoder("", strategies)
	d.space, d.listing = space, spec.Listing
	t, err := d.parse(text)
	var problems *ParseError
	if errors.As(err, &problems) {
		for _, one := range problems.Errors {
			one.Line, one.Column = 0, 0 // there is no file
		}
	}
	return t, err
}
