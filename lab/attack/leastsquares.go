package attack

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const difference = 1e-6 // step in one coordinate for numerical derivatives

func squared(v []float64) float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	return square
}

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// derivatives returns the Jacobian matrix of f at u by finite differences, with one column for each
// element of u. now is f(u).
func derivatives(f func([]float64) []float64, u, now []float64) *mat.Dense {
	jacobian := mat.NewDense(len(now), len(u), nil)
	for k := range u {
		moved := slices.Clone(u)
		moved[k] += difference
		for i, v := range f(moved) {
			jacobian.Set(i, k, (v-now[i])/difference)
		}
	}
	return jacobian
}

// leastSquares minimises the sum of the squares of f, starting from u, by the Levenberg–Marquardt
// method. It takes at most `steps` steps, and stops if the sum is below `enough`.
func leastSquares(ctx context.Context, f func([]float64) []float64, u []float64, steps int, enough float64) (at []float64, least float64) {
	damping, now := 1e-3, f(u)
	least = squared(now)
	for range steps {
		if least < enough || ctx.Err() != nil {
			break
		}
		jacobian := derivatives(f, u, now)
		var normal mat.Dense
		normal.Mul(jacobian.T(), jacobian)
		var slope mat.VecDense
		slope.MulVec(jacobian.T(), mat.NewVecDense(len(now), now))
		before, better := least, false
		for range 8 {
			damped := mat.DenseCopyOf(&normal)
			for k := range u {
				damped.Set(k, k, normal.At(k, k)*(1+damping)+1e-12)
			}
			var step mat.VecDense
			if err := step.SolveVec(damped, &slope); err == nil {
				next := slices.Clone(u)
				for k := range next {
					next[k] -= step.AtVec(k)
				}
				there := f(next)
				if s := squared(there); s < least {
					u, now, least, better = next, there, s, true
					damping = max(damping/10, 1e-12)
					break
				}
			}
			damping *= 10
		}
		if !better || before-least < 1e-7*least {
			break
		}
	}
	return u, least
}
