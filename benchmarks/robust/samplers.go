package main

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
)

//go:embed samplers.py
var script string

// checkOptuna returns an error when this Python does not have what a method needs.
func checkOptuna(path, method string) error {
	if path == "" {
		return errors.New("no Python is named, by --python or " + pythonVariable)
	}
	modules := []string{"optuna"}
	if method == gpName {
		modules = append(modules, "torch")
	}
	return python.Has(path, modules...)
}

type request struct {
	Begin  *begin  `json:"begin,omitempty"`
	Value  float64 `json:"value"`
	Failed bool    `json:"failed,omitempty"`
}

type begin struct {
	Method     string           `json:"method"`
	Seed       uint32           `json:"seed"`
	Parameters []map[string]any `json:"parameters"` // as in a task file
}

// optuna lets a sampler of Optuna choose all designs.
func (r *run) optuna(method string, shared *python.Shared) error {
	process, err := shared.Started()
	if err != nil {
		return err
	}
	r.result.Versions = process.Versions
	next := request{Begin: &begin{method, r.method.Stream("python", 0).Uint32(), drive.Parameters(r.row.space)}}
	for range r.row.evals {
		var answer struct{ X map[string]any }
		if _, err := process.Ask(next, &answer); err != nil {
			return err
		}
		design, err := r.row.space.ParseDesign(answer.X)
		if err != nil {
			return fmt.Errorf("design %v: %w", answer.X, err)
		}
		value, ok := r.evaluate(design)
		next = request{Value: value, Failed: !ok}
	}
	return nil
}
