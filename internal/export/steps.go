package export

import (
	"math"
	"math/big"

	"github.com/fbo-node/fbo/task"
)

// most is up to how many steps from 0 a value is a multiple of the step for Optuna, which
// divides floats and allows for 1e-8.
const most = 1e7

// countsExactly tells whether Optuna, which counts the steps of a float in decimals and
// lowers a high that is not reached, keeps the high and takes all values. Elsewhere the
// step is left out.
func countsExactly(p task.Parameter) bool {
	if math.Max(math.Abs(p.Low), math.Abs(p.High)) > most*p.Step {
		return false
	}
	low, high, step := decimal(p.Low), decimal(p.High), decimal(p.Step)
	span := new(big.Rat).Sub(high, low)
	return span.Quo(span, step).IsInt()
}

// decimal is the shortest decimal of a float, as Python writes it.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(exact(v)) // which is always a number
	return r
}
