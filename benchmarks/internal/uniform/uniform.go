// Package uniform draws designs uniformly.
package uniform

import (
	"math/rand/v2"

	"github.com/fbo-node/fbo/task"
)

// Design draws each parameter uniformly.
func Design(space *task.Space, rng *rand.Rand) task.Design {
	return At(space, Coordinates(rng, space.Len()))
}

// Coordinates draws n numbers in [0, 1).
func Coordinates(rng *rand.Rand, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = rng.Float64()
	}
	return u
}

// At returns the design at u, which has one coordinate in [0, 1) per parameter. The choices of a
// categorical parameter have equal parts of its coordinate.
func At(space *task.Space, u []float64) task.Design {
	x := make([]float64, space.Dim())
	for i, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			x[block.Start+min(int(u[i]*float64(block.Len)), block.Len-1)] = 1
		} else {
			x[block.Start] = u[i]
		}
	}
	return space.Decode(x)
}
