package coarsen

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const plane = "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}"

// kinds are one parameter of each kind.
var kinds = []string{
	"{name: a, type: float, low: -3, high: 9}",
	"{name: b, type: float, low: 0.001, high: 10, scale: log}",
	"{name: c, type: float, low: 0, high: 1, step: 0.3}",
	"{name: d, type: float, choices: [1, 2.5, 100]}",
	"{name: e, type: int, low: 1, high: 2}",
	"{name: f, type: int, low: 1, high: 1000, scale: log}",
	"{name: g, type: int, low: 0, high: 9, step: 3}",
	"{name: h, type: int, choices: [1, 2, 64]}",
	"{name: i, type: categorical, choices: [red, green, blue]}",
	"{name: j, type: bool}",
}

func newTask(t fbotest.TB, name, parameters string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", fmt.Appendf(nil,
		"name: %s\ngoal: minimize\nparameters: [%s]\n", name, parameters), []task.StrategyType{{Name: "some"}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func newGrid(t fbotest.TB, n int, spec *task.Task) *Grid {
	t.Helper()
	g, err := New(fbotest.Key(t, n), spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func pointsOf(spec *task.Task, count int, seed uint64) []protocol.Point {
	rng := random.SeedOf(seed).Stream("points", 0)
	points := make([]protocol.Point, count)
	for i := range points {
		points[i] = protocol.PointOf(spec.Space, spec.Space.Decode(acquisition.Sample(spec.Space, rng)))
	}
	return points
}

// A number is said to within half a cell, and at the edge no worse. What is said is one of
// few numbers, a cell apart but at the edge: at most four on an interval not three cells
// long.
func TestNumbersAreSaidToWithinHalfACell(t *testing.T) {
	const rounding = 1e-7
	spec := newTask(t, "a", plane)
	for key := range 100 {
		g := newGrid(t, key, spec)
		said := []map[float64]bool{{}, {}}
		for _, p := range append(pointsOf(spec, 200, uint64(key)), protocol.Point{Coordinates: []float64{0, 1}}) {
			for i, v := range g.Coarse(p).Coordinates {
				if d := math.Abs(v - p.Coordinates[i]); d > Cell/2+rounding {
					t.Fatalf("%v is said as %v", p.Coordinates[i], v)
				}
				said[i][v] = true
			}
		}
		for i := range said {
			if n := len(said[i]); n < 3 || n > 4 {
				t.Errorf("%d values are said", n)
			}
			for v := range said[i] {
				for w := range said[i] {
					apart := math.Abs(v-w) / Cell
					if inside := min(v, w) > 0 && max(v, w) < 1; inside && math.Abs(apart-math.Round(apart)) > 1e-6 {
						t.Errorf("%v and %v are said, %v cells apart", v, w, apart)
					}
				}
			}
		}
	}
}

// Where two numbers lie in their cells is uniform over keys, and one says nothing of the
// other: chi-squared over 5 × 5 parts of equal size with 24 degrees of freedom, whose
// 99.9 % point is 51.2. A density of 1.2 on one half of the cells and 0.8 on the other adds
// 160 to its mean for 4000 keys, and would be found all but surely.
func TestPlacesInCellsAreUniformOverKeys(t *testing.T) {
	const parts, keys = 5, 4000
	spec := newTask(t, "a", plane)
	for _, p := range [][]float64{{0.5, 0.5}, {0.3, 0.62}} { // middles of their cells are inside of the cube
		var count [parts][parts]float64
		var of [2]int
		for key := range keys {
			for i, v := range newGrid(t, key, spec).Coarse(protocol.Point{Coordinates: p}).Coordinates {
				of[i] = min(max(int(parts*((p[i]-v)/Cell+0.5)), 0), parts-1)
			}
			count[of[0]][of[1]]++
		}
		const expected = float64(keys) / parts / parts
		chi := 0.0
		for _, row := range count {
			for _, n := range row {
				chi += (n - expected) * (n - expected) / expected
			}
		}
		if chi > 51.2 {
			t.Errorf("%v: chi-squared %.1f: %v", p, chi, count)
		}
	}
}

// The deviation of a number from the middle of its cell is the one that receivers widen by:
// over 4000 keys its square is within 3.5 standard errors of 1.4 %.
func TestCellDeviation(t *testing.T) {
	const keys = 4000
	for _, parameters := range []string{plane, "{name: x, type: float, low: 0, high: 1.3}, {name: y, type: float, low: 1, high: 1000, scale: log}"} {
		spec := newTask(t, "a", parameters)
		sum := 0.0
		for key := range keys {
			for _, v := range newGrid(t, key, spec).Coarse(protocol.Point{Coordinates: []float64{0.5, 0.5}}).Coordinates {
				sum += (v - 0.5) * (v - 0.5) / 2 / keys
			}
		}
		deviation := newGrid(t, 1, spec).Deviation()
		if r := sum / deviation / deviation; math.Abs(r-1) > 0.035 {
			t.Errorf("%s: the square of the deviation is %.3f of what it should be", parameters, r)
		}
	}
}

// The same data under another name of the task say no more, and another key another grid.
func TestGridFollowsFromTheKey(t *testing.T) {
	all := strings.Join(kinds, ", ")
	spec := newTask(t, "a", all)
	points := pointsOf(spec, 50, 1)
	said := func(g *Grid) (coarse []protocol.Point) {
		for _, p := range points {
			coarse = append(coarse, g.Coarse(p))
		}
		return coarse
	}
	first := said(newGrid(t, 1, spec))
	if !reflect.DeepEqual(said(newGrid(t, 1, newTask(t, "b", all))), first) {
		t.Error("the same key gives another grid for another name of the task")
	}
	if said(newGrid(t, 2, spec))[0].Coordinates[0] == first[0].Coordinates[0] {
		t.Error("another key has the same grid")
	}
}

// A choice becomes another one with probability 1/4, and each other one with the same
// probability: over 4000 keys each part is within 4 standard errors, of 0.7 % at most, so
// that a probability of 0.2 or 0.3 would be found all but surely. What a choice becomes is
// independent of what other choices and other parameters become.
func TestCoarseChoicesMoveWithProbability(t *testing.T) {
	const keys = 4000
	spec := newTask(t, "a", "{name: c, type: categorical, choices: [red, green, blue]}, {name: b, type: bool}, {name: d, type: categorical, choices: [1, 2.5, 3, 4]}")
	lengths := []int{3, 2, 4}
	parts := map[string]float64{}
	for key := range keys {
		g := newGrid(t, key, spec)
		for k, n := range lengths {
			for choice := range n {
				p := protocol.Point{Choices: []int{0, 0, 0}}
				p.Choices[k] = choice
				parts[fmt.Sprintf("parameter %d: %d becomes %d", k, choice, g.Coarse(p).Choices[k])] += 1. / keys
			}
		}
		first, second := g.Coarse(protocol.Point{Choices: []int{0, 0, 0}}).Choices, g.Coarse(protocol.Point{Choices: []int{1, 1, 1}}).Choices
		if first[0] != 0 && first[1] != 0 {
			parts["two parameters"] += 1. / keys
		}
		if first[0] != 0 && second[0] != 1 {
			parts["two choices"] += 1. / keys
		}
	}
	check := func(what string, want float64) {
		if got := parts[what]; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/keys) {
			t.Errorf("%s: %.3f of the keys, want %.3f", what, got, want)
		}
	}
	for k, n := range lengths {
		for choice := range n {
			for to := range n {
				want := OtherChoice / float64(n-1)
				if to == choice {
					want = 1 - OtherChoice
				}
				check(fmt.Sprintf("parameter %d: %d becomes %d", k, choice, to), want)
			}
		}
	}
	check("two parameters", OtherChoice*OtherChoice)
	check("two choices", OtherChoice*OtherChoice)
}

func TestNilGridChangesNothing(t *testing.T) {
	spec := newTask(t, "a", strings.Join(kinds, ", "))
	for _, p := range pointsOf(spec, 20, 1) {
		if got := (*Grid)(nil).Coarse(p); !reflect.DeepEqual(got, p) {
			t.Errorf("without a grid %v becomes %v", p, got)
		}
	}
}

// What is said is a point of the space for all receivers, arrives as it was, and the point
// it was made of is left alone.
func TestCoarsePointsAreOfTheSpace(t *testing.T) {
	rng := random.SeedOf(1).Stream("spaces", 0)
	for i := range 300 {
		var parameters []string
		for _, kind := range kinds {
			if rng.IntN(2) == 0 {
				parameters = append(parameters, kind)
			}
		}
		if len(parameters) == 0 {
			continue
		}
		spec := newTask(t, "a", strings.Join(parameters, ", "))
		g := newGrid(t, i, spec)
		for j, p := range pointsOf(spec, 20, uint64(i)) {
			coarse := g.Coarse(p)
			payload, err := protocol.Density{Observations: 1, Components: []protocol.Component{{Weight: 1, Std: 0.5, Center: coarse}}}.Encode(spec.Space)
			if err != nil {
				t.Fatalf("%v: %v", parameters, err)
			}
			d, err := protocol.DecodeDensity(payload, spec.Space)
			if err != nil {
				t.Fatalf("%v: %v", parameters, err)
			}
			if got := d.Components[0].Center; !reflect.DeepEqual(got, coarse) {
				t.Fatalf("%v: %v arrives as %v", parameters, coarse, got)
			}
			if again := pointsOf(spec, 20, uint64(i))[j]; !reflect.DeepEqual(again, p) {
				t.Fatalf("%v: the point itself became %v", parameters, p)
			}
		}
	}
}
