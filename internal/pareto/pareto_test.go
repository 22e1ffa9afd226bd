package pareto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// drawn returns points of a coarse grid, with ties and duplicates, or of the cube. Some are below
// the reference, which is the origin.
func drawn(rng *rand.Rand, count, objectives int) [][]float64 {
	levels := rng.IntN(8) // 0: no grid
	points := make([][]float64, count)
	for i := range points {
		points[i] = make([]float64, objectives)
		for k := range points[i] {
			points[i][k] = rng.Float64()*1.2 - 0.2
			if levels > 0 {
				points[i][k] = math.Round(points[i][k]*float64(levels)) / float64(levels)
			}
		}
		if i > 0 && rng.IntN(10) == 0 {
			points[i] = slices.Clone(points[i-1])
		}
	}
	return points
}

// cellSum sums the volumes of the cells of the grid of all coordinates that lie below a point.
func cellSum(points [][]float64, reference []float64) float64 {
	objectives := len(reference)
	axes := make([][]float64, objectives)
	for k := range axes {
		axes[k] = []float64{reference[k]}
		for _, p := range points {
			if p[k] > reference[k] {
				axes[k] = append(axes[k], p[k])
			}
		}
		slices.Sort(axes[k])
		axes[k] = slices.Compact(axes[k])
	}
	sum, corner := 0.0, make([]float64, objectives)
	var visit func(k int, volume float64)
	visit = func(k int, volume float64) {
		if k == objectives {
			if slices.ContainsFunc(points, func(p []float64) bool { return covers(p, corner) }) {
				sum += volume
			}
			return
		}
		for i := 1; i < len(axes[k]); i++ {
			corner[k] = axes[k][i]
			visit(k+1, volume*(axes[k][i]-axes[k][i-1]))
		}
	}
	visit(0, 1)
	return sum
}

// The front agrees with its definition, and dominance with that of a pair.
func TestFrontIsTheDefinition(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	for range 2000 {
		points := drawn(rng, rng.IntN(30), 1+rng.IntN(4))
		var want []int
		for i, p := range points {
			dominated := slices.ContainsFunc(points, func(q []float64) bool { return Dominates(q, p) })
			earlier := slices.ContainsFunc(points[:i], func(q []float64) bool { return slices.Equal(q, p) })
			if !dominated && !earlier {
				want = append(want, i)
			}
		}
		if got := Front(points); !slices.Equal(got, want) {
			t.Fatalf("front of %v is %v; expected %v", points, got, want)
		}
	}
}

// Over 1,000 fronts of 1 to 5 objectives, of which about a hundred have 5.
func TestHypervolumeIsTheSumOfCells(t *testing.T) {
	rng := random.SeedOf(2).Stream("t", 0)
	for i := range 1000 {
		objectives := 1 + i%4
		if i%10 == 9 {
			objectives = 5
		}
		most := []int{0, 40, 30, 12, 9, 6}[objectives]
		points, reference := drawn(rng, rng.IntN(most), objectives), make([]float64, objectives)
		before := slices.Clone(points)
		got, want := Hypervolume(points, reference), cellSum(points, reference)
		if math.Abs(got-want) > 1e-10 {
			t.Fatalf("hypervolume of %v is %.15g; expected %.15g", points, got, want)
		}
		if !slices.EqualFunc(points, before, slices.Equal[[]float64]) {
			t.Fatal("the points have changed")
		}
	}
}

// The order of points and objectives does not matter, and a scale multiplies.
func TestHypervolumeOfSixObjectives(t *testing.T) {
	rng := random.SeedOf(3).Stream("t", 0)
	for range 20 {
		points, reference := drawn(rng, 12, MaxObjectives), slices.Repeat([]float64{-0.3}, MaxObjectives)
		want := Hypervolume(points, reference)
		rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		order := rng.Perm(MaxObjectives)
		turned := make([][]float64, len(points))
		for i, p := range points {
			turned[i] = make([]float64, MaxObjectives)
			for k, from := range order {
				turned[i][k] = 2 * p[from]
			}
		}
		got := Hypervolume(turned, slices.Repeat([]float64{-0.6}, MaxObjectives)) / 64
		if math.Abs(got-want) > 1e-12*want {
			t.Fatalf("hypervolume %.15g in another order; expected %.15g", got, want)
		}
	}
}

// The boxes are disjoint, and clipped at 2 they fill all of the cube that the points do not
// dominate.
func checkBoxes(t rapid.TB, points [][]float64, reference []float64) {
	t.Helper()
	boxes, objectives := Boxes(points, reference), len(reference)
	const top = 2.0
	free, whole := 0.0, 1.0
	for k := range objectives {
		whole *= top - reference[k]
	}
	for i, b := range boxes {
		volume := 1.0
		for k := range objectives {
			if !(b.Lower[k] < b.Upper[k]) || b.Lower[k] < reference[k] {
				t.Fatalf("box %v of %v", b, points)
			}
			volume *= min(b.Upper[k], top) - b.Lower[k]
		}
		free += volume
		for _, other := range boxes[:i] {
			overlap := true
			for k := range objectives {
				overlap = overlap && max(b.Lower[k], other.Lower[k]) < min(b.Upper[k], other.Upper[k])
			}
			if overlap {
				t.Fatalf("boxes %v and %v of %v overlap", b, other, points)
			}
		}
		for _, p := range points {
			if exceeds(p, b.Lower) {
				t.Fatalf("%v dominates a part of %v", p, b)
			}
		}
	}
	if sum := free + Hypervolume(points, reference); math.Abs(sum-whole) > 1e-10*whole {
		t.Fatalf("boxes and hypervolume of %v sum to %.15g; expected %.15g", points, sum, whole)
	}
	size := len(above(points, reference))
	if most := size + 1; objectives == 2 && len(boxes) != most {
		t.Fatalf("%d boxes for two objectives and %d points; expected %d", len(boxes), size, most)
	}
	if most := 2*size + 1; objectives == 3 && len(boxes) > most {
		t.Fatalf("%d boxes for three objectives and %d points; expected at most %d", len(boxes), size, most)
	}
}

func TestBoxesAndHypervolumeFillTheSpace(t *testing.T) {
	rng := random.SeedOf(4).Stream("t", 0)
	for i := range 1000 {
		objectives := 1 + i%4
		most := []int{0, 40, 40, 25, 12}[objectives]
		checkBoxes(t, drawn(rng, rng.IntN(most), objectives), make([]float64, objectives))
	}
}

func TestBoxesOfAPoint(t *testing.T) {
	boxes := Boxes([][]float64{{1, 2}}, []float64{0, 0})
	inf := math.Inf(1)
	want := []Box{{[]float64{0, 2}, []float64{inf, inf}}, {[]float64{1, 0}, []float64{inf, 2}}}
	equal := func(a, b Box) bool { return slices.Equal(a.Lower, b.Lower) && slices.Equal(a.Upper, b.Upper) }
	if !slices.EqualFunc(boxes, want, equal) {
		t.Errorf("boxes %v; expected %v", boxes, want)
	}
}

func TestReference(t *testing.T) {
	for name, c := range map[string]struct {
		points [][]float64
		want   []float64
	}{
		"front":         {[][]float64{{0, 10}, {1, 5}, {-7, -7}}, []float64{-0.1, 4.5}},
		"a point":       {[][]float64{{3, -4}}, []float64{2.7, -4.4}},
		"zero":          {[][]float64{{0, 2}}, []float64{-0.1, 1.8}},
		"a best point":  {[][]float64{{3, 4}, {1, 4}}, []float64{2.8, 3.6}},
		"equal":         {[][]float64{{5, 5}, {5, 5}}, []float64{4.5, 4.5}},
		"one objective": {[][]float64{{3}, {1}}, []float64{2.8}},
	} {
		got := Reference(c.points)
		for k := range got {
			if math.Abs(got[k]-c.want[k]) > 1e-12 {
				t.Errorf("%s: reference %v; expected %v", name, got, c.want)
			}
		}
	}
}

// Each point of a front that is not convex is the best for some weights, and a dominated one for
// none.
func TestChebyshevReachesTheFront(t *testing.T) {
	points := [][]float64{{0, 1}, {0.3, 0.45}, {0.45, 0.3}, {1, 0}, {0.3, 0.4}, {0, 0}}
	rng, best := random.SeedOf(5).Stream("t", 0), map[int]bool{}
	for range 500 {
		w := Weights(2, rng)
		values := Chebyshev(points, w)
		best[slices.Index(values, slices.Max(values))] = true
	}
	for i := range points {
		if want := slices.Contains(Front(points), i); best[i] != want {
			t.Errorf("point %d is the best for some weights: %t; expected %t", i, best[i], want)
		}
	}
}

// By hand: distances (0.5, 0.75) of range, weights 0.4 and 0.6.
func TestChebyshevByHand(t *testing.T) {
	got := Chebyshev([][]float64{{0, 8}, {2, 0}, {1, 2}}, []float64{0.4, 0.6})
	want := -(0.45 + 0.05*(0.2+0.45))
	if math.Abs(got[2]-want) > 1e-12 {
		t.Errorf("value %g; expected %g", got[2], want)
	}
}

// A first weight of three is Beta(1, 2): mean 1/3, and P(w > 1/2) = 1/4. With 20,000 draws five
// standard errors are 0.0083 and 0.0153.
func TestWeightsAreUniformOnTheSimplex(t *testing.T) {
	rng := random.SeedOf(6).Stream("t", 0)
	mean, large := 0.0, 0.0
	const count = 20000
	for range count {
		w := Weights(3, rng)
		if sum := w[0] + w[1] + w[2]; math.Abs(sum-1) > 1e-12 || min(w[0], w[1], w[2]) < 0 {
			t.Fatalf("weights %v", w)
		}
		mean += w[0] / count
		if w[0] > 0.5 {
			large += 1.0 / count
		}
	}
	if math.Abs(mean-1.0/3) > 0.0083 || math.Abs(large-0.25) > 0.0153 {
		t.Errorf("mean %g and P(w > 1/2) %g; expected 1/3 and 1/4", mean, large)
	}
}

func TestWrongPointsPanic(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]func(){
		"NaN in a front":         func() { Front([][]float64{{1, nan}}) },
		"NaN in a pair":          func() { Dominates([]float64{1}, []float64{nan}) },
		"lengths":                func() { Front([][]float64{{1, 2}, {1}}) },
		"no objectives":          func() { Front([][]float64{{}}) },
		"another reference":      func() { Hypervolume([][]float64{{1, 2}}, []float64{0}) },
		"NaN in a reference":     func() { Boxes(nil, []float64{0, nan}) },
		"seven objectives":       func() { Hypervolume(nil, make([]float64, 7)) },
		"boxes of seven":         func() { Boxes(nil, make([]float64, 7)) },
		"reference of nothing":   func() { Reference(nil) },
		"infinite":               func() { Reference([][]float64{{1, inf}}) },
		"infinite in Chebyshev":  func() { Chebyshev([][]float64{{1, inf}}, []float64{0.5, 0.5}) },
		"negative weight":        func() { Chebyshev([][]float64{{1, 2}}, []float64{-1, 2}) },
		"number of the weights":  func() { Chebyshev([][]float64{{1, 2}}, []float64{1}) },
		"weights without number": func() { Chebyshev([][]float64{{1, 2}}, []float64{nan, 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// FuzzBoxes checks boxes, hypervolume and front of points with coordinates of a byte each.
func FuzzBoxes(f *testing.F) {
	f.Add(uint8(2), []byte{10, 200, 200, 10, 100, 100})
	f.Add(uint8(3), []byte{1, 2, 3, 3, 2, 1, 2, 2, 2, 0, 9, 9})
	f.Add(uint8(4), []byte{1, 2, 3, 4, 4, 3, 2, 1})
	f.Fuzz(func(t *testing.T, objectives uint8, data []byte) {
		m := 1 + int(objectives)%4
		var points [][]float64
		for part := range slices.Chunk(data[:min(len(data), 12*m)], m) {
			if len(part) < m {
				break
			}
			p := make([]float64, m)
			for k, b := range part {
				p[k] = float64(b)/128 - 0.5
			}
			points = append(points, p)
		}
		reference := make([]float64, m)
		checkBoxes(t, points, reference)
		if got, want := Hypervolume(points, reference), cellSum(points, reference); math.Abs(got-want) > 1e-10 {
			t.Fatalf("hypervolume of %v is %.15g; expected %.15g", points, got, want)
		}
	})
}

func BenchmarkBoxes(b *testing.B) {
	for _, objectives := range []int{2, 3, 4} {
		points := sphere(20, objectives)
		b.Run([]string{2: "2", 3: "3", 4: "4"}[objectives], func(b *testing.B) {
			for b.Loop() {
				Boxes(points, make([]float64, objectives))
			}
			b.ReportMetric(float64(len(Boxes(points, make([]float64, objectives)))), "boxes")
		})
	}
}

func BenchmarkHypervolume(b *testing.B) {
	for _, objectives := range []int{2, 3, 4, 6} {
		points := sphere(20, objectives)
		b.Run([]string{2: "2", 3: "3", 4: "4", 6: "6"}[objectives], func(b *testing.B) {
			for b.Loop() {
				Hypervolume(points, make([]float64, objectives))
			}
		})
	}
}

// sphere returns points of the unit sphere, of which none dominates another.
func sphere(count, objectives int) [][]float64 {
	rng := random.SeedOf(1).Stream("sphere", 0)
	points := make([][]float64, count)
	for i := range points {
		points[i] = make([]float64, objectives)
		length := 0.0
		for k := range points[i] {
			points[i][k] = math.Abs(rng.NormFloat64())
			length = math.Hypot(length, points[i][k])
		}
		for k := range points[i] {
			points[i][k] /= length
		}
	}
	return points
}
