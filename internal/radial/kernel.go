package radial

import (
	"fmt"
	"math"
)

// The kernels, which have the value 1 at distance 0. The names are those of the task file, which
// task.Parse accepts.
const (
	Matern52 = "matern52"
	SE       = "se" // squared exponential
)

// Evaluate returns the kernel k at a squared distance in units of the lengthscales, and slope = -2
// dk/dsquare. With slope, dk/dx_i is −slope (x_i − y_i)/l_i², and dk/dln l_i is slope times the
// contribution of coordinate i to square. It panics on an unknown kernel.
func Evaluate(kernel string, square float64) (k, slope float64) {
	switch kernel {
	case SE:
		k = math.Exp(-0.5 * square)
		return k, k
	case Matern52:
		root := math.Sqrt(5 * square)
		decay := math.Exp(-root)
		return (1 + root + 5.0/3*square) * decay, 5.0 / 3 * (1 + root) * decay
	}
	panic(fmt.Sprintf("radial: unknown kernel %q", kernel))
}

// EvaluateAll calls Evaluate for every element of squares, or does four at a time if the processor
// can. k and slope must have the length of squares. Each of them may be the same slice as squares,
// but not both.
func EvaluateAll(kernel string, k, slope, squares []float64) {
	if kernel != SE && kernel != Matern52 {
		panic(fmt.Sprintf("radial: unknown kernel %q", kernel))
	}
	k, slope = k[:len(squares)], slope[:len(squares)]
	done := evaluateVectors(kernel, k, slope, squares)
	for i := done; i < len(squares); i++ {
		k[i], slope[i] = Evaluate(kernel, squares[i])
	}
}
