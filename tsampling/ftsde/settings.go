package ftsde

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

const (
	weightsEvidence = "evidence"
	weightsSchedule = "schedule"

	shareMean   = "mean"
	shareSample = "sample"

	maxCells = 16
)

// Settings are the keys of a task file for strategy fts-de.
type Settings struct {
	// Cells is P, the number of parts of equal size of the space, each explored at
	// the start by its own nodes: a power of 2, 1 to 16.
	Cells int
	// Weights says when a node follows a sum: "evidence" (by how well it predicts the
	// node's own observations) or "schedule" (with probability 1-p_t, as published).
	Weights string
	// Share says what is summed: "mean" (of a node's posterior) or "sample".
	Share string
	// Schedule gives p_t; empty with weights evidence.
	Schedule tsampling.Schedule
	// ShareEvery is how many trials lie between two sums, 1 to tsampling.MaxShareTrials.
	ShareEvery int
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	var f Settings
	f.Cells = s.Whole("cells", 1, 1, maxCells)
	if bits.OnesCount(uint(f.Cells)) != 1 {
		s.Errorf("cells", "cells must be a power of 2, so that they have equal size, not %d", f.Cells)
	}
	f.Weights = s.Word("weights", weightsEvidence, weightsEvidence, weightsSchedule)
	f.Share = s.Word("share", shareMean, shareMean, shareSample)
	f.ShareEvery = s.Whole("share_every", 1, 1, tsampling.MaxShareTrials)
	switch f.Weights {
	case weightsSchedule:
		f.Schedule = tsampling.ReadSchedule(s, tsampling.Inverse)
	case weightsEvidence:
		s.Refuse("schedule", "weights: "+weightsSchedule)
		s.Refuse("own_probability", "weights: "+weightsSchedule+" and schedule: "+tsampling.Constant)
	default: // a wrong word, reported; the keys may belong to the right one
		s.Accept("schedule", "own_probability")
	}
	return f
}

// Keys implements task.StrategySettings.
func (f Settings) Keys() map[string]any {
	keys := map[string]any{"cells": f.Cells, "weights": f.Weights, "share": f.Share, "share_every": f.ShareEvery}
	if f.Weights == weightsSchedule {
		f.Schedule.AddKeys(keys)
	}
	return keys
}

// Release implements task.Releaser: weights for each cell. A mean is shorter than a
// draw of the prior.
func (f Settings) Release(t *task.Task) task.Release {
	r := task.Release{
		Numbers: f.Cells * t.Surrogate.Features,
		Of:      fmt.Sprintf("%d cells times %d features", f.Cells, t.Surrogate.Features),
		Norm:    math.Sqrt(float64(t.Surrogate.Features)),
	}
	if f.Share == shareMean {
		r.Norm /= 2
	}
	return r
}
