package tsampling

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/task"
)

// Names of the schedules in a task file.
const (
	InverseSqrt   = "inverse-sqrt"
	InverseSquare = "inverse-square"
	Constant      = "constant"
	OwnOnly       = "own-only"
)

// OwnProbability is p_t, the chance that the t-th query after the starting
// designs (t = 1, 2, …) follows the agent's own sample: 1 − 1/√t, 1 − 1/t², a
// constant, or 1. As in the paper's experiments p_1 = p_2.
func OwnProbability(spec *task.FTS, t uint64) float64 {
	count := float64(max(t, 2))
	switch spec.Schedule {
	case InverseSqrt:
		return 1 - 1/math.Sqrt(count)
	case InverseSquare:
		return 1 - 1/(count*count)
	case Constant:
		return spec.OwnProbability
	case OwnOnly:
		return 1
	}
	panic(fmt.Sprintf("tsampling: unknown schedule %q", spec.Schedule)) // task.Parse accepts no other
}
