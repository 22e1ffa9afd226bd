package peerprior

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// cells is the statistic of share: sum. It divides the space into the Voronoi cells of fixed centres.
// The vector has the number of observations in each cell, then the sum of their standardised outputs
// in each cell. All nodes of a task have the same centres. It is immutable.
type cells struct {
	centres [][]float64 // encoded
	scales  []float64   // inverse squares of the task's lengthscales, by coordinate
}

var _ sums.Statistic = (*cells)(nil)

// newCells returns the cells of a task: at most sumCells. The centres are chosen from random points by
// farthest-first traversal (Gonzalez, "Clustering to minimize the maximum intercluster distance",
// 1985). A space of few designs has one cell for each.
func newCells(t *task.Task) *cells {
	c := &cells{}
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
	for next := 0; len(c.centres) < sumCells && apart[next] > 0; {
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
func (c *cells) square(x, z []float64) (square float64) {
	for k, scale := range c.scales {
		apart := x[k] - z[k]
		square += float64(float64(apart*apart) * scale)
	}
	return square
}

// of returns the index of the cell that contains an encoded design.
func (c *cells) of(x []float64) (nearest int) {
	smallest := math.Inf(1)
	for j, z := range c.centres {
		if square := c.square(x, z); square < smallest {
			nearest, smallest = j, square
		}
	}
	return nearest
}

// Numbers implements sums.Statistic.
func (c *cells) Numbers() int { return 2 * len(c.centres) }

// Limit implements sums.Statistic.
func (c *cells) Limit() float64 { return sums.MaxOutput }

// Add implements sums.Statistic.
func (c *cells) Add(vector, x []float64, y float64) {
	j := c.of(x)
	vector[j]++
	vector[len(c.centres)+j] += y
}

// averages holds the observations of peers by cell.
type averages struct {
	centres [][]float64 // of the cells with observations
	counts  []float64
	outputs []float64 // average standardised output

	contributors int // of the newest sum
	each         int // observations of one peer
}

// read returns the averages of all sums. It leaves out sums that cannot come from honest
// contributions: each count is a whole number, their total is that of the observations, and no average
// exceeds sums.MaxOutput.
func (c *cells) read(all []sums.Sum) (a averages) {
	m := len(c.centres)
	totals := make([]float64, 2*m)
	for _, s := range all {
		if s.Contributors < 1 || !c.plausible(s) {
			continue
		}
		for i, v := range s.Values {
			totals[i] += v
		}
		a.contributors = s.Contributors
		a.each += s.Observations / s.Contributors
	}
	for j, z := range c.centres {
		if count := math.Round(totals[j]); count > 0 {
			a.centres, a.counts = append(a.centres, z), append(a.counts, count)
			a.outputs = append(a.outputs, totals[m+j]/count)
		}
	}
	return a
}

func (c *cells) plausible(s sums.Sum) bool {
	m := len(c.centres)
	if len(s.Values) != 2*m {
		return false
	}
	total := 0.0
	for j, count := range s.Values[:m] {
		if count < 0 || count != math.Round(count) || !(math.Abs(s.Values[m+j]) <= sums.MaxOutput*count+cellRounding) {
			return false
		}
		total += count
	}
	return total == float64(s.Observations)
}
