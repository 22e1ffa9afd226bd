package sums

import (
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

// NewStatistic returns the statistic of a task: what its nodes add up.
func NewStatistic(t *task.Task) (Statistic, error) { return NewCells(t), nil }
