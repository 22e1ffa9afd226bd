package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/benchmarks/internal/drive"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// The methods of this file are those of rivals.py.
const (
	botorchName = "botorch"
	optunaName  = "optuna-gp"
	turboName   = "turbo"

	// pythonVariable names the Python if no flag does. It also passes the Python to workers.
	pythonVariable = "FBO_PYTHON"
)

//go:embed rivals.py
var script string

func inPython(method string) bool {
	name, _, _ := strings.Cut(method, "+")
	return name == botorchName || name == optunaName || name == turboName
}

// checkPython returns an error when this Python does not have what rivals.py imports.
func checkPython(path string) error {
	err := errors.New("no Python is named")
	if path != "" {
		err = python.Has(path, "botorch", "optuna", "torch")
	}
	if err != nil {
		return fmt.Errorf("%s, %s and %s need a Python with BoTorch and Optuna, by --python or %s, after pip install -r solo/requirements.txt: %w", botorchName, optunaName, turboName, pythonVariable, err)
	}
	return nil
}

// request has the observations since the last request of the same run.
type request struct {
	Begin   *begin        `json:"begin,omitempty"`
	X       []task.Design `json:"x"`
	Y       []float64     `json:"y"`
	Pending []task.Design `json:"pending"`
}

type begin struct {
	Method     string           `json:"method"`
	Seed       uint32           `json:"seed"`
	Parameters []map[string]any `json:"parameters"` // as in a task file
}

// rival returns a method that starts with the initial designs of this project's engine. Then
// rivals.py continues in rounds of atATime designs. Random designs complete the first round.
func rival(name string, atATime int) method {
	return func(s search) error {
		process, err := s.python.Started()
		if err != nil {
			return err
		}
		s.result.Versions = process.Versions
		r := request{Begin: &begin{name, s.seed.Stream("python", 0).Uint32(), drive.Parameters(s.space)}, X: []task.Design{}, Y: []float64{}}
		observe := func(d task.Design) strategy.Outcome {
			value := s.observe(d)
			r.X, r.Y = append(r.X, d), append(r.Y, value)
			return strategy.Outcome{Value: value}
		}
		spec, err := taskFor(s.space, "logei", "exact", nil)
		if err != nil {
			return err
		}
		if err := drive.Start(spec, s.seed, s.evals, observe); err != nil {
			return err
		}
		rng, done := s.seed.Stream("uniform", 0), len(r.Y)
		for ; done < min(atATime, s.evals); done++ {
			observe(uniform.Design(s.space, rng))
		}
		for done < s.evals {
			round := min(atATime-done%atATime, s.evals-done)
			designs := make([]task.Design, 0, round)
			for range round {
				r.Pending = designs
				design, err := s.ask(process, r)
				if err != nil {
					return err
				}
				designs = append(designs, design)
				r = request{X: []task.Design{}, Y: []float64{}}
			}
			for _, design := range designs {
				observe(design)
			}
			done += round
		}
		return nil
	}
}

func (s search) ask(process *python.Process, r request) (task.Design, error) {
	var answer struct{ X map[string]any }
	seconds, err := process.Ask(r, &answer)
	if err != nil {
		return task.Design{}, err
	}
	s.result.Seconds += seconds
	design, err := s.space.ParseDesign(answer.X)
	if err != nil {
		return design, fmt.Errorf("design %v: %w", answer.X, err)
	}
	return design, nil
}
