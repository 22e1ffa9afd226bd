package density

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// scattered are encoded points around a centre, by normal steps in the numbers;
// a choice is another with this probability.
func scattered(spec *task.Task, count int, centre []float64, spread, astray float64, rng *rand.Rand) [][]float64 {
	l := optprior.NewLayout(spec.Space)
	points := make([][]float64, count)
	for i := range points {
		points[i] = slices.Clone(centre)
		for _, k := range l.Numbers {
			points[i][k] += spread * rng.NormFloat64()
		}
		for _, block := range l.Categories {
			if rng.Float64() < astray {
				part := points[i][block.Start : block.Start+block.Len]
				clear(part)
				part[rng.IntN(block.Len)] = 1
			}
		}
		spec.Space.Snap(points[i])
	}
	return points
}

func components(spec *task.Task, points [][]float64, most int, seed uint64) []protocol.Component {
	return fit(spec.Space, points, most, random.SeedOf(seed).Stream("clusters", 0))
}

// Modes eight spreads apart are found whatever the seed: the first centre lies in
// one, and the second falls into the other with more than 97 %, or gets there in
// the rounds that follow. A mean of 10 or more members is within 0.05 of the
// mode with more than 99.9 % in both coordinates.
func TestFitFindsTwoModes(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	for seed := range uint64(20) {
		rng := random.SeedOf(seed).Stream("points", 0)
		points := scattered(spec, 10, []float64{0.2, 0.3}, 0.05, 0, rng)
		points = append(points, scattered(spec, 22, []float64{0.8, 0.7}, 0.05, 0, rng)...)
		got := components(spec, points, 2, seed)
		if len(got) != 2 {
			t.Fatalf("seed %d: %d components", seed, len(got))
		}
		slices.SortFunc(got, func(a, b protocol.Component) int { return cmp.Compare(a.Weight, b.Weight) })
		for i, want := range []struct {
			weight, x, y float64
		}{{10. / 32, 0.2, 0.3}, {22. / 32, 0.8, 0.7}} {
			c := got[i]
			off := math.Max(math.Abs(c.Center.Coordinates[0]-want.x), math.Abs(c.Center.Coordinates[1]-want.y))
			if c.Weight != want.weight || off > 0.07 || c.Std < minFitSpread || c.Std > 0.08 {
				t.Errorf("seed %d: component %d is %+v, want weight %g around %g, %g", seed, i, c, want.weight, want.x, want.y)
			}
		}
	}
}

// Two choices are as good as two places.
func TestFitFindsTwoChoices(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	rng := random.SeedOf(1).Stream("points", 0)
	points := scattered(spec, 16, []float64{0.5, 0.5, 0.5, 1, 0, 0}, 0.05, 0, rng)
	points = append(points, scattered(spec, 16, []float64{0.5, 0.5, 0.5, 0, 0, 1}, 0.05, 0, rng)...)
	got := components(spec, points, 2, 1)
	if len(got) != 2 || got[0].Weight != 0.5 || got[0].Center.Choices[0]+got[1].Center.Choices[0] != 2 || got[0].Center.Choices[0] == 1 {
		t.Errorf("%+v", got)
	}
}

// Of 400 members the likeliest spread is within 8 % of the true one with more
// than 99 %, and the series has steps of 19 %.
func TestFittedSpread(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	for _, spread := range []float64{0.07, 0.15, 0.3} {
		// Around the middle and at an edge, where half of the normal is cut off: a
		// point that leaves the square is drawn again, as truncation has it.
		for _, at := range []float64{0.5, 0.02} {
			rng := random.SeedOf(1).Stream("points", 0)
			var points [][]float64
			for len(points) < 400 {
				x := []float64{at + spread*rng.NormFloat64(), at + spread*rng.NormFloat64()}
				if x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1 {
					points = append(points, x)
				}
			}
			if got := likeliestSpread(optprior.NewLayout(spec.Space), points, []float64{at, at}); got < spread/1.19 || got > spread*1.19 {
				t.Errorf("spread %g around %g has become %g", spread, at, got)
			}
		}
	}
	choices := newTask(t, "{name: c, type: categorical, choices: [a, b, c]}", "exact", "")
	narrow := scattered(choices, 100, []float64{1, 0, 0}, 0, 0, random.SeedOf(1).Stream("points", 0))
	wide := scattered(choices, 100, []float64{1, 0, 0}, 0, 0.6, random.SeedOf(1).Stream("points", 0))
	if a, b := components(choices, narrow, 1, 1)[0].Std, components(choices, wide, 1, 1)[0].Std; a != minFitSpread || b < 2*a {
		t.Errorf("one choice has spread %g, many have %g", a, b)
	}
}

func TestFitOfEqualPoints(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	x := []float64{0.25, 0.75, 0.5, 0, 1, 0}
	got := components(spec, [][]float64{x, x, x, x}, 5, 1)
	if len(got) != 1 || got[0].Weight != 1 || got[0].Std != minFitSpread || !slices.Equal(got[0].Center.Encoded(spec.Space), x) {
		t.Errorf("%+v", got)
	}
}

// Whatever the points, the fit can be sent, has no more components than asked
// for, and is the same for the same seed.
func TestFitOfAnything(t *testing.T) {
	spec := newTask(t, mixed, "exact", ", components: 16")
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("points", 0)
		var points [][]float64
		for range rapid.IntRange(1, 40).Draw(rt, "points") {
			if len(points) > 0 && rng.IntN(3) == 0 {
				points = append(points, points[rng.IntN(len(points))])
			} else {
				points = append(points, acquisition.Sample(spec.Space, rng))
			}
		}
		most := rapid.IntRange(1, protocol.MaxComponents).Draw(rt, "most")
		d := protocol.Density{Observations: 1, Components: components(spec, points, most, 1)}
		if len(d.Components) > most {
			rt.Fatalf("%d components of at most %d", len(d.Components), most)
		}
		payload, err := d.Encode(spec.Space)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := newSharing(spec).Decode(payload); err != nil {
			rt.Fatal(err)
		}
		if again := components(spec, points, most, 1); !reflect.DeepEqual(again, d.Components) {
			rt.Fatal("fitted twice, it differs")
		}
	})
}
