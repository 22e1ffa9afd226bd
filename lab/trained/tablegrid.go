package trained

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/task"
)

// grid is a function that is known at all combinations of some values of each parameter. A
// combination is a node.
type grid struct {
	space  *task.Space
	blocks []task.Block
	nodes  [][]float64 // for each parameter, in ascending order: coordinates, or indices of choices
	values []float64   // values at the nodes; the index of the last parameter changes fastest
}

// value interpolates linearly between the nearest nodes in each coordinate of the encoded design,
// so no design is better than the best node. Every choice is a node.
func (g *grid) value(d task.Design) float64 { return g.from(g.space.Encode(d), 0, 0) }

// from interpolates over parameters i and later. offset is the number of the node of the earlier
// parameters.
func (g *grid) from(u []float64, i, offset int) float64 {
	if i == len(g.nodes) {
		return g.values[offset]
	}
	offset *= len(g.nodes[i])
	k, part := between(g.nodes[i], coordinate(g.blocks[i], u))
	value := g.from(u, i+1, offset+k)
	if part > 0 {
		value += part * (g.from(u, i+1, offset+k+1) - value)
	}
	return value
}

// coordinate returns the coordinate of a parameter in an encoded design, or the index of its
// choice.
func coordinate(b task.Block, u []float64) float64 {
	if b.Kind == task.Categorical {
		return float64(slices.Index(u[b.Start:b.Start+b.Len], 1))
	}
	return u[b.Start]
}

// between returns the last i for which nodes[i] is at most v. part is the position of v between
// this node and the next, from 0 to 1.
func between(nodes []float64, v float64) (i int, part float64) {
	i, exactly := slices.BinarySearch(nodes, v)
	if exactly {
		return i, 0
	}
	i--
	return i, (v - nodes[i]) / (nodes[i+1] - nodes[i])
}

// gridsOf returns the grid of each member, or an error that says why a member has none.
func gridsOf(t *task.Task, members []*measurer) ([]*grid, error) {
	if len(t.Constraints) > 0 {
		return nil, errors.New("between the nodes of a grid it would have to be known which designs keep the constraints")
	}
	if t.Space.Listing() != nil {
		return nil, errors.New("the task lists its designs, and there are none between them")
	}
	if t.Space.Conditional() || t.Space.ParameterConstraints() != nil {
		return nil, errors.New("the task has conditions or constraints among parameters, so not every combination of values is a design")
	}
	all := make([]*grid, len(members))
	for i, m := range members {
		var err error
		if all[i], err = gridOf(t.Space, m.points); err != nil {
			return nil, fmt.Errorf("member %q: %w", m.name, err)
		}
	}
	return all, nil
}

func gridOf(space *task.Space, points []*point) (*grid, error) {
	g := &grid{space: space, blocks: space.Blocks(), values: make([]float64, len(points))}
	count, sizes := 1, []string{}
	for i, p := range space.Parameters() {
		var nodes []float64
		for _, one := range points {
			nodes = append(nodes, coordinate(g.blocks[i], one.u))
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		if missing := uncovered(space, i, nodes); missing != "" {
			return nil, fmt.Errorf("no design has %s=%s", p.Name, missing)
		}
		g.nodes = append(g.nodes, nodes)
		if count *= len(nodes); count > len(points) { // the product can only grow
			count = len(points) + 1
		}
		sizes = append(sizes, fmt.Sprint(len(nodes)))
	}
	if count != len(points) {
		return nil, fmt.Errorf("%d designs are no full grid of %s values", len(points), strings.Join(sizes, " x "))
	}
	for _, one := range points {
		offset := 0
		for i, nodes := range g.nodes {
			k, _ := slices.BinarySearch(nodes, coordinate(g.blocks[i], one.u))
			offset = offset*len(nodes) + k
		}
		g.values[offset] = one.value
	}
	return g, nil
}

// uncovered returns a value of a parameter that lies outside its nodes, or "" if there is none.
func uncovered(space *task.Space, parameter int, nodes []float64) string {
	block, first, last := space.Blocks()[parameter], nodes[0], nodes[len(nodes)-1]
	u := make([]float64, space.Dim())
	at := func(coordinate int, v float64) string {
		u[coordinate] = v
		return space.Decode(u).Values()[parameter].String()
	}
	if block.Kind == task.Categorical {
		for k := range block.Len {
			if k >= len(nodes) || nodes[k] != float64(k) {
				return at(block.Start+k, 1)
			}
		}
		return ""
	}
	low, high := 0.0, 1.0
	if block.Kind == task.Int {
		low, high = space.Place(parameter, 0), space.Place(parameter, block.Count-1)
	}
	switch {
	case first > low:
		return at(block.Start, low)
	case last < high:
		return at(block.Start, high)
	}
	return ""
}
