package rff

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

// Rounding in the rows of a block leaves less than 1e-9 of a cosine.
func TestOrthogonalRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dim := rapid.IntRange(1, 12).Draw(rt, "dim")
		count := rapid.IntRange(1, 40).Draw(rt, "count")
		name := rapid.SampledFrom(kernels).Draw(rt, "kernel")
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		rows := orthogonalRows(name, count, dim, &normalSource{rng: seed.Stream("t", 0)})
		if len(rows) != count*dim {
			rt.Fatalf("%d numbers for %d rows of %d", len(rows), count, dim)
		}
		for i := range count {
			for j := i / dim * dim; j < i; j++ {
				a, b := rows[i*dim:(i+1)*dim], rows[j*dim:(j+1)*dim]
				if cosine := linalg.Dot(a, b) / math.Sqrt(linalg.Dot(a, a)*linalg.Dot(b, b)); math.Abs(cosine) > 1e-9 {
					rt.Fatalf("rows %d and %d have the cosine %g", i, j, cosine)
				}
			}
		}
	})
}

// The squared lengths of SE rows have mean d: within 4.5 standard errors,
// sqrt(2d/count) each.
func TestOrthogonalRowsHaveTheRightLength(t *testing.T) {
	const dim, count = 7, 7000
	rows := orthogonalRows(SE, count, dim, &normalSource{rng: random.SeedOf(3).Stream("t", 0)})
	if got := linalg.Dot(rows, rows) / count; math.Abs(got-dim) > 4.5*math.Sqrt(2*dim/float64(count)) {
		t.Errorf("mean squared length %g, want %d", got, dim)
	}
}

// Among base^j elements in a row every stratum of width base^-j has one.
func TestScrambledIsStratified(t *testing.T) {
	for _, base := range []int{2, 3, 5, 23} {
		column := make([]float64, 600)
		scrambled(column, base, random.SeedOf(5).Stream("t", uint64(base)))
		for width := base; width <= len(column); width *= base {
			seen := make([]bool, width)
			for _, u := range column[:width] {
				if !(u > 0 && u < 1) {
					t.Fatalf("base %d: %g", base, u)
				}
				seen[int(u*float64(width))] = true
			}
			if slices.Contains(seen, false) {
				t.Errorf("base %d: a stratum of width 1/%d is empty", base, width)
			}
		}
	}
}

func TestPermutationHasEveryNumber(t *testing.T) {
	rng := random.SeedOf(6).Stream("t", 0)
	for n := range 20 {
		p := permutation(n, rng)
		slices.Sort(p)
		for i, v := range p {
			if i != v {
				t.Fatalf("%d: sorted %v", n, p)
			}
		}
	}
}

func TestPrimesUpToTen(t *testing.T) {
	if got := primes(10); !slices.Equal(got, []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}) {
		t.Error(got)
	}
}

func TestNormalQuantile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := rapid.Float64Range(1e-300, 0.5).Draw(rt, "u")
		x := normalQuantile(u)
		if got := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(got-u) > 1e-13*u*max(1, x*x) {
			rt.Fatalf("quantile of %g is %g, whose probability is %g", u, x, got)
		}
		if v := 1 - u; v < 1 && math.Abs(normalQuantile(v)+normalQuantile(1-v)) > 1e-12 {
			rt.Fatalf("quantiles of %g and %g are %g and %g", v, 1-v, normalQuantile(v), normalQuantile(1-v))
		}
	})
}

// The distribution of chi with five degrees in closed form, at s = sqrt(5) x:
// erf(s/sqrt 2) - sqrt(2/pi) exp(-s²/2) (s + s³/3).
func TestStudentQuantile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := rapid.Float64Range(1e-6, 1-1e-9).Draw(rt, "u")
		s := math.Sqrt(5) * studentQuantile(u)
		got := math.Erf(s/math.Sqrt2) - math.Sqrt(2/math.Pi)*math.Exp(-s*s/2)*(s+s*s*s/3)
		if math.Abs(got-u) > 1e-14 {
			rt.Fatalf("quantile of %g has the probability %g", u, got)
		}
	})
	for _, u := range []float64{0x1p-53, 1 - 0x1p-53} {
		if x := studentQuantile(u); !(x > 0 && x <= 8) {
			t.Errorf("quantile of %g is %g", u, x)
		}
	}
}

func TestExponentialAccuracy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64Range(-700, 700).Draw(rt, "x")
		if got, want := exponential(x), math.Exp(x); math.Abs(got-want) > 1e-15*want {
			rt.Fatalf("exponential(%g) = %g, math.Exp gives %g", x, got, want)
		}
	})
}
