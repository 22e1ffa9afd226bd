package main

import (
	"fmt"

	"github.com/fbo-node/fbo/benchmarks/internal/runs"
)

// results is the file of results and what it holds.
type results struct{ *runs.File[job, result] }

func openResults(path string) (results, error) {
	file, err := runs.Open[job, result](path)
	return results{file}, err
}

// has reports whether the file contains a run at least as long as j.
func (kept results) has(j job) bool { return kept.Has(j.key(), j.Evals) }

func (j job) key() job {
	j.Evals = 0
	return j
}

// Key implements runs.Result.
func (r result) Key() job { return r.key() }

// Length implements runs.Result.
func (r result) Length() int { return r.Evals }

// Check implements runs.Result.
func (r result) Check() error {
	if len(r.Regret) != r.Evals {
		return fmt.Errorf("%d regrets of %d evaluations", len(r.Regret), r.Evals)
	}
	return nil
}
