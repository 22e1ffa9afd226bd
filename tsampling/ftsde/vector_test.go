package ftsde

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

// A vector is clipped before it is scaled: each cell gets its part of the norm, the
// own one in full.
func TestVectorsOfCells(t *testing.T) {
	definition := newTask(t, setting{features: 4, strategy: "cells: 4, share_every: 10", privacy: "clip: 6"})
	n := newNode(t, definition, 1)
	n.view.Posterior = fixed{mean: []float64{30, 0, 40, 0}, sample: []float64{0, 0.3, 0, -0.4}}
	for round, other := range map[uint64]float64{1: Elsewhere(0), 2: Elsewhere(10), 3: Elsewhere(20), 5: 1} {
		v := n.vector(n.view, [32]byte{}, round, 2)
		for cell := range 4 {
			scale := other
			if cell == 2 {
				scale = 1
			}
			for i, want := range []float64{0.6 * 3, 0, 0.8 * 3, 0} { // 6/√4 is 3
				if got := v[4*cell+i]; !near(got, scale*want, 1e-12) {
					t.Errorf("round %d: weight %d of cell %d is %g, want %g", round, i, cell, got, scale*want)
				}
			}
		}
		if norm(v) > 6+1e-12 {
			t.Errorf("round %d: the vector has norm %g, the clip is 6", round, norm(v))
		}
	}
	definition = newTask(t, setting{features: 4, strategy: "share: sample", privacy: "clip: 6"})
	sampled := newNode(t, definition, 1)
	sampled.view.Posterior = n.view.Posterior
	if v := sampled.vector(sampled.view, [32]byte{}, 1, 0); !slices.Equal(v, []float64{0, 0.3, 0, -0.4}) {
		t.Errorf("the sample is %v", v)
	}
}

// The vectors of two seeds differ and those of one do not: a sample is drawn anew
// for each round.
func TestSamplesOfRounds(t *testing.T) {
	definition := newTask(t, setting{features: 8, strategy: "share: sample"})
	n := newNode(t, definition, 1)
	n.view = trained(t, definition, n.view.Self, 5, func(x []float64) float64 { return x[0] })
	draw := func(seed, round uint64) []float64 { return n.vector(n.view, random.SeedOf(seed), round, 0) }
	if !slices.Equal(draw(1, 1), draw(1, 1)) || slices.Equal(draw(1, 1), draw(1, 2)) || slices.Equal(draw(1, 1), draw(2, 1)) {
		t.Error("samples do not follow seed and round")
	}
}
