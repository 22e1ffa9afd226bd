package testfunc

import (
	"math"

	"github.com/fbo-node/fbo/task"
)

// Mixed returns a function of two floats, an int and a choice, as in a small tuning problem. The
// choice determines the best floats and how good they can be, and the int moves the valley of the
// floats. With h, c, u and v determined by the choice, and k = (n-c)/4, the function is
//
//	h + k² + a² + 4(b - sin(2a)/2)²,  a = x - u - k/2,  b = y - v
//
// for x and y in [-2, 2] and n in 1 to 16. For every choice the squares are 0 at n = c, x = u, y =
// v. The minimum is therefore the smallest h, which is 0. The best values of the other choices are
// 0.15, 0.4 and 0.8.
//
// It was made for this package.
func Mixed() Function {
	return Function{
		Name: "mixed",
		Space: mustSpace([]task.Parameter{
			{Name: "x", Kind: task.Float, Low: -2, High: 2},
			{Name: "y", Kind: task.Float, Low: -2, High: 2},
			{Name: "n", Kind: task.Int, Low: 1, High: 16},
			{Name: "method", Kind: task.Categorical, Choices: []string{"amber", "birch", "cedar", "dune"}},
		}),
		Value:      mixed,
		Optimum:    0,
		Minimizers: [][]float64{{-0.6, 0.5, 7, 2}},
		Deviation:  mixedDeviation,
		Reach:      math.Inf(1),
	}
}

func mixed(x []float64) float64 {
	choices := [4]struct{ least, n, x, y float64 }{
		{0.15, 12, 1, -0.75},
		{0.4, 4, 0.25, 1},
		{0, 7, -0.6, 0.5},
		{0.8, 10, -1.25, -1.5},
	}
	c := choices[int(x[3])]
	k := (x[2] - c.n) / 4
	a, b := x[0]-c.x-k/2, x[1]-c.y
	valley := b - math.Sin(2*a)/2
	return c.least + k*k + a*a + 4*valley*valley
}
