package ftsde

import (
	"math"
	"math/bits"

	"github.com/fbo-node/fbo/task"
)

// Cells divides the unit cube into cells of equal size. It halves the cube along one numeric
// coordinate after the other and starts again with the first after the last. A space without
// numeric parameters is halved along its one-hot coordinates instead. Each such halving separates
// the designs with a choice from those without it, so the cells then differ in size.
type Cells struct {
	coordinates []int // in the order of their first halving
	parts       []int // number of parts along each coordinate
	count       int
}

// NewCells divides the cube of a space into count cells, a power of 2.
func NewCells(space *task.Space, count int) Cells {
	c := Cells{count: count}
	for _, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			c.coordinates = append(c.coordinates, block.Start)
		}
	}
	if len(c.coordinates) == 0 {
		for i := range space.Dim() {
			c.coordinates = append(c.coordinates, i)
		}
	}
	c.parts = make([]int, len(c.coordinates))
	for i := range c.parts {
		c.parts[i] = 1
	}
	for i := range bits.Len(uint(count)) - 1 {
		c.parts[i%len(c.parts)] *= 2
	}
	return c
}

// Len returns the number of cells.
func (c Cells) Len() int { return c.count }

// Of returns the index, counted from 0, of the cell that contains x. A point on a border belongs to
// the cell with the lower index.
func (c Cells) Of(x []float64) int {
	index, stride := 0, 1
	for i, parts := range c.parts {
		part := int(math.Ceil(x[c.coordinates[i]]*float64(parts))) - 1
		index += stride * min(max(part, 0), parts-1)
		stride *= parts
	}
	return index
}

// highestWeight and lowestWeight are the values a_t at the start and b of the experiments in the
// paper (see the package comment). A cell's weight is e^(a_t) for its own nodes and e^b for others,
// up to normalisation.
const (
	highestWeight = 16.0
	lowestWeight  = 1.0
	fullRounds    = 10 // number of observations during which a_t stays at highestWeight
	fadingRounds  = 30 // number of further observations in which a_t falls to lowestWeight, so that all cells have equal weight
)

// Elsewhere returns the weight of a node's information on cells other than its own, relative to its
// own cell. By the weights of the paper it is e^(b-a_t) after t observations beyond the starting
// designs.
func Elsewhere(observations int) float64 {
	fade := min(max(float64(observations-fullRounds)/fadingRounds, 0), 1)
	return math.Exp((lowestWeight - highestWeight) * (1 - fade))
}
