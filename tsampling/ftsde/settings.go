package ftsde

import (
	"math/bits"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

const (
	weightsEvidence = "evidence"
	weightsSchedule = "schedule"

	shareMean   = "mean"   // the mean of a node's posterior
	shareSample = "sample" // a sample of a node's posterior

	maxCells = 16
)

// Settings are the keys of a task file for strategy fts-de.
type Settings struct {
	// Cells is the number of cells of equal size into which the space is divided, P in the paper: a
	// power of 2, 1 to 16. Each cell has its own nodes that explore it at the start.
	Cells int
	// Weights determines how a node uses sums. "evidence" weights them by how well they predict the
	// node's own observations. "schedule" uses the newest sum with probability 1-p_t, as in the
	// paper.
	Weights string
	// Schedule defines p_t. It is empty with weights: evidence.
	Schedule tsampling.Schedule
	strategy.Choice
}

var _ task.Releaser = Settings{}

func readSettings(s *task.Section) task.StrategySettings {
	var f Settings
	f.Cells = s.Whole("cells", 1, 1, maxCells)
	if bits.OnesCount(uint(f.Cells)) != 1 {
		s.Errorf("cells", "cells must be a power of 2, so that they have equal size, not %d", f.Cells)
	}
	f.Weights = s.Word("weights", weightsEvidence, weightsEvidence, weightsSchedule)
	f.Choice = strategy.ReadChoice(s, disclosures())
	switch f.Weights {
	case weightsSchedule:
		f.Schedule = tsampling.ReadSchedule(s, tsampling.Inverse)
	case weightsEvidence:
		s.Refuse("schedule", "weights: "+weightsSchedule)
		s.Refuse("own_probability", "weights: "+weightsSchedule+" and schedule: "+tsampling.Constant)
	default: // an unknown word was reported; the keys may belong to the intended one
		s.Accept("schedule", "own_probability")
	}
	return f
}

// Keys implements task.StrategySettings.
func (f Settings) Keys() map[string]any {
	keys := f.Choice.Keys()
	keys["cells"], keys["weights"] = f.Cells, f.Weights
	keys["share_every"] = f.ShareEvery // 1 too
	if f.Weights == weightsSchedule {
		f.Schedule.AddKeys(keys)
	}
	return keys
}

// Release implements task.Releaser.
func (f Settings) Release(t *task.Task) task.Release { return strategy.ReleaseOf(disclosures(), t) }
