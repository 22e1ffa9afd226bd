package acquisition

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// neighbours knows the moves of the discrete parameters.
type neighbours struct {
	space      *task.Space
	parameters []task.Parameter
	blocks     []task.Block
	floats     []int // coordinates of the float parameters
}

func newNeighbours(space *task.Space) *neighbours {
	n := &neighbours{space: space, parameters: space.Parameters(), blocks: space.Blocks()}
	for _, block := range n.blocks {
		if block.Kind == task.Float {
			n.floats = append(n.floats, block.Start)
		}
	}
	return n
}

func (n *neighbours) allFloat() bool { return len(n.floats) == len(n.blocks) }

// encodeInt returns the coordinate at which the space puts a value of int
// parameter i.
func (n *neighbours) encodeInt(i int, value int64) float64 {
	values := n.space.Decode(make([]float64, n.space.Dim())).Values()
	values[i] = task.IntValue(value)
	design, err := n.space.NewDesign(values...)
	if err != nil {
		panic(err) // callers stay inside the bounds
	}
	return n.space.Encode(design)[n.blocks[i].Start]
}

// sweep tries the neighbours of p, one parameter after the other, and moves
// whenever one is better.
func (n *neighbours) sweep(f Function, p point) (point, bool) {
	moved := false
	for i, block := range n.blocks {
		if block.Kind == task.Float {
			continue
		}
		for _, alternative := range n.alternatives(i, p.x) {
			x := slices.Clone(p.x)
			copy(x[block.Start:], alternative)
			if next := evaluate(f, x); next.value > p.value {
				p, moved = next, true
			}
		}
	}
	return p, moved
}

// alternatives returns other contents of parameter i's block: every other
// choice, or the ints one, two, four, ... steps away and both bounds.
func (n *neighbours) alternatives(i int, x []float64) [][]float64 {
	block := n.blocks[i]
	var all [][]float64
	if block.Kind == task.Categorical {
		for choice := range block.Len {
			if x[block.Start+choice] != 1 {
				part := make([]float64, block.Len)
				part[choice] = 1
				all = append(all, part)
			}
		}
		return all
	}
	low, high := int64(n.parameters[i].Low), int64(n.parameters[i].High)
	value := n.space.Decode(x).Values()[i].Int()
	for step := int64(1); step < high-low; step *= 2 {
		for _, v := range []int64{value - step, value + step} {
			if v > low && v < high {
				all = append(all, []float64{n.encodeInt(i, v)})
			}
		}
	}
	for _, v := range []int64{low, high} {
		if v != value {
			all = append(all, []float64{n.encodeInt(i, v)})
		}
	}
	return all
}

// enumerate evaluates every design of a finite space.
func (m Maximizer) enumerate(f Function) ([]float64, float64) {
	contents := blockContents(m.Space)
	blocks := m.Space.Blocks()
	digits := make([]int, len(blocks))
	x := make([]float64, m.Space.Dim())
	best := point{value: math.Inf(-1)}
	for {
		for i, block := range blocks {
			copy(x[block.Start:], contents[i][digits[i]])
		}
		if p := evaluate(f, x); best.x == nil || p.value > best.value {
			best = point{slices.Clone(x), p.value}
		}
		if !advance(digits, contents) {
			return best.x, f.Value(best.x)
		}
	}
}

// blockContents returns, for every parameter of a finite space, what its block
// may hold.
func blockContents(space *task.Space) [][][]float64 {
	n := newNeighbours(space)
	all := make([][][]float64, len(n.blocks))
	for i, block := range n.blocks {
		if block.Kind == task.Categorical {
			// No coordinate is 1, so that every choice is another one.
			all[i] = n.alternatives(i, make([]float64, space.Dim()))
			continue
		}
		for v := int64(n.parameters[i].Low); v <= int64(n.parameters[i].High); v++ {
			all[i] = append(all[i], []float64{n.encodeInt(i, v)})
		}
	}
	return all
}

// advance counts one further; false after the last number.
func advance(digits []int, contents [][][]float64) bool {
	for i := range digits {
		if digits[i]++; digits[i] < len(contents[i]) {
			return true
		}
		digits[i] = 0
	}
	return false
}
