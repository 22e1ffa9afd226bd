package export

import (
	"math"
	"math/big"

	"github.com/fbo-node/fbo/task"
)

// most is the largest number of steps from 0 at which Optuna recognises a multiple of the step.
// Optuna divides floats with a tolerance of 1e-8.
const most = 1e7

// countsExactly reports whether Optuna keeps the upper bound and accepts all values of the
// parameter. Optuna counts the steps of a float in decimals, and lowers an upper bound that no step
// reaches. If the result is false, the step is omitted.
func countsExactly(p task.Parameter) bool {
	if math.Max(math.Abs(p.Low), math.Abs(p.High)) > most*p.Step {
		return false
	}
	low, high, step := decimal(p.Low), decimal(p.High), decimal(p.Step)
	span := new(big.Rat).Sub(high, low)
	return span.Quo(span, step).IsInt()
}

// decimal returns the shortest decimal of a float, as Python writes it.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(exact(v)) // exact always writes a number
	return r
}
