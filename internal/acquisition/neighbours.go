package acquisition

import "github.com/fbo-node/fbo/task"

// neighbours knows the possible moves in the discrete parameters of a space. It is immutable.
type neighbours struct {
	space    *task.Space
	blocks   []task.Block
	floats   []int // coordinates of the continuous parameters
	discrete []int // indices of the other parameters
	most     int   // largest number of neighbours in one parameter
	total    int   // largest number of neighbours in all parameters together
}

func newNeighbours(space *task.Space) *neighbours {
	n := &neighbours{space: space, blocks: space.Blocks()}
	if space.Listing() != nil {
		return n // with listed designs there are no moves, because a neighbour may not be on the list
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

// maxSteps returns the largest number of neighbours in a numeric parameter with this many values.
func maxSteps(values int64) int {
	count := 2
	for step := int64(1); step < values-1; step *= 2 {
		count += 2
	}
	return count
}

// alternatives writes the designs that differ from x only in parameter i to the first rows of dst,
// and returns their number. For a categorical parameter these are all other choices. For other
// parameters they are the values one, two, four, ... steps away, and both bounds.
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
