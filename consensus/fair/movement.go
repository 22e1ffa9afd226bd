package fair

import (
	"slices"

	"github.com/fbo-node/fbo/task"
)

// visit is an evaluation of a listed design. design is the design's index in the list.
type visit struct {
	design int
	value  *float64 // larger is better; nil if the evaluation has failed
}

// visits returns the visits of a party, in order.
func (c chooser) visits(b *book, party int) (all []visit) {
	for _, e := range b.entries[party] {
		if i, ok := c.task.Space.Listing().Index(c.task.Space.Decode(e.Point.Encoded(c.task.Space))); ok {
			all = append(all, visit{i, e.Value})
		}
	}
	return all
}

// choices returns, for each party, the encoded designs that it can evaluate next. It returns nil
// unless the task lists its designs.
func (c chooser) choices(b *book, parties []int) [][][]float64 {
	switch space := c.task.Space; {
	case space.Listing() == nil:
		return nil
	case c.task.MaxMoves == 0:
		return slices.Repeat([][][]float64{encodings(space, moves(c.task, nil))}, len(parties))
	default:
		all := make([][][]float64, len(parties))
		for i, party := range parties {
			all[i] = encodings(space, moves(c.task, c.visits(b, party)))
		}
		return all
	}
}

// moves returns the indices of the listed designs that a party with these visits can evaluate next.
//
// If the task limits moves (MaxMoves), the list is a graph. The party can then evaluate the
// unvisited designs within MaxMoves steps of its position. If there are none, the limit grows by
// one step at a time. If all reachable designs were visited, moves returns all of them (S21,
// appendix C.1).
func moves(t *task.Task, visits []visit) []int {
	listing := t.Space.Listing()
	if t.MaxMoves == 0 || len(visits) == 0 {
		all := make([]int, listing.Len())
		for i := range all {
			all[i] = i
		}
		return all
	}
	at := position(t, visits)
	var reached []int
	for steps := t.MaxMoves; ; steps++ {
		within := listing.Within(at, steps)
		fresh := slices.DeleteFunc(slices.Clone(within), func(i int) bool {
			return slices.ContainsFunc(visits, func(v visit) bool { return v.design == i })
		})
		if len(fresh) > 0 {
			return fresh
		}
		if len(within) == len(reached) { // no further designs are reachable
			return within
		}
		reached = within
	}
}

// position returns the index of the design from which the next move starts, given at least one
// visit. As long as there are no more visits than starting designs, it is the best design visited,
// the first one of several. Later it is the latest design (S21, appendix C.1).
func position(t *task.Task, visits []visit) int {
	best := visit{design: visits[len(visits)-1].design}
	if len(visits) > t.Strategy.InitialDesigns {
		return best.design
	}
	for _, v := range visits {
		if v.value != nil && (best.value == nil || *v.value > *best.value) {
			best = v
		}
	}
	return best.design
}

func encodings(space *task.Space, designs []int) [][]float64 {
	points := make([][]float64, len(designs))
	for i, design := range designs {
		points[i] = make([]float64, space.Dim())
		space.Listing().Encode(points[i], design)
	}
	return points
}
