package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// engine is this project's agent without peers.
func engine(strategyType, surrogateType string, settings map[string]string) method {
	return func(s search) error {
		maxObservations, settings, err := maxObservationsOf(settings)
		if err != nil {
			return err
		}
		parallel, err := takeParallel(settings)
		if err != nil {
			return err
		}
		spec, err := taskFor(s.space, strategyType, surrogateType, settings)
		if err != nil {
			return err
		}
		d, err := drive.New(spec, nil, maxObservations, s.seed)
		if err != nil {
			return err
		}
		if err := parallel.evaluate(d, s); err != nil {
			return err
		}
		s.result.Warnings = d.Warnings
		return nil
	}
}

// maxObservationsOf returns the setting that is none of the task file, and the others.
func maxObservationsOf(settings map[string]string) (maxObservations int, others map[string]string, err error) {
	others = maps.Clone(settings)
	if text, ok := settings["max_observations"]; ok {
		delete(others, "max_observations")
		if maxObservations, err = strconv.Atoi(text); err != nil || maxObservations < 1 {
			return 0, nil, fmt.Errorf("max_observations=%s: expected whole numbers from 1", text)
		}
	}
	return maxObservations, others, nil
}

// taskFor writes and reads a task file, so that all that is not set has the
// defaults that users get, and what is wrong gives the error that they get.
func taskFor(space *task.Space, strategyType, surrogateType string, settings map[string]string) (*task.Task, error) {
	sections := map[string]map[string]any{"strategy": {"type": strategyType}, "surrogate": {"type": surrogateType}}
	for key, value := range settings {
		section := "strategy"
		switch key {
		case "kernel", "features", "lengthscale", "category_lengthscale":
			section = "surrogate"
		}
		var parsed any = value
		if json.Valid([]byte(value)) { // a number
			parsed = json.RawMessage(value)
		}
		sections[section][key] = parsed
	}
	text, err := json.Marshal(map[string]any{
		"name": "solo", "goal": task.Minimize, "parameters": drive.Parameters(space),
		"strategy": sections["strategy"], "surrogate": sections["surrogate"],
	})
	if err != nil {
		return nil, fmt.Errorf("task for the engine: %w", err)
	}
	return all.Strategies().Parse("solo", text)
}
