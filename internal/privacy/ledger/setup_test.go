package ledger

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/task"
)

// vectors are the settings of strategies that release a vector of features, or one
// for each cell.
type vectors struct{ cells int }

func (v vectors) Keys() map[string]any { return map[string]any{"cells": v.cells} }

func (v vectors) Release(t *task.Task) task.Release {
	return task.Release{Numbers: v.cells * t.Surrogate.Features, Of: fmt.Sprint(v.cells, " cells"), Norm: math.Sqrt(float64(t.Surrogate.Features))}
}

func strategies() []task.StrategyType {
	read := func(s *task.Section) task.StrategySettings { return vectors{s.Whole("cells", 1, 1, 16)} }
	return []task.StrategyType{
		{Name: "fts", Settings: read, Mechanism: "local"},
		{Name: "fts-de", Settings: read, Mechanism: "aggregate", Private: true},
	}
}
