package main

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// search is what a method is given: minimise what observe returns with evals
// calls of it.
type search struct {
	space   *task.Space
	seed    random.Seed
	evals   int
	observe func(task.Design) float64

	python *python.Shared // for methods that are not in Go
	result *result        // takes warnings, versions, and the processor time of other processes
}

// method minimises.
type method func(s search) error

func baselines() map[string]method {
	return map[string]method{
		"random":        drawn,
		"quasi":         quasi,
		"goptuna-tpe":   goptunaTPE,
		"goptuna-cmaes": goptunaCMAES,
		botorchName:     rival(botorchName, 1),
		optunaName:      rival(optunaName, 1),
		turboName:       rival(turboName, 1),
	}
}

// methodNamed returns a baseline, or this project's engine for a name such as
// ts-exact+features=512: a strategy and a surrogate of the task file, and
// perhaps further settings. Whether the task file knows them shows when it runs.
func methodNamed(name string) (method, error) {
	if m, ok := baselines()[name]; ok {
		return m, nil
	}
	parts := strings.Split(name, "+")
	strategy, surrogate, ok := strings.Cut(parts[0], "-")
	if !ok && parts[0] != botorchName {
		return nil, fmt.Errorf("method %q is not known; expected random, quasi, goptuna-tpe, goptuna-cmaes, botorch[+parallel=N], optuna-gp, turbo, or STRATEGY-SURROGATE[+KEY=VALUE…] as in ts-exact+features=512", name)
	}
	settings := map[string]string{}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("method %q: setting %q must be KEY=VALUE", name, part)
		}
		settings[key] = value
	}
	if parts[0] == botorchName {
		parallel, err := takeParallel(settings)
		if err != nil || parallel.asynchronous || len(settings) > 0 {
			return nil, fmt.Errorf("method %q: expected no setting but parallel=N", name)
		}
		return rival(botorchName, parallel.atATime), nil
	}
	return engine(strategy, surrogate, settings), nil
}

// drawn draws each parameter uniformly.
func drawn(s search) error {
	rng := s.seed.Stream("uniform", 0)
	for range s.evals {
		s.observe(uniform.Design(s.space, rng))
	}
	return nil
}

// quasi takes a scrambled Halton sequence with one coordinate per parameter
// (Owen, "A randomized Halton algorithm in R", 2017, in gonum).
func quasi(s search) error {
	source := s.seed.Stream("halton", 0)
	points := mat.NewDense(s.evals, s.space.Len(), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(s.space.Len(), source), Src: source}.Sample(points)
	for i := range s.evals {
		s.observe(uniform.At(s.space, points.RawRowView(i)))
	}
	return nil
}
