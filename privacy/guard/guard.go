// Package guard makes what a node says of its designs coarse, by a grid whose place only the
// node knows: [Grid]. It bounds what a share tells against attacks that are known
// (docs/privacy.md has what they find), and proves nothing; package privacy has what is
// proved.
//
// What is said follows from the design and a secret that stays the same. So it does not
// average out, and what is said again, after a restart too, says nothing more.
package guard

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// Share is what the key share of a task file says where nodes tell places by a Grid.
const Share = "guarded"

const (
	// Cell is the width of a grid's cells in the unit cube.
	Cell = 0.35
	// Deviation is that of a number, which may lie anywhere in its cell, from the middle.
	Deviation = Cell / 3.4641016151377544 // √12

	// otherChoice is the probability that the choices of a categorical parameter are told
	// as others.
	otherChoice = 0.25
)

// Grid makes points of a space coarse. A number becomes the middle of its cell; where the
// cells begin is drawn for each parameter. The choices of a categorical parameter are
// moved on, all by the same number, which with probability 3/4 is 0.
type Grid struct {
	space *task.Space
	begin []float64 // of the cells, for each number
	moved []int     // for each categorical parameter
}

// New returns the grid of the node with this key on a space. It follows from a hash (HKDF,
// RFC 5869) of the key alone, so that the same data under another name of the task, or
// within other bounds, are told by the same cells. Who has seen one middle of a cell knows
// the grid; what it hides is where in a cell the design is.
func New(key crypto.PrivKey, space *task.Space) (*Grid, error) {
	raw, err := key.Raw()
	if err != nil {
		return nil, fmt.Errorf("guard: the node's key: %w", err)
	}
	secret, err := hkdf.Key(sha256.New, raw, nil, "fbo guarded shares 1", len(random.Seed{}))
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	rng := random.Seed(secret).Stream("grid", 0)
	g := &Grid{space: space}
	for _, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			g.begin = append(g.begin, Cell*rng.Float64())
			continue
		}
		move := 0
		if rng.Float64() < otherChoice && block.Len > 1 {
			move = 1 + rng.IntN(block.Len-1)
		}
		g.moved = append(g.moved, move)
	}
	return g, nil
}

// Coarse returns the coarse point; where the middle of a cell is outside of the unit cube,
// the nearest place in it. Without a grid, nil, a point stays as it is.
func (g *Grid) Coarse(p protocol.Point) protocol.Point {
	if g == nil {
		return p
	}
	var coarse protocol.Point
	for i, v := range p.Coordinates {
		cell := math.Floor((v - g.begin[i]) / Cell)
		middle := g.begin[i] + (cell+0.5)*Cell
		coarse.Coordinates = append(coarse.Coordinates, float64(float32(min(max(middle, 0), 1))))
	}
	for _, block := range g.space.Blocks() {
		if block.Kind == task.Categorical {
			at := len(coarse.Choices)
			coarse.Choices = append(coarse.Choices, (p.Choices[at]+g.moved[at])%block.Len)
		}
	}
	return coarse
}

// Reveals is what a node that says no more than this gives away, for people.
const Reveals = "Peers get to know where about this node believes the optimum to be, to a sixth of every parameter's range, and how many results that rests on; never its results. Known attacks find no more (docs/privacy.md); it is no proof."
