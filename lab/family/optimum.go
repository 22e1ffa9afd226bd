package family

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// rounds is how many independent searches look for a largest value. Among 32
// samples of six coordinates with the default lengthscale, half of either kernel,
// the hardest was missed by one search in three, and 27 by none of 32.
const rounds = 16

// largest returns the largest value of f over the space and where it is. near
// holds points around which to look as well.
func largest(space *task.Space, f acquisition.Function, near [][]float64, seed random.Seed) (u []float64, value float64) {
	value = math.Inf(-1)
	search := acquisition.Maximizer{Space: space, Workers: 1}
	for i := range rounds {
		x, v, err := search.Maximize(context.Background(), f, near, seed.Stream("search", uint64(i)))
		if err != nil {
			panic(err) // this context never ends
		}
		if v > value {
			u, value = x, v
		}
	}
	return u, value
}

// differentiable makes an acquisition.Function of a value over the unit cube, by
// differences.
type differentiable func(u []float64) float64

func (f differentiable) Value(u []float64) float64 { return f(u) }

func (f differentiable) Gradient(grad, u []float64) float64 {
	const step = 1e-6
	moved := append([]float64(nil), u...)
	for i, v := range u {
		low, high := max(0, v-step), min(1, v+step)
		moved[i] = high
		rise := f(moved)
		moved[i] = low
		rise -= f(moved)
		moved[i] = v
		grad[i] = rise / (high - low)
	}
	return f(u)
}
