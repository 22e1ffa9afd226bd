package export

import (
	"math"
	"math/big"

	"github.com/fbo-node/fbo/task"
)

// most is the maximum ratio of a value to the step for which Optuna reliably recognises multiples
// of the step. Optuna divides floats with a tolerance of 1e-8.
const most = 1e7

// countsExactly reports whether Optuna keeps the upper bound of a float with a step and accepts all
// of its values. Optuna counts steps in decimals, and lowers an upper bound that is not a multiple
// of the step above the lower bound. If countsExactly is false, the export omits the step.
func countsExactly(p task.Parameter) bool {
	if math.Max(math.Abs(p.Low), math.Abs(p.High)) > most*p.Step {
		return false
	}
	low, high, step := decimal(p.Low), decimal(p.High), decimal(p.Step)
	span := new(big.Rat).Sub(high, low)
	return span.Quo(span, step).IsInt()
}

// decimal returns the exact value of the shortest decimal text of a float, which Python also
// writes.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(exact(v)) // cannot fail: exact always writes a number
	return r
}
