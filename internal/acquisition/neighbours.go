package acquisition

import "github.com/fbo-node/fbo/task"

// neighbours lists the moves of the discrete parameters. Use does not alter it.
type neighbours struct {
	space    *task.Space
	blocks   []task.Block
	floats   []int // coordinates that move freely
	discrete []int // the other parameters
	most     int   // largest number of neighbours in one parameter
	total    int   // largest number of neighbours in all
}

func newNeighbours(space *task.Space) *neighbours {
	n := &neighbours{space: space, blocks: space.Blocks()}
	if space.Listing() != nil {
		return n // a neighbour of a listed design may not be listed
	}
	for i, block := range n.blocks {
		count := block.Len - 1
		switch block.Kind {
		case task.Float:
			n.floats = append(n.floats, block.Start)
			continue
		case task.Int:
			count = maxSteps(block.Count)
		}
		n.discrete = append(n.discrete, i)
		n.most = max(n.most, count)
		n.total += count
	}
	return n
}

// maxSteps returns the maximum number of neighbours of a numeric parameter with this many
// values.
func maxSteps(values int64) int {
	count := 2
	for step := int64(1); step < values-1; step *= 2 {
		count += 2
	}
	return count
}

// alternatives writes the designs that differ from x in parameter i to the first rows of dst, and
// returns their number. These are every other choice, or the numbers one, two, four, ... values
// away and both bounds.
func (n *neighbours) alternatives(dst *points, i int, x []float64) (count int) {
	block := n.blocks[i]
	if block.Kind == task.Categorical {
		for choice := range block.Len {
			if x[block.Start+choice] != 1 {
				row := dst.row(count)
				copy(row, x)
				clear(row[block.Start : block.Start+block.Len])
				row[block.Start+choice] = 1
				count++
			}
		}
		return count
	}
	last := block.Count - 1
	number := n.space.Number(i, x[block.Start])
	put := func(k int64, allowed bool) {
		if allowed {
			row := dst.row(count)
			copy(row, x)
			row[block.Start] = n.space.Place(i, k)
			count++
		}
	}
	for step := int64(1); step < last; step *= 2 {
		put(number-step, number-step > 0)
		put(number+step, number+step < last)
	}
	put(0, number != 0)
	put(last, number != last)
	return count
}
