package acquisition

import (
	"math"
	"slices"
)

// The bounds on the work of one local search.
const (
	rounds       = 4  // of a continuous and a discrete part
	sweeps       = 2  // over the discrete parameters, per round
	gradients    = 30 // per continuous part
	halvings     = 12 // of one step
	firstMove    = 0.1
	tolerance    = 1e-6 // on a coordinate
	improvement  = 1e-9 // least relative gain to go on
	sufficiently = 1e-4 // Armijo's constant
	leastStep    = 1e-8
	largestStep  = 1e8
)

// climb is the local search from a design: the floats by gradients and the
// discrete parameters by moves to neighbours, in turn.
func climb(f Function, moves *neighbours, p point) point {
	for range rounds {
		if len(moves.floats) > 0 {
			p = ascend(f, moves.floats, p)
		}
		if moves.allFloat() {
			return p
		}
		moved := false
		for range sweeps {
			next, better := moves.sweep(f, p)
			if !better {
				break
			}
			p, moved = next, true
		}
		if !moved {
			return p
		}
	}
	return p
}

// ascend is the spectral projected gradient method on the coordinates floats of
// the unit cube, with a monotone line search: a step along the projected
// gradient, as long as the last change of the gradient suggests.
func ascend(f Function, floats []int, p point) point {
	x, grad := slices.Clone(p.x), make([]float64, len(p.x))
	value := finite(f.Gradient(grad, x))
	step := firstMove / (largestOf(grad, floats) + math.SmallestNonzeroFloat64)
	direction, nextGrad := make([]float64, len(x)), make([]float64, len(x))
	for range gradients {
		slope, length := 0.0, 0.0
		for _, i := range floats {
			direction[i] = clamp(x[i]+step*grad[i]) - x[i]
			slope += direction[i] * grad[i]
			length = max(length, math.Abs(direction[i]))
		}
		if !(length > tolerance) || !(slope > 0) || math.IsInf(slope, 1) {
			break
		}
		next, ok := backtrack(f, floats, point{x, value}, direction, slope)
		if !ok {
			break
		}
		gain := next.value - value
		nextValue := finite(f.Gradient(nextGrad, next.x))
		step = spectralStep(floats, x, next.x, grad, nextGrad)
		x, value = next.x, nextValue
		grad, nextGrad = nextGrad, grad
		if gain <= improvement*(1+math.Abs(value)) {
			break
		}
	}
	if value > p.value {
		return point{x, value}
	}
	return p
}

// backtrack halves the step along direction until the value has grown enough.
func backtrack(f Function, floats []int, from point, direction []float64, slope float64) (point, bool) {
	fraction := 1.0
	for range halvings {
		x := slices.Clone(from.x)
		for _, i := range floats {
			x[i] = clamp(from.x[i] + fraction*direction[i])
		}
		if p := evaluate(f, x); p.value >= from.value+sufficiently*fraction*slope && p.value > from.value {
			return p, true
		}
		fraction /= 2
	}
	return point{}, false
}

// spectralStep is the step length of Barzilai and Borwein, sᵀs / sᵀy. Where the
// function curves upwards the longest step is right.
func spectralStep(floats []int, x, next, grad, nextGrad []float64) float64 {
	ss, sy := 0.0, 0.0
	for _, i := range floats {
		s := next[i] - x[i]
		ss += s * s
		sy -= s * (nextGrad[i] - grad[i])
	}
	if !(sy > 0) {
		return largestStep
	}
	return min(max(ss/sy, leastStep), largestStep)
}

func largestOf(grad []float64, floats []int) float64 {
	largest := 0.0
	for _, i := range floats {
		largest = max(largest, math.Abs(grad[i]))
	}
	return largest
}

func clamp(u float64) float64 { return min(max(u, 0), 1) }
