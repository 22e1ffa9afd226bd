package sums

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

const (
	maxCells       = 128
	cellCandidates = 1024    // number of points from which the centres are chosen
	cellGrid       = 1 << 20 // number of steps of a centre's coordinate
	cellRounding   = 1e-3    // tolerance of a sum of outputs
)

// Cells is the [Statistic] of a task. It divides the space into the Voronoi cells of fixed centres.
// The vector has the number of observations in each cell, then the sum of their standardised outputs
// in each cell. All nodes of a task have the same centres. It is immutable.
type Cells struct {
	centres [][]float64 // encoded
	scales  []float64   // inverse squares of the task's lengthscales, by coordinate
}

var _ Statistic = (*Cells)(nil)

// NewCells returns the cells of a task: at most maxCells. The centres are chosen from random points by
// farthest-first traversal (Gonzalez, "Clustering to minimize the maximum intercluster distance",
// 1985). A space of few designs has one cell for each.
func NewCells(t *task.Task) *Cells {
	c := &Cells{}
	lengthscales := surrogate.InitialLengthscales(t) // by parameter
	for parameter, block := range t.Space.Blocks() {
		scale := 1 / (lengthscales[parameter] * lengthscales[parameter])
		c.scales = append(c.scales, slices.Repeat([]float64{scale}, block.Len)...)
	}
	// A listing of designs may be absent at some nodes, so the centres do not depend on it.
	space, rng := t.Space.Unlisted(), random.SeedOf(0).Stream("cells of sums", 0)
	candidates := make([][]float64, cellCandidates)
	for i := range candidates {
		candidates[i] = acquisition.Sample(space, rng)
		for k, v := range candidates[i] {
			candidates[i][k] = math.Round(v*cellGrid) / cellGrid
		}
	}
	apart := slices.Repeat([]float64{math.Inf(1)}, len(candidates))
	for next := 0; len(c.centres) < maxCells && apart[next] > 0; {
		c.centres = append(c.centres, candidates[next])
		for i, x := range candidates {
			apart[i] = min(apart[i], c.square(x, candidates[next]))
		}
		next = slices.Index(apart, slices.Max(apart))
	}
	return c
}

// square returns the squared distance of two points in lengthscales. The conversions prevent fused
// operations, so that all machines choose the same centres.
func (c *Cells) square(x, z []float64) (square float64) {
	for k, scale := range c.scales {
		apart := x[k] - z[k]
		square += float64(float64(apart*apart) * scale)
	}
	return square
}

// of returns the index of the cell that contains an encoded design.
func (c *Cells) of(x []float64) (nearest int) {
	smallest := math.Inf(1)
	for j, z := range c.centres {
		if square := c.square(x, z); square < smallest {
			nearest, smallest = j, square
		}
	}
	return nearest
}

// Centres returns the encoded centres of the cells. The caller must not change them.
func (c *Cells) Centres() [][]float64 { return c.centres }

// Numbers implements Statistic.
func (c *Cells) Numbers() int { return 2 * len(c.centres) }

// Limit implements Statistic.
func (c *Cells) Limit() float64 { return MaxOutput }

// Add implements Statistic.
func (c *Cells) Add(vector, x []float64, y float64) {
	j := c.of(x)
	vector[j]++
	vector[len(c.centres)+j] += y
}

// Averages holds the observations of peers by cell.
type Averages struct {
	Centres [][]float64 // of the cells with observations
	Counts  []float64   // number of observations
	Outputs []float64   // average standardised output

	Contributors int // number of peers in the newest sum
	Each         int // number of observations of one peer
}

// Averages returns the averages of all  It leaves out sums that cannot come from honest
// contributions: each count is a whole number, their total is that of the observations, and no average
// exceeds MaxOutput.
func (c *Cells) Averages(all []Sum) (a Averages) {
	m := len(c.centres)
	totals := make([]float64, 2*m)
	for _, s := range all {
		if s.Contributors < 1 || !c.plausible(s) {
			continue
		}
		for i, v := range s.Values {
			totals[i] += v
		}
		a.Contributors = s.Contributors
		a.Each += s.Observations / s.Contributors
	}
	for j, z := range c.centres {
		if count := math.Round(totals[j]); count > 0 {
			a.Centres, a.Counts = append(a.Centres, z), append(a.Counts, count)
			a.Outputs = append(a.Outputs, totals[m+j]/count)
		}
	}
	return a
}

func (c *Cells) plausible(s Sum) bool {
	m := len(c.centres)
	if len(s.Values) != 2*m {
		return false
	}
	total := 0.0
	for j, count := range s.Values[:m] {
		if count < 0 || count != math.Round(count) || !(math.Abs(s.Values[m+j]) <= MaxOutput*count+cellRounding) {
			return false
		}
		total += count
	}
	return total == float64(s.Observations)
}
