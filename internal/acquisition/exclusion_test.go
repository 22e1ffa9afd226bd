package acquisition_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// linear is a function with these slopes.
type linear []float64

func (l linear) Value(x []float64) float64 {
	sum := 0.0
	for i, slope := range l {
		sum += slope * x[i]
	}
	return sum
}

func (l linear) Gradient(grad, x []float64) float64 {
	copy(grad, l)
	return l.Value(x)
}

func outsideSpace(t testing.TB) *task.Space {
	t.Helper()
	space, err := task.NewSpace([]task.Parameter{
		{Name: "x", Kind: task.Float, Low: 0, High: 1},
		{Name: "y", Kind: task.Float, Low: 1, High: 10, Scale: task.Log},
		{Name: "n", Kind: task.Int, Low: 1, High: 5},
		{Name: "c", Kind: task.Categorical, Choices: []string{"a", "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// Every point has the value of a place outside that differs in one float at most,
// one by one and in batches; where boxes leave no such place, it is -Inf.
func TestOutsideHasTheValueOfAPlaceOutside(t *testing.T) {
	space := outsideSpace(t)
	f := linear{1, -2, 0.5, 0.25, -0.25}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		radius := rapid.SampledFrom([]float64{1e-12, 0.01, 0.3, 0.9}).Draw(t, "radius")
		rng := random.SeedOf(seed).Stream("points", 0)
		var boxes []acquisition.Box
		for range rapid.IntRange(0, 30).Draw(t, "boxes") {
			boxes = append(boxes, acquisition.Box{Centre: acquisition.Sample(space, rng), Radius: radius})
		}
		g := acquisition.NewOutside(f, space, boxes)
		var flat, want []float64
		for i := range 20 {
			x := acquisition.Sample(space, rng)
			if i < len(boxes) {
				copy(x, boxes[i].Centre)
			}
			flat = append(flat, x...)
			left := slices.Clone(x)
			moved, ok := g.Leave(left)
			inside := func(p []float64) bool {
				return slices.ContainsFunc(boxes, func(b acquisition.Box) bool { return b.Contains(p) })
			}
			value := math.Inf(-1)
			if ok {
				value = f.Value(left)
				if inside(left) || inside(x) != (moved >= 0) {
					t.Fatalf("%v became %v, still inside", x, left)
				}
				for j := range x {
					if (x[j] != left[j]) != (j == moved) || j == moved && (j > 1 || left[j] < 0 || left[j] > 1) {
						t.Fatalf("%v became %v, moved %d", x, left, moved)
					}
				}
			} else if !inside(x) {
				t.Fatalf("%v is outside", x)
			}
			want = append(want, value)
			grad, before := make([]float64, len(x)), slices.Clone(x)
			if got := g.Value(x); got != value || g.Gradient(grad, x) != value || !slices.Equal(x, before) {
				t.Fatalf("%v: %g, wanted %g", x, got, value)
			}
			if ok && moved >= 0 && grad[moved] != 0 {
				t.Fatalf("%v: the gradient points along coordinate %d, which the box decides", x, moved)
			}
		}
		got := make([]float64, len(want))
		g.Values(got, flat)
		if !slices.Equal(got, want) {
			t.Fatalf("in a batch %v, one by one %v", got, want)
		}
	})
}

// The best place outside a box in the corner lies on the face where that costs
// least, and none of a grid outside is better.
func TestMaximumOutsideABox(t *testing.T) {
	space := outsideSpace(t)
	f := linear{-1, -0.5, 0.25, 1, -1}
	corner := []float64{0, 0, 0.9, 1, 0}
	for _, radius := range []float64{0.02, 0.2} {
		g := acquisition.NewOutside(f, space, []acquisition.Box{{Centre: corner, Radius: radius}})
		x, _, _ := acquisition.Maximizer{Space: space}.Maximize(t.Context(), g, [][]float64{corner}, random.SeedOf(1).Stream("t", 0))
		if _, ok := g.Leave(x); !ok {
			t.Fatal("no place outside")
		}
		want := f.Value(corner) - 0.5*radius
		if radius == 0.2 { // an int one step less costs 0.25·0.2
			want = f.Value(corner) - 0.25*0.2
		}
		if got := f.Value(x); math.Abs(got-want) > 1e-6 {
			t.Errorf("radius %g: %v has %g, wanted %g", radius, x, got, want)
		}
	}
}

// An exit along an inactive float would be the same design again.
func TestOutsideLeavesByActiveFloatsToFeasibleDesigns(t *testing.T) {
	on := func(choice string) []task.Condition {
		return []task.Condition{task.Equals("c", task.ChoiceValue(choice))}
	}
	space, err := task.NewSpace([]task.Parameter{
		{Name: "c", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "x", Kind: task.Float, Low: 0, High: 1, When: on("a")},
		{Name: "y", Kind: task.Float, Low: 0, High: 1, When: on("b")},
		{Name: "z", Kind: task.Float, Low: 0, High: 1},
	}, "z >= 0.3")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := space.Encode(space.Decode(rapid.SliceOfN(rapid.Float64Range(0, 1), space.Dim(), space.Dim()).Draw(t, "u")))
		radius := rapid.Float64Range(0.001, 0.1).Draw(t, "radius")
		f := acquisition.NewOutside(linear{1, 1, 1, 1, 1}, space, []acquisition.Box{{Centre: slices.Clone(x), Radius: radius}})
		tried := space.Decode(x)
		moved, ok := f.Leave(x)
		if !ok || moved < 0 {
			t.Fatalf("%v was not left", tried)
		}
		feasible := space.Settle(x)
		if design := space.Decode(x); !feasible || design.Equal(tried) {
			t.Fatalf("%v became %v, feasible %v; expected another feasible design", tried, design, feasible)
		}
	})
}
