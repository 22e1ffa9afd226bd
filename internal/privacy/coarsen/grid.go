// Package coarsen makes the designs in shares coarse, by a secret grid that only the node knows:
// [Grid]. It limits what known attacks can compute from a share (docs/privacy.md has their
// results), and proves nothing; package privacy has the proofs.
//
// A coarse point is a function of the design and a constant secret. Therefore averaging shares does
// not help, and a repeated share, also after a restart, discloses nothing more. The grid of a
// parameter depends on its name, its scale and its values in their own units, and on nothing else
// of the task file: with an edited file the cells are the same, or unions or parts of the same.
package coarsen

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Share is the value of the key share in a task file whose nodes share designs by a Grid.
const Share = "coarse"

const (
	// Cell is the width of cells for a parameter with a range of 1 in its own units: on a linear
	// scale its values, on a log scale their natural logarithms. Other cells are wider or narrower
	// by a power of 2.
	Cell = 0.35
	// MinCell and MaxCell are the limits of the width of cells as parts of a parameter's range;
	// MaxCell is exclusive. Their geometric mean is Cell.
	MinCell = Cell / math.Sqrt2
	MaxCell = Cell * math.Sqrt2

	// OtherChoice is the probability that a choice is replaced by another one.
	OtherChoice = 0.25
)

// Grid makes points of a space coarse. A number becomes the middle of its cell; the offset of the
// cells is drawn for each parameter. A choice becomes another one with probability OtherChoice,
// drawn for each choice.
type Grid struct {
	blocks  []task.Block
	numbers []cells
	choices [][]int // of each categorical parameter: the replacement of each choice
}

// New returns the grid of the node with this key on a space. It is derived by a hash (HKDF, RFC
// 5869) from the key, and for each parameter from its name and scale. A receiver of one middle of a
// cell knows the cells of that parameter; the grid hides the position of the design within a cell.
func New(key crypto.PrivKey, space *task.Space) (*Grid, error) {
	raw, err := key.Raw()
	if err != nil {
		return nil, fmt.Errorf("the key of the node: %w", err)
	}
	derived, err := hkdf.Key(sha256.New, raw, nil, "fbo guarded shares 2", len(random.Seed{}))
	if err != nil {
		return nil, err
	}
	secret := random.Seed(derived)
	g := &Grid{blocks: space.Blocks()}
	for i, p := range space.Parameters() {
		if g.blocks[i].Kind == task.Categorical {
			g.choices = append(g.choices, moved(secret, p))
			continue
		}
		c := cellsOf(space, i)
		c.begin = begin(secret, c.scale+" "+p.Name, c.level)
		g.numbers = append(g.numbers, c)
	}
	return g, nil
}

// Coarse returns the coarse point. If the middle of a cell is outside the unit cube, it becomes the
// nearest point in it. A nil grid leaves the point unchanged.
func (g *Grid) Coarse(p protocol.Point) protocol.Point {
	if g == nil {
		return p
	}
	var coarse protocol.Point
	for i, u := range p.Coordinates {
		coarse.Coordinates = append(coarse.Coordinates, float64(float32(g.numbers[i].middle(u))))
	}
	for i, choice := range p.Choices {
		coarse.Choices = append(coarse.Choices, g.choices[i][choice])
	}
	return coarse
}

// Deviation returns the root mean square distance, in the unit cube, between a uniformly
// distributed number in its cell and the middle of the cell, over the numbers of the space. Without
// numbers it is that of a cell of width Cell.
func (g *Grid) Deviation() float64 {
	if len(g.numbers) == 0 {
		return Cell / math.Sqrt(12)
	}
	sum := 0.0
	for _, c := range g.numbers {
		sum += c.part() * c.part() / 12 / float64(len(g.numbers))
	}
	return math.Sqrt(sum)
}

// Widths returns the width of the cells of each numeric parameter, as a part of its range. It is
// public.
func Widths(space *task.Space) (widths []float64) {
	for i, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			widths = append(widths, cellsOf(space, i).part())
		}
	}
	return widths
}

// cells holds the intervals of one parameter, in its own units; one of them begins at begin.
type cells struct {
	scale string
	knots []float64 // in own units, at evenly spaced coordinates from 0 to 1, ascending
	level int       // the width is Cell · 2^level
	width float64
	begin float64
}

// cellsOf returns the cells of a parameter without their begin.
func cellsOf(space *task.Space, parameter int) cells {
	c := cells{}
	c.scale, c.knots = units(space, parameter)
	span := c.knots[len(c.knots)-1] - c.knots[0]
	c.level = int(math.Ceil(math.Log2(span * MinCell / Cell)))
	c.width = math.Ldexp(Cell, c.level)
	return c
}

// part returns the width as a part of the range.
func (c cells) part() float64 { return c.width / (c.knots[len(c.knots)-1] - c.knots[0]) }

// middle returns the middle of the cell of a coordinate, as a coordinate.
func (c cells) middle(u float64) float64 {
	cell := math.Floor((c.own(u) - c.begin) / c.width)
	return c.coordinate(c.begin + (cell+0.5)*c.width)
}

// own returns the value of a coordinate in the parameter's own units.
func (c cells) own(u float64) float64 {
	at := min(max(u, 0), 1) * float64(len(c.knots)-1)
	i := min(int(at), len(c.knots)-2)
	return c.knots[i] + (at-float64(i))*(c.knots[i+1]-c.knots[i])
}

// coordinate is the inverse of own; outside the range it returns that of the nearest end.
func (c cells) coordinate(v float64) float64 {
	last := len(c.knots) - 1
	if v <= c.knots[0] {
		return 0
	}
	if v >= c.knots[last] {
		return 1
	}
	i, _ := slices.BinarySearch(c.knots, v)
	i--
	return (float64(i) + (v-c.knots[i])/(c.knots[i+1]-c.knots[i])) / float64(last)
}

// units returns the scale of a parameter, and its values in own units at evenly spaced coordinates:
// the ends of its range, or for listed numbers each of them and the midpoints between.
func units(space *task.Space, parameter int) (scale string, knots []float64) {
	p := space.Parameters()[parameter]
	log := p.Scale == task.Log || p.Numbers != nil && p.Numbers[0] > 0
	on := func(v float64) float64 { return v }
	scale = "linear"
	if log {
		on, scale = math.Log, "log"
	}
	half := p.Step / 2 // of ints and steps, whose bins extend beyond the outer values
	switch {
	case p.Numbers != nil:
		for i, v := range p.Numbers {
			if i > 0 {
				knots = append(knots, (on(p.Numbers[i-1])+on(v))/2)
			}
			knots = append(knots, on(v))
		}
		first, last := knots[0], knots[len(knots)-1]
		knots = append([]float64{2*first - knots[1]}, knots...)
		return scale, append(knots, 2*last-knots[len(knots)-2])
	case p.Kind == task.Int && p.Step == 0:
		half = 0.5
	}
	return scale, []float64{on(p.Low - half), on(p.High + half)}
}

// levels is the number of binary digits of a begin.
const levels = 60

// begin returns the begin of the cells of a level, uniform over their width. Cells of a level are
// unions of two cells of the level below, so that those of several levels disclose no more than
// those of the lowest. For this, the begin is a sum of the widths of lower levels, each with its
// own random binary digit.
func begin(secret random.Seed, label string, level int) float64 {
	digits := func(block int) uint64 { return secret.Stream("cells "+label, uint64(int64(block))).Uint64() }
	block := floorDiv(level-levels, 64)
	word, sum := digits(block), 0.0
	for lower := level - levels; lower < level; lower++ {
		if of := floorDiv(lower, 64); of != block {
			block, word = of, digits(of)
		}
		if word>>(lower-block*64)&1 == 1 {
			sum += math.Ldexp(Cell, lower)
		}
	}
	return sum
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// moved returns the replacement of each choice of a parameter. It depends on the name of the
// parameter and the choice. The replacement is the other choice with the largest number drawn from
// its name, so that an added choice changes few replacements.
func moved(secret random.Seed, p task.Parameter) []int {
	choices := p.Choices
	if p.Kind == task.Bool {
		choices = []string{"false", "true"}
	}
	for _, v := range p.Numbers {
		choices = append(choices, fmt.Sprint(v))
	}
	to := make([]int, len(choices))
	for i, choice := range choices {
		to[i] = i
		own := secret.Derive("choice "+p.Name+" "+choice, 0)
		if own.Stream("stays", 0).Float64() >= OtherChoice {
			continue
		}
		largest := -1.0
		for j, other := range choices {
			if number := own.Stream("becomes "+other, 0).Float64(); j != i && number > largest {
				to[i], largest = j, number
			}
		}
	}
	return to
}
