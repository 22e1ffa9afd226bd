package sums

import (
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// MaxOutput is the largest absolute value of a standardised output. Larger ones are clipped.
const MaxOutput = 4

// Statistic is what the members of a roster add up. It is additive: the vector of several
// observations is the sum of their vectors. It depends on the task alone, so that all members add
// up the same numbers. Its methods may be called concurrently.
type Statistic interface {
	// Numbers returns the length of the vector.
	Numbers() int
	// Add adds one observation to the vector. x is the encoded design, and y the standardised
	// output: larger is better, and its absolute value is at most MaxOutput. Each number that Add
	// adds must be at most Limit in absolute value; the exchange clips others.
	Add(vector []float64, x []float64, y float64)
	// Limit returns the bound of the numbers of one observation, above 0 and at most MaxLimit.
	Limit() float64
}

// MaxLimit is the largest bound of a Statistic.
const MaxLimit = 1 << 10

// features is a Statistic of the shared features φ of a task: Σφ(x), then Σφ(x)·y.
type features struct{ *rff.Map }

// NewFeatures returns the sums of the task's shared features and of their products with the output.
func NewFeatures(t *task.Task) (Statistic, error) {
	m, err := surrogate.SharedMap(t)
	if err != nil {
		return nil, err
	}
	return features{m}, nil
}

func (f features) Numbers() int { return 2 * f.Features() }

// Limit returns MaxOutput, since no feature exceeds 1.
func (f features) Limit() float64 { return MaxOutput }

func (f features) Add(vector []float64, x []float64, y float64) {
	for i, phi := range f.Phi(nil, x) {
		vector[i] += phi
		vector[f.Features()+i] += phi * y
	}
}
