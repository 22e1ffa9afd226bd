package tsampling

import (
	"fmt"
	"math"
)

// Names of the schedules in a task file.
const (
	InverseSqrt   = "inverse-sqrt"
	InverseSquare = "inverse-square"
	Inverse       = "inverse"
	Constant      = "constant"
	OwnOnly       = "own-only"
)

// OwnProbability is p_t, the chance that the t-th query after the starting
// designs (t = 1, 2, …) follows the agent's own sample: 1 − 1/√t, 1 − 1/t², 1 − 1/t,
// the constant, or 1. For the first two p_1 = p_2, as in the experiments of Dai, Low
// and Jaillet (NeurIPS 2020); for the third p_1 = 0, as in theirs of 2021.
func OwnProbability(schedule string, constant float64, t uint64) float64 {
	count := float64(max(t, 2))
	switch schedule {
	case InverseSqrt:
		return 1 - 1/math.Sqrt(count)
	case InverseSquare:
		return 1 - 1/(count*count)
	case Inverse:
		return 1 - 1/float64(max(t, 1))
	case Constant:
		return constant
	case OwnOnly:
		return 1
	}
	panic(fmt.Sprintf("tsampling: unknown schedule %q", schedule)) // task.Parse accepts no other
}
