package radial

import (
	"fmt"
	"math"
)

// The kernels, with value 1 at distance 0. Their names are those of a task file, which
// task.Parse accepts.
const (
	Matern52 = "matern52"
	SE       = "se" // squared exponential
)

// Evaluate returns the kernel at a squared distance in lengthscales, and slope,
// minus twice its derivative by that square. Then dk/dx_i is
// −slope (x_i − y_i)/l_i², and dk/dln l_i is slope times that coordinate's part
// of the square.
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

// EvaluateAll is Evaluate for every square, four at a time where the processor
// can. k and slope are as long as squares and may be the same slice as it, but
// not as each other.
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
