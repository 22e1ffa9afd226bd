package main

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// newInterpreter skips, and says why, without a Python that has the packages.
func newInterpreter(t *testing.T) *python.Shared {
	t.Helper()
	path := os.Getenv(pythonVariable)
	if err := checkPython(path); err != nil {
		t.Skip(err)
	}
	shared := &python.Shared{Path: path, Script: script}
	t.Cleanup(shared.Stop)
	return shared
}

// A run in Python starts like one of the engine, goes on by itself, costs time, and comes
// out the same with the same seed, whatever the process has done before.
func TestRivalsRunAndRepeat(t *testing.T) {
	python := newInterpreter(t)
	for _, j := range []job{
		{Function: "branin", Method: botorchName, Seed: 3, Evals: 7},
		{Function: "branin", Method: botorchName + "+parallel=4", Seed: 3, Evals: 9},
		{Function: "mixed", Method: botorchName, Seed: 3, Evals: 5},
		{Function: "mixed", Method: optunaName, Seed: 3, Evals: 13}, // it has a model after ten
		{Function: "branin", Method: turboName, Seed: 3, Evals: 40}, // it starts a second region
	} {
		engine := j
		engine.Method = "logei-exact"
		want, err := engine.do(nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problemNamed(j.Function)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := taskFor(p.function.Space, "logei", "exact", nil)
		if err != nil {
			t.Fatal(err)
		}
		starts := spec.Strategy.InitialDesigns
		var runs []result
		for range 2 {
			r, err := j.do(python)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, r)
		}
		if !reflect.DeepEqual(runs[0].Regret, runs[1].Regret) {
			t.Errorf("%+v: regrets %v and then %v", j, runs[0].Regret, runs[1].Regret)
		}
		if !slices.Equal(runs[0].Regret[:starts], want.Regret[:starts]) {
			t.Errorf("%+v starts with regrets %v, and the engine with %v", j, runs[0].Regret[:starts], want.Regret[:starts])
		}
		if runs[0].Seconds < 0.01 || runs[0].Versions["torch"] == "" {
			t.Errorf("%+v: %g s, versions %v", j, runs[0].Seconds, runs[0].Versions)
		}
	}
}

// Scales, wide ints and choices cross to Python and back: ParseDesign refuses what is not
// in the space.
func TestRivalsKeepToTheSpace(t *testing.T) {
	python := newInterpreter(t)
	space, err := task.NewSpace([]task.Parameter{
		{Name: "rate", Kind: task.Float, Low: 1e-5, High: 1, Scale: task.Log},
		{Name: "width", Kind: task.Int, Low: 1, High: 300, Scale: task.Log},
		{Name: "depth", Kind: task.Int, Low: -2, High: 2},
		{Name: "kind", Kind: task.Categorical, Choices: []string{"tree", "line"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, evals := range map[string]int{botorchName: 5, optunaName: 12} {
		seen := map[string]bool{}
		err := rival(name, 1)(search{
			space: space, seed: random.SeedOf(4), evals: evals, python: python, result: &result{},
			observe: func(d task.Design) float64 {
				seen[d.Key()] = true
				return d.Float("rate") - float64(d.Int("width"))/100 + float64(d.Int("depth"))
			},
		})
		if err != nil || len(seen) < evals-1 {
			t.Errorf("%s: %d designs of %d evaluations, %v", name, len(seen), evals, err)
		}
	}
}
