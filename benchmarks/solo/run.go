package main

import (
	"fmt"

	"github.com/fbo-node/fbo/benchmarks/internal/cpu"
	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/internal/random"
)

// job names a run.
type job struct {
	Function string `json:"function"`
	Method   string `json:"method"`
	Seed     uint64 `json:"seed"`
	Evals    int    `json:"evals"`
}

// result is what a run gave: one line of the file of results.
type result struct {
	job
	Regret   []float64         `json:"regret"`             // simple regret after each evaluation
	Seconds  float64           `json:"seconds"`            // of processor time
	Build    string            `json:"build"`              // of the program that ran it
	Versions map[string]string `json:"versions,omitempty"` // of what a method in Python uses
	Warnings []string          `json:"warnings,omitempty"`
}

// do carries out a run in this process, and in Python what is a method there.
func (j job) do(shared *python.Shared) (result, error) {
	p, err := problemNamed(j.Function)
	if err != nil {
		return result{}, err
	}
	m, err := methodNamed(j.Method)
	if err != nil {
		return result{}, err
	}
	seed := random.SeedOf(j.Seed).Derive(j.Function, 0)
	o := newObserver(p, seed)
	done := result{job: j}
	before := cpu.Seconds()
	if err := m(search{
		space: o.quiet.Space, seed: seed.Derive("method", 0), evals: j.Evals, observe: o.observe,
		python: shared, result: &done,
	}); err != nil {
		return result{}, fmt.Errorf("%s on %s, seed %d: %w", j.Method, j.Function, j.Seed, err)
	}
	if len(o.regret) != j.Evals {
		return result{}, fmt.Errorf("%s on %s, seed %d: %d evaluations were made instead of %d", j.Method, j.Function, j.Seed, len(o.regret), j.Evals)
	}
	done.Seconds += cpu.Seconds() - before
	done.Regret = o.regret
	return done, nil
}
