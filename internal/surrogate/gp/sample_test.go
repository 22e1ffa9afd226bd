package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// noisyProblem are observations of a function of the process with lengthscale 0.3 per
// parameter, with noise of variance 0.01.
func noisyProblem(t, dim int, rng *rand.Rand) (spec Spec, x [][]float64, y []float64) {
	spec = separate(Matern52, dim)
	x = uniformPoints(t, dim, rng)
	y = priorDraw(spec, Hyperparameters{Lengthscales: slices.Repeat([]float64{0.3}, dim)}, x, rng)
	for i := range y {
		y[i] += 0.1 * rng.NormFloat64()
	}
	return spec, x, y
}

// The value without the gradient is that with it, and fails where that one does.
func TestLogDensityIsTheValueOfLogPosterior(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := Spec{Kernel: rapid.SampledFrom(kernels).Draw(rt, "kernel"), Groups: []int{0, 1, 1, 2}, Centred: rapid.Bool().Draw(rt, "centred")}
		x := uniformPoints(rapid.IntRange(1, 20).Draw(rt, "t"), 4, rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		e := newEvidence(spec, x, y)
		for range 3 { // with the scratch space that others have left
			h := Hyperparameters{Noise: 0.05 * math.Exp(rng.NormFloat64())}
			for range 3 {
				h.Lengthscales = append(h.Lengthscales, 0.5*math.Exp(rng.NormFloat64()))
			}
			got, err := e.logDensity(h)
			if err != nil {
				rt.Fatal(err)
			}
			if want, _, err := logPosterior(spec, x, y, h); err != nil || got != want {
				rt.Fatalf("%+v: %g without the gradient, %g with it, %v", h, got, want, err)
			}
		}
	})
	same := newEvidence(separate(SE, 1), [][]float64{{0.5}, {0.5}, {0.5}}, []float64{1, 2, 3})
	if value, err := same.logDensity(Hyperparameters{Lengthscales: []float64{1}}); !errors.Is(err, ErrNotPositiveDefinite) {
		t.Errorf("equal points without noise: %g, %v", value, err)
	}
}

// grid has the distributions of one lengthscale and of the noise, by the density that Fit
// maximises, over their logarithms.
type grid struct {
	edges [2][]float64 // of the cells
	below [2][]float64 // the probability below each edge
}

func gridOf(t *testing.T, spec Spec, x [][]float64, y []float64) (g grid) {
	t.Helper()
	const cells = 100
	lows, highs := [2]float64{math.Log(lengthscaleFloor), math.Log(NoiseFloor)}, [2]float64{math.Log(1e4), math.Log(50)}
	var mass [2][cells]float64
	total := 0.0
	e := newEvidence(spec, x, y)
	centre := func(k, i int) float64 { return lows[k] + (highs[k]-lows[k])*(float64(i)+0.5)/cells }
	for i := range cells {
		for j := range cells {
			value, err := e.logPosterior(make([]float64, 2), Hyperparameters{Lengthscales: []float64{math.Exp(centre(0, i))}, Noise: math.Exp(centre(1, j))})
			if err != nil {
				t.Fatal(err)
			}
			mass[0][i] += math.Exp(value)
			mass[1][j] += math.Exp(value)
			total += math.Exp(value)
		}
	}
	for k := range mass {
		sum := 0.0
		for i, m := range mass[k] {
			sum += m / total
			g.edges[k], g.below[k] = append(g.edges[k], lows[k]+(highs[k]-lows[k])*float64(i+1)/cells), append(g.below[k], sum)
		}
	}
	return g
}

// distances are the largest differences between the distributions of the draws and those of
// the grid, at its edges.
func (g grid) distances(draws []Hyperparameters) (largest [2]float64) {
	for k := range largest {
		for i, edge := range g.edges[k] {
			part := 0.0
			for _, h := range draws {
				if value := [2]float64{h.Lengthscales[0], h.Noise}[k]; math.Log(value) < edge {
					part += 1 / float64(len(draws))
				}
			}
			largest[k] = max(largest[k], math.Abs(part-g.below[k][i]))
		}
	}
	return largest
}

// The eighth draws of 400 chains are distributed as the density on a grid, wherever the
// chains start. They are independent, so that a right sampler exceeds the bound, by
// Kolmogorov's distribution, in 1 of 5,000 cases for each of six distributions. With the
// density of the parameters in place of that of their logarithms the distances are 0.13 to
// 0.6, where a slice is widened on one side alone 0.36 or more, and where its level is drawn
// half as deep 0.13 in three of them.
func TestSampleIsOfTheDensity(t *testing.T) {
	const chains, bound = 400, 0.11
	for _, c := range []struct {
		name         string
		observations int
		start        Hyperparameters
	}{
		{"prior mode", 12, priorMode(1)},
		{"long and noisy", 12, Hyperparameters{Lengthscales: []float64{5000}, Noise: 40}},
		{"below the floors", 1, Hyperparameters{Lengthscales: []float64{1e-3}, Noise: 1e-9}},
	} {
		spec, x, y := noisyProblem(c.observations, 1, random.SeedOf(7).Stream("t", 0))
		var draws []Hyperparameters
		for i := range uint64(chains) {
			all, err := Sample(t.Context(), spec, x, y, nil, c.start, 8, random.SeedOf(3).Stream("sample", i))
			if err != nil {
				t.Fatal(err)
			}
			draws = append(draws, all[7])
		}
		got := gridOf(t, spec, x, y).distances(draws)
		t.Logf("%s, %d observations: %.3f", c.name, c.observations, got)
		if max(got[0], got[1]) > bound {
			t.Errorf("%s, %d observations: distances of the lengthscale and the noise %.3g, at most %g", c.name, c.observations, got, bound)
		}
	}
}

// The draws stay above the floors of Fit, up to the rounding of a logarithm, also where the
// data speak for less, and one parameter does not stand still.
func TestSampleKeepsTheFloors(t *testing.T) {
	rng := random.SeedOf(2).Stream("t", 0)
	spec, x := separate(SE, 2), uniformPoints(30, 2, rng)
	var y []float64
	for _, row := range x { // no noise, and the finest structure in one direction
		y = append(y, math.Sin(300*row[0]))
	}
	all, err := Sample(t.Context(), spec, x, y, nil, Hyperparameters{Lengthscales: []float64{1e-9, 1}, Noise: 1e-12}, 50, rng)
	if err != nil {
		t.Fatal(err)
	}
	least, most := []float64{math.Inf(1), math.Inf(1), math.Inf(1)}, []float64{0, 0, 0}
	for _, h := range all {
		for k, v := range append(slices.Clone(h.Lengthscales), h.Noise) {
			least[k], most[k] = min(least[k], v), max(most[k], v)
		}
	}
	const rounding = 1 - 1e-12
	if least[0] < rounding*lengthscaleFloor || least[1] < rounding*lengthscaleFloor || least[2] < rounding*NoiseFloor {
		t.Errorf("draws go down to %v", least)
	}
	for k := range least {
		if !(most[k] > 1.1*least[k]) {
			t.Errorf("parameter %d stays from %g to %g", k, least[k], most[k])
		}
	}
}

// Draws are those of the arguments and the stream alone, and two draws differ.
func TestSampleIsRepeatable(t *testing.T) {
	spec, x, y := noisyProblem(15, 3, random.SeedOf(4).Stream("t", 0))
	start := Hyperparameters{Lengthscales: []float64{0.3, 1, 3}, Noise: 0.01}
	sample := func(count int, stream uint64) []Hyperparameters {
		all, err := Sample(t.Context(), spec, x, y, nil, start, count, random.SeedOf(5).Stream("sample", stream))
		if err != nil || len(all) != count {
			t.Fatalf("%d draws, %v", len(all), err)
		}
		return all
	}
	first := sample(6, 0)
	if again := sample(6, 0); !reflect.DeepEqual(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	if fewer := sample(4, 0); !reflect.DeepEqual(first[:4], fewer) {
		t.Errorf("of four draws %v, of six %v", fewer, first)
	}
	if other := sample(6, 1); reflect.DeepEqual(first, other) {
		t.Error("another stream gives the same draws")
	}
	for i, h := range first {
		if i > 0 && h.Equal(first[i-1]) || h.Equal(start) {
			t.Errorf("draw %d is the one before: %v", i, h)
		}
	}
	if start.Lengthscales[0] != 0.3 || start.Lengthscales[2] != 3 {
		t.Errorf("the start was altered: %v", start)
	}
	if len(sample(0, 0)) != 0 {
		t.Error("draws without a count")
	}
}

// Of more than 100 observations 100 enter, drawn as for a fit.
func TestSampleOfManyObservations(t *testing.T) {
	spec, x, y := noisyProblem(120, 1, random.SeedOf(4).Stream("t", 0))
	start := Hyperparameters{Lengthscales: []float64{0.3}, Noise: 0.01}
	rng, same := random.SeedOf(5).Stream("sample", 0), random.SeedOf(5).Stream("sample", 0)
	got, err := Sample(t.Context(), spec, x, y, nil, start, 1, rng)
	if err != nil {
		t.Fatal(err)
	}
	someX, someY := choose(x, y, 100, same)
	if len(someX) != 100 {
		t.Fatalf("%d are chosen", len(someX))
	}
	if want, err := Sample(t.Context(), spec, someX, someY, nil, start, 1, same); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, of the chosen ones %v, %v", got, want, err)
	}
}

func TestSampleEndsWithItsContext(t *testing.T) {
	spec, x, y := noisyProblem(20, 2, random.SeedOf(4).Stream("t", 0))
	start := priorMode(2)
	for _, looks := range []int{0, 1, 7, 47} { // of 2·3 to a draw
		ctx := &patience{Context: t.Context(), left: looks}
		if all, err := Sample(ctx, spec, x, y, nil, start, 8, random.SeedOf(5).Stream("sample", 0)); !errors.Is(err, context.Canceled) || all != nil {
			t.Errorf("after %d looks: %v, %v", looks, all, err)
		}
		if ctx.after > 1 {
			t.Errorf("after %d looks Sample looked %d times more", looks, ctx.after)
		}
	}
	ctx := &patience{Context: t.Context(), left: 48}
	if all, err := Sample(ctx, spec, x, y, nil, start, 8, random.SeedOf(5).Stream("sample", 0)); err != nil || len(all) != 8 {
		t.Errorf("after all looks: %v, %v", all, err)
	}
}

func TestSampleRefuses(t *testing.T) {
	spec, x, y := noisyProblem(5, 2, random.SeedOf(4).Stream("t", 0))
	good := priorMode(2)
	nan := slices.Clone(y)
	nan[3] = math.NaN()
	for name, sample := range map[string]func(*rand.Rand) ([]Hyperparameters, error){
		"no observations": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, nil, nil, nil, good, 1, rng)
		},
		"too few outputs": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, x, y[1:], nil, good, 1, rng)
		},
		"an output that is no number": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, x, nan, nil, good, 1, rng)
		},
		"points of another dimension": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, uniformPoints(5, 3, rng), y, nil, good, 1, rng)
		},
		"a kernel that there is not": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), Spec{Kernel: "cubic", Groups: []int{0, 1}}, x, y, nil, good, 1, rng)
		},
		"a start with a lengthscale too few": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, x, y, nil, priorMode(1), 1, rng)
		},
		"a start with a negative lengthscale": func(rng *rand.Rand) ([]Hyperparameters, error) {
			return Sample(t.Context(), spec, x, y, nil, Hyperparameters{Lengthscales: []float64{1, -1}, Noise: 0.1}, 1, rng)
		},
	} {
		if all, err := sample(random.SeedOf(1).Stream("sample", 0)); err == nil || all != nil {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}

// What the lone engine asks for before a design: eight draws of seven hyperparameters. Fit
// from scratch is beside it.
func BenchmarkSample(b *testing.B) {
	for _, observations := range []int{25, 50, 100, 300} {
		spec, x, y := noisyProblem(observations, 6, random.SeedOf(4).Stream("t", 0))
		start, err := Fit(b.Context(), spec, x, y, nil, random.SeedOf(1).Stream("fit", 0))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("sample/t=%d", observations), func(b *testing.B) {
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				if _, err := Sample(b.Context(), spec, x, y, nil, start, 8, random.SeedOf(5).Stream("sample", i)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("fit/t=%d", observations), func(b *testing.B) {
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				if _, err := Fit(b.Context(), spec, x, y, nil, random.SeedOf(5).Stream("fit", i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
