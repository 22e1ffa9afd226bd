package testfunc

import (
	"math"

	"github.com/fbo-node/fbo/task"
)

// Branin returns the function of two floats, x1 in [-5, 10] and x2 in [0, 15], with three global
// minimizers and the minimum 5/(4π) ≈ 0.3979.
//
// Source: Branin (1972), "Widely convergent method for finding multiple
// solutions of simultaneous nonlinear equations", IBM Journal of Research and
// Development 16, with the ranges of Dixon and Szegő (1978).
//
// The minimum is that of the whole plane: the square is at least 0 and the cosine at least -1, and
// both values are reached at x1 = π(2k+1).
func Branin() Function {
	return Function{
		Name: "branin",
		Space: mustSpace([]task.Parameter{
			{Name: "x1", Kind: task.Float, Low: -5, High: 10},
			{Name: "x2", Kind: task.Float, Low: 0, High: 15},
		}),
		Value:      branin,
		Optimum:    5 / (4 * math.Pi),
		Minimizers: [][]float64{{-math.Pi, 12.275}, {math.Pi, 2.275}, {3 * math.Pi, 2.475}},
		Deviation:  braninDeviation,
		Reach:      math.Inf(1),
	}
}

func branin(x []float64) float64 {
	const b, c, t = 5.1 / (4 * math.Pi * math.Pi), 5 / math.Pi, 1 / (8 * math.Pi)
	valley := x[1] - b*x[0]*x[0] + c*x[0] - 6
	return valley*valley + 10*(1-t)*math.Cos(x[0]) + 10
}
