package main

import (
	_ "embed"
	"fmt"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
)

//go:embed proposer.py
var script string

// request has all observations for BoTorch, point by point.
type request struct {
	X    [][]float64 `json:"x"` // of the unit cube
	Y    []float64   `json:"y"` // larger is better
	C    [][]float64 `json:"c"` // per constraint, at most 0 where it is kept
	Seed uint64      `json:"seed"`
}

func startProposer(path string) (*python.Process, error) {
	p, err := python.Start(path, script)
	if err != nil {
		return nil, fmt.Errorf("start BoTorch: %w; --python names a Python that has it", err)
	}
	return p, nil
}

// propose returns a point of the unit cube and the processor time of its computation.
func propose(p *python.Process, r request) (x []float64, seconds float64, err error) {
	var answer struct{ X []float64 }
	if seconds, err = p.Ask(r, &answer); err != nil {
		return nil, 0, fmt.Errorf("BoTorch: %w", err)
	}
	if len(answer.X) != len(r.X[0]) {
		return nil, 0, fmt.Errorf("BoTorch: %d coordinates, not %d", len(answer.X), len(r.X[0]))
	}
	return answer.X, seconds, nil
}
