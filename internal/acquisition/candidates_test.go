package acquisition

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// In every coordinate 256 points leave no gap wider than 12/256 between
// neighbours: independent points almost surely do.
func TestHaltonIsEven(t *testing.T) {
	const count = 256
	for _, dim := range []int{1, 2, 6, 20, 100} {
		h := newHalton(dim, random.SeedOf(1).Stream("t", 0))
		columns := make([][]float64, dim)
		for range count {
			for k, u := range h.next() {
				if !(u >= 0 && u < 1) {
					t.Fatalf("coordinate %g", u)
				}
				columns[k] = append(columns[k], u)
			}
		}
		for k, column := range columns {
			slices.Sort(column)
			for i := range count - 1 {
				if gap := column[i+1] - column[i]; gap > 12.0/count {
					t.Errorf("%d coordinates: a gap of %g in coordinate %d", dim, gap, k)
				}
			}
		}
	}
}

// The plane shows whether coordinates fill it together: of 16 by 16 squares,
// 256 independent points leave 94 empty (standard deviation 5).
func TestHaltonFillsThePlane(t *testing.T) {
	h := newHalton(2, random.SeedOf(1).Stream("t", 0))
	filled := map[[2]int]bool{}
	for range 256 {
		u := h.next()
		filled[[2]int{int(16 * u[0]), int(16 * u[1])}] = true
	}
	if empty := 256 - len(filled); empty > 50 {
		t.Errorf("%d squares are empty", empty)
	}
}

func TestCandidatesAreDesigns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		var near [][]float64
		for i := range rapid.IntRange(0, 7).Draw(rt, "near") {
			near = append(near, Sample(space, seed.Stream("near", uint64(i))))
		}
		count := rapid.IntRange(1, 60).Draw(rt, "count")
		all, around := candidates(space, count, near, seed.Stream("c", 0))
		used := min(len(near), nearUsed)
		if len(all.values) != count+used || around < used || around > used+count/nearShare {
			rt.Fatalf("%d candidates, %d around near designs, from %d and %d near", len(all.values), around, count, len(near))
		}
		for i := range all.values {
			snapped := slices.Clone(all.row(i))
			space.Snap(snapped)
			if !slices.Equal(snapped, all.row(i)) {
				rt.Fatalf("candidate %v is no design", all.row(i))
			}
			if i < used && !slices.Equal(snapped, near[i]) {
				rt.Fatalf("near design %v became %v", near[i], snapped)
			}
		}
	})
}

// The best point starts the first search; the points around near designs, all
// higher than the others, start about an eighth.
func TestStartsFavourNearDesigns(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	all := newPoints(200, 1)
	for i := range all.values {
		all.values[i] = rng.NormFloat64()
		if i < 50 {
			all.values[i] += 5
		}
	}
	all.values[150] = 100
	chosen := starts(all, 50, 40, rng)
	around := 0
	for _, i := range chosen {
		if i < 50 {
			around++
		}
	}
	if len(chosen) != 40 || chosen[0] != 150 || around < 4 || around > 6 {
		t.Errorf("%d starts, the first is %d, %d near; want 40, 150 and about 5", len(chosen), chosen[0], around)
	}
	slices.Sort(chosen)
	if len(slices.Compact(chosen)) != 40 {
		t.Error("a start is chosen twice")
	}
}

// Values of -Inf, NaN (which score turns into -Inf) and +Inf do not confuse the
// selection.
func TestStartsWithInfiniteValues(t *testing.T) {
	all := newPoints(20, 1)
	for i := range all.values {
		all.values[i] = math.Inf(-1)
	}
	all.values[3], all.values[7] = math.Inf(1), 1
	chosen := starts(all, 0, 2, random.SeedOf(1).Stream("t", 0))
	if !slices.Equal(chosen, []int{3, 7}) {
		t.Errorf("starts %v, want the two usable points", chosen)
	}
}

// Choices take equal parts of a categorical's coordinate, and what else there is takes it as
// it is; listed designs are the nearest.
func TestPlaceMapsToDesigns(t *testing.T) {
	parameters := []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "n", Kind: task.Int, Low: 1, High: 4}, {Name: "c", Kind: task.Categorical, Choices: []string{"a", "b", "c"}}}
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	for choice, u := range []float64{0.3, 0.4, 0.9} {
		want := []float64{0.2, space.Place(1, 3), 0, 0, 0}
		want[2+choice] = 1
		if got := Place(space, []float64{0.2, 0.8, u}); !slices.Equal(got, want) {
			t.Errorf("%g: %v, want %v", u, got, want)
		}
	}
	row := []task.Value{task.FloatValue(0.75), task.IntValue(2), task.ChoiceValue("b")}
	listed, err := task.NewListed(parameters, [][]task.Value{row}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Place(listed, []float64{0.2, 0.8, 0}), []float64{0.75, space.Place(1, 1), 0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("listed: %v, want %v", got, want)
	}
}
