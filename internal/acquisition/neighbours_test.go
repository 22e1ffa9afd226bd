package acquisition

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

func encodeInt(space *task.Space, parameter int, value int64) float64 {
	values := space.Decode(make([]float64, space.Dim())).Values()
	values[parameter] = task.IntValue(value)
	design, err := space.NewDesign(values...)
	if err != nil {
		panic(err)
	}
	return space.Encode(design)[space.Blocks()[parameter].Start]
}

func TestNeighboursOfInt(t *testing.T) {
	space := mixed(t)
	n := newNeighbours(space)
	x := Sample(space, random.SeedOf(1).Stream("t", 0))
	x[1] = encodeInt(space, 1, 1000)
	rows := newPoints(n.most, space.Dim())
	var got []int64
	for i := range n.alternatives(rows, 1, x) {
		got = append(got, space.Decode(rows.row(i)).Int("n")-1000)
	}
	for _, step := range []int64{-1, 1, -2, 2, -512, 512, 1 << 19} {
		if !slices.Contains(got, step) {
			t.Errorf("no neighbour %d away: %v", step, got)
		}
	}
	if len(got) > 42 {
		t.Errorf("%d neighbours, documented bound 42", len(got))
	}
}

// Neighbours are different designs, none twice, that differ in one parameter,
// and every other choice of a categorical is among them.
func TestNeighboursDifferInOneParameter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		n := newNeighbours(space)
		x := Sample(space, random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("x", 0))
		rows, total := newPoints(n.most, space.Dim()), 0
		for _, parameter := range n.discrete {
			block := n.blocks[parameter]
			count := n.alternatives(rows, parameter, x)
			seen := map[string]bool{fmt.Sprint(x): true}
			for i := range count {
				row := rows.row(i)
				snapped := slices.Clone(row)
				space.Snap(snapped)
				outside := slices.Equal(row[:block.Start], x[:block.Start]) &&
					slices.Equal(row[block.Start+block.Len:], x[block.Start+block.Len:])
				if !slices.Equal(row, snapped) || !outside || seen[fmt.Sprint(row)] {
					rt.Fatalf("parameter %d of %v: neighbour %v", parameter, x, row)
				}
				seen[fmt.Sprint(row)] = true
			}
			if block.Kind == task.Categorical && count != block.Len-1 || count < 1 {
				rt.Fatalf("parameter %d has %d neighbours", parameter, count)
			}
			total += count
		}
		if total > n.total {
			rt.Fatalf("%d neighbours, at most %d expected", total, n.total)
		}
	})
}

// No single move leads from the trap to the top: two categories must change at
// once, among ten in which nothing else counts.
func TestMaximizeChangesTwoCategoriesAtOnce(t *testing.T) {
	var parameters []task.Parameter
	for i := range 10 {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("c%d", i), Kind: task.Categorical, Choices: []string{"a", "b", "c"}})
	}
	space := newSpace(t, parameters...)
	f := analytic(func(x []float64) float64 {
		wrong := 2 - x[2*3+1] - x[7*3+2]
		return []float64{2, 0, 1}[int(wrong)]
	})
	x := make([]float64, space.Dim())
	for i := range 10 {
		x[i*3] = 1
	}
	s := newSearch(newNeighbours(space), x, f.Value(x))
	s.finish(t.Context(), f)
	if s.value() != 1 {
		t.Fatalf("single moves lead to %g; the test wants a trap of 1", s.value())
	}
	s.escape(t.Context(), f, random.SeedOf(1).Stream("t", 0))
	if s.value() != 2 {
		t.Errorf("pairs of moves lead to %g, want 2", s.value())
	}
}

// Every design of a finite space is evaluated once.
func TestEnumerateVisitsAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		count, finite := space.Finite()
		if !finite || count > maxEnumerated {
			rt.Skip("not enumerated")
		}
		seen := map[string]int{}
		f := analytic(func(x []float64) float64 {
			seen[space.Decode(x).Key()]++
			return 0
		})
		x, _, _ := enumerate(t.Context(), space.Dim(), count, space.Combination, f, 1)
		if best := space.Decode(x).Key(); seen[best] != 2 { // its value is asked for again
			rt.Fatalf("%s evaluated %d times", best, seen[best])
		}
		if len(seen) != count {
			rt.Fatalf("%d designs evaluated, the space has %d", len(seen), count)
		}
	})
}
