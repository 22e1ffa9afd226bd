package acquisition

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// listSome returns a space of some designs of another, at most so many.
func listSome(t interface{ Fatal(...any) }, box *task.Space, most int, seed random.Seed) *task.Space {
	rng := seed.Stream("list", 0)
	var rows [][]task.Value
	seen := map[string]bool{}
	for range most {
		if d := box.Decode(Sample(box, rng)); !seen[fmt.Sprint(box.Encode(d))] {
			seen[fmt.Sprint(box.Encode(d))] = true
			rows = append(rows, d.Values())
		}
	}
	space, err := task.NewListed(box.Parameters(), rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// Of listed designs the best one is found, for rough functions too, whatever is said of
// near ones.
func TestListedDesignsAreSearchedWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
		space := listSome(t, drawSpace(t), rapid.IntRange(1, 1200).Draw(t, "designs"), seed)
		f := wave(seed.Stream("f", 0), space.Dim(), rapid.Bool().Draw(t, "holes"))
		var near [][]float64
		if rapid.Bool().Draw(t, "near") {
			near = append(near, Sample(space, seed.Stream("near", 0)))
		}
		x, value, err := Maximizer{Space: space, Workers: rapid.IntRange(1, 3).Draw(t, "workers")}.Maximize(t.Context(), f, near, seed.Stream("m", 0))
		if err != nil {
			t.Fatal(err)
		}
		l := space.Listing()
		best := -1
		for i := range l.Len() {
			if at := finite(f.Value(space.Encode(l.Design(i)))); best < 0 || at > finite(f.Value(space.Encode(l.Design(best)))) {
				best = i
			}
		}
		if want := space.Encode(l.Design(best)); !slices.Equal(x, want) || finite(value) != finite(f.Value(want)) {
			t.Fatalf("%v with %g, want %v with %g", x, value, want, f.Value(want))
		}
	})
}

// More listed designs than a finite space may have to be enumerated.
func TestEveryDesignOfAListIsSearched(t *testing.T) {
	space := listSome(t, floats(t, 2), 20_000, random.SeedOf(3))
	l := space.Listing()
	if l.Len() <= maxEnumerated {
		t.Fatalf("%d designs are no long list", l.Len())
	}
	needle := space.Encode(l.Design(l.Len() - 5))
	f := analytic(func(x []float64) float64 {
		if slices.Equal(x, needle) {
			return 1
		}
		return 0
	})
	if x, value, _ := (Maximizer{Space: space}).Maximize(t.Context(), f, nil, random.SeedOf(1).Stream("t", 0)); value != 1 {
		t.Errorf("%v with %g, the needle has 1", x, value)
	}
}

// Over 6,000 samples each of 15 designs, which lie close together but for one, should be
// drawn 400 times, with standard deviation 19.3; five of them fail a right program once
// in 100,000 seeds, and drawing by the nearest of uniform points gives most to the one.
func TestSampleOfAListIsUniform(t *testing.T) {
	rows := [][]task.Value{{task.FloatValue(1)}}
	for i := range 14 {
		rows = append(rows, []task.Value{task.FloatValue(float64(i) / 100)})
	}
	space, err := task.NewListed([]task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	counts, rng := map[string]int{}, random.SeedOf(4).Stream("t", 0)
	for range 6000 {
		x := Sample(space, rng)
		if d := space.Decode(x); space.Check(d) == nil && slices.Equal(space.Encode(d), x) {
			counts[d.Key()]++
		}
	}
	for key, count := range counts {
		if count < 303 || count > 497 {
			t.Errorf("%s drawn %d times, want near 400", key, count)
		}
	}
	if len(counts) != 15 {
		t.Errorf("%d designs drawn, 15 are listed", len(counts))
	}
}

// Outside of boxes there is no way along a float: what it leads to is not listed.
func TestNobodyLeavesAListedDesign(t *testing.T) {
	space := listSome(t, floats(t, 2), 50, random.SeedOf(5))
	x := space.Encode(space.Listing().Design(0))
	o := NewOutside(analytic(func([]float64) float64 { return 1 }), space, []Box{{Centre: slices.Clone(x), Radius: 1e-12}})
	if moved, ok := o.Leave(x); ok || moved != -1 {
		t.Errorf("coordinate %d moved to %v", moved, x)
	}
}
