// Package coarsen replaces the designs in shares by cells of a secret grid that only the node knows
// ([Grid]). This limits what known attacks can compute from a share; docs/privacy.md has the
// results of such attacks. It gives no proof. Package privacy gives proofs.
//
// A coarse point depends only on the design and a constant secret. So averaging shares does not
// help an attacker, and a repeated share, also after a restart, discloses nothing more. The grid of
// a parameter depends only on its name, its scale and its values in their own units. So if the task
// file is edited, the cells remain the same, or become unions or parts of the earlier ones.
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

// Share is the value of the key share with which nodes share cells of a Grid.
const Share = "coarse"

const (
	// Cell is the width of the cells of a parameter with range 1. Units are the parameter's own:
	// its values on a linear scale, their natural logarithms on a log scale. The width for other
	// ranges is Cell times a power of 2.
	Cell = 0.35
	// MinCell and MaxCell are the limits of the width of a cell as a fraction of the parameter's
	// range. MaxCell is exclusive. Their geometric mean is Cell.
	MinCell = Cell / math.Sqrt2
	MaxCell = Cell * math.Sqrt2

	// OtherChoice is the probability that a choice is replaced by another one.
	OtherChoice = 0.25
)

// Grid replaces points of a space by coarse ones. A number becomes the middle of its cell. The
// offset of the cells is drawn at random for each parameter. Each choice of a categorical parameter
// has a fixed replacement, which is another choice with probability OtherChoice.
type Grid struct {
	blocks  []task.Block
	numbers []cells
	choices [][]int // by categorical parameter: the replacement of each choice
}

// New returns the grid of the node with this key on a space. The grid is derived from the key by a
// hash (HKDF, RFC 5869), and for each parameter from its name and scale. A receiver of the middle
// of one cell knows all cells of that parameter. The grid hides only the position of the design
// within its cell.
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

// Coarse returns the coarse point of p. If the middle of a cell lies outside of the unit cube, the
// result has the nearest point of the cube. A nil grid returns p.
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

// Deviation returns the root mean square distance, in the unit cube, between a number and the
// middle of its cell, over the numeric parameters of the space. The number is assumed to be
// uniformly distributed in the cell. Without numeric parameters the result is that of a cell of
// width Cell.
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

// Widths returns the width of the cells of each numeric parameter, as a fraction of its range.
// Widths are public.
func Widths(space *task.Space) (widths []float64) {
	for i, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			widths = append(widths, cellsOf(space, i).part())
		}
	}
	return widths
}

// cells holds the cells of one parameter, intervals in its own units. One of them begins at begin.
type cells struct {
	scale string
	knots []float64 // values in own units at evenly spaced coordinates from 0 to 1, ascending
	level int       // the width is Cell · 2^level
	width float64
	begin float64
}

// cellsOf returns the cells of a parameter, without the field begin.
func cellsOf(space *task.Space, parameter int) cells {
	c := cells{}
	c.scale, c.knots = units(space, parameter)
	span := c.knots[len(c.knots)-1] - c.knots[0]
	c.level = int(math.Ceil(math.Log2(span * MinCell / Cell)))
	c.width = math.Ldexp(Cell, c.level)
	return c
}

// part returns the width of a cell as a fraction of the range.
func (c cells) part() float64 { return c.width / (c.knots[len(c.knots)-1] - c.knots[0]) }

// middle returns the middle of the cell that contains the coordinate u, as a coordinate.
func (c cells) middle(u float64) float64 {
	cell := math.Floor((c.own(u) - c.begin) / c.width)
	return c.coordinate(c.begin + (cell+0.5)*c.width)
}

// own returns the value at the coordinate u in the parameter's own units.
func (c cells) own(u float64) float64 {
	at := min(max(u, 0), 1) * float64(len(c.knots)-1)
	i := min(int(at), len(c.knots)-2)
	return c.knots[i] + (at-float64(i))*(c.knots[i+1]-c.knots[i])
}

// coordinate returns the coordinate of a value; it is the inverse of own. For a value outside of
// the range it returns 0 or 1.
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

// units returns the scale of a parameter, and its values in own units at evenly spaced coordinates.
// These are the ends of its range. For listed numbers they are each number and the midpoints
// between them.
func units(space *task.Space, parameter int) (scale string, knots []float64) {
	p := space.Parameters()[parameter]
	log := p.Scale == task.Log || p.Numbers != nil && p.Numbers[0] > 0
	on := func(v float64) float64 { return v }
	scale = "linear"
	if log {
		on, scale = math.Log, "log"
	}
	half := p.Step / 2 // for ints and steps, whose bins extend beyond the outer values
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

// levels is the number of random binary digits of a begin.
const levels = 60

// begin returns a position at which a cell of this level begins. It is uniformly distributed over
// the width of a cell. Each cell of a level is the union of two cells of the level below. So cells
// of several levels together disclose no more than those of the lowest level. To achieve this, the
// begin is the sum of the widths of lower levels, each multiplied by its own random binary digit.
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

// moved returns the replacement of each choice of a parameter, which depends on the names of the
// parameter and the choice. If a choice is replaced, each other choice gets a random number that
// depends on its name, and the largest number wins. So an added choice changes few replacements.
func moved(secret random.Seed, p task.Parameter) []int {
	choices := p.Choices
	if p.Fixed != (task.Value{}) {
		choices = []string{p.Fixed.String()}
	} else if p.Kind == task.Bool {
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
