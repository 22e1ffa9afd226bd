package acquisition

import "github.com/fbo-node/fbo/task"

// neighbours knows the moves of the discrete parameters. Use does not alter it.
type neighbours struct {
	space    *task.Space
	blocks   []task.Block
	ints     []intValues // per parameter; unused unless it is an int
	floats   []int       // coordinates of the float parameters
	discrete []int       // the other parameters
	most     int         // neighbours in one parameter
	total    int         // neighbours in all, at most
}

func newNeighbours(space *task.Space) *neighbours {
	n := &neighbours{space: space, blocks: space.Blocks(), ints: make([]intValues, space.Len())}
	for i, p := range space.Parameters() {
		count := len(p.Choices) - 1
		switch p.Kind {
		case task.Float:
			n.floats = append(n.floats, n.blocks[i].Start)
			continue
		case task.Int:
			n.ints[i] = newIntValues(p)
			count = mostSteps(p.High - p.Low)
		}
		n.discrete = append(n.discrete, i)
		n.most = max(n.most, count)
		n.total += count
	}
	return n
}

// mostSteps is the largest number of neighbours that an int with this range has.
func mostSteps(width float64) int {
	count := 2
	for step := 1.0; step < width; step *= 2 {
		count += 2
	}
	return count
}

// alternatives writes to the first rows of dst, and counts, the designs that
// differ from x in parameter i: every other choice, or the ints one, two, four,
// ... steps away and both bounds.
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
	values := &n.ints[i]
	value := values.at(x[block.Start])
	put := func(v float64, allowed bool) {
		if allowed {
			row := dst.row(count)
			copy(row, x)
			row[block.Start] = values.coordinate(v)
			n.space.Snap(row)
			count++
		}
	}
	for step := 1.0; step < values.high-values.low; step *= 2 {
		put(value-step, value-step > values.low)
		put(value+step, value+step < values.high)
	}
	put(values.low, value != values.low)
	put(values.high, value != values.high)
	return count
}
