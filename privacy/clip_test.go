package privacy

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// squareSum is ‖a−b‖² in integers that cannot overflow.
func squareSum(a, b []int64) *big.Int {
	sum := new(big.Int)
	for i := range a {
		d := big.NewInt(a[i])
		if b != nil {
			d.Sub(d, big.NewInt(b[i]))
		}
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

func within(square *big.Int, bound int64) bool {
	limit := big.NewInt(bound)
	return square.Cmp(limit.Mul(limit, limit)) <= 0
}

func anyWeights(t *rapid.T, name string, n int) []float64 {
	exponent := rapid.IntRange(-1080, 1020).Draw(t, name+" exponent")
	return rapid.SliceOfN(rapid.Map(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0, 1, -1, 0x1p-30, 1 + 0x1p-40})),
		func(v float64) float64 { return math.Ldexp(v, exponent) }), n, n).Draw(t, name)
}

// nearBound draws weights whose norm is the clip norm but for a few grid units,
// where rounding decides on which side they end.
func nearBound(t *rapid.T, name string, n int, g Grid) []float64 {
	weights := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, name)
	weights[0] = 1
	sum := 0.0
	for _, w := range weights {
		sum += w * w
	}
	scale := g.Norm / math.Sqrt(sum) * (1 + math.Ldexp(rapid.Float64Range(-4, 4).Draw(t, name+" off"), -g.Bits))
	for i := range weights {
		weights[i] *= scale
	}
	return weights
}

func TestClippedNormsKeepTheSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Grid{Norm: math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "norm"), rapid.IntRange(-300, 300).Draw(t, "norm exponent")),
			Bits: rapid.IntRange(MinBits, MaxBits).Draw(t, "bits")}
		n := rapid.IntRange(1, 300).Draw(t, "n")
		draw := func(name string) []float64 {
			if rapid.Bool().Draw(t, name+" near") {
				return nearBound(t, name, n, g)
			}
			return anyWeights(t, name, n)
		}
		first, second := make([]int64, n), make([]int64, n)
		if err := g.Clip(first, draw("first")); err != nil {
			t.Fatal(err)
		}
		if err := g.Clip(second, draw("second")); err != nil {
			t.Fatal(err)
		}
		if s := squareSum(first, nil); !within(s, g.Sensitivity(ZeroOut)) {
			t.Fatalf("squared norm %v above that of %d", s, g.Sensitivity(ZeroOut))
		}
		if s := squareSum(first, second); !within(s, g.Sensitivity(ReplaceOne)) {
			t.Fatalf("squared distance %v above that of %d", s, g.Sensitivity(ReplaceOne))
		}
	})
}

// The bounds are reached: neither could be smaller.
func TestSensitivityIsReached(t *testing.T) {
	for _, bits := range []int{8, 17, 30} {
		g := Grid{Norm: 3, Bits: bits}
		first, second := make([]int64, 2), make([]int64, 2)
		if err := errors.Join(g.Clip(first, []float64{0, 5}), g.Clip(second, []float64{0, -5e300})); err != nil {
			t.Fatal(err)
		}
		if first[1] != g.Sensitivity(ZeroOut) || first[1]-second[1] != g.Sensitivity(ReplaceOne) {
			t.Errorf("bits %d: %v and %v do not reach sensitivities %d and %d", bits, first, second, g.Sensitivity(ZeroOut), g.Sensitivity(ReplaceOne))
		}
	}
}

// The exact clip is not idle: rounding to nearest of a vector of the right norm
// exceeds it, and project mends exactly that.
func TestRoundingAloneWouldEnlargeTheNorm(t *testing.T) {
	const bits = 10
	values := make([]int64, 300)
	for i := range values {
		values[i] = int64(math.RoundToEven(math.Ldexp(1, bits) / math.Sqrt(300))) // 59.12 → 59: below
	}
	values[0] = int64(math.RoundToEven(math.Sqrt(math.Ldexp(1, 2*bits)-299*59*59))) + 1
	if within(squareSum(values, nil), 1<<bits) {
		t.Fatal("the test's vector does not exceed the bound")
	}
	project(values, bits)
	if !within(squareSum(values, nil), 1<<bits) {
		t.Error("project left the norm above the bound")
	}
}

func TestClipStaysCloseToTheUnroundedVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Grid{Norm: rapid.Float64Range(0.01, 100).Draw(t, "norm"), Bits: rapid.IntRange(MinBits, MaxBits).Draw(t, "bits")}
		n := rapid.IntRange(1, 200).Draw(t, "n")
		weights := rapid.SliceOfN(rapid.Float64Range(-20, 20), n, n).Draw(t, "weights")
		got := make([]int64, n)
		if err := g.Clip(got, weights); err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for _, w := range weights {
			norm = math.Hypot(norm, w)
		}
		scale := math.Ldexp(min(1/g.Norm, 1/norm), g.Bits)
		back := make([]float64, n)
		g.Weights(back, got)
		distance := 0.0
		for i, w := range weights {
			distance = math.Hypot(distance, math.Ldexp(back[i]/g.Norm, g.Bits)-w*scale)
		}
		if bound := 2*math.Sqrt(float64(n)) + 1 + 1e-4; distance > bound {
			t.Fatalf("distance %g above %g grid units", distance, bound)
		}
	})
}

func TestClipRefuses(t *testing.T) {
	good := Grid{Norm: 1, Bits: 30}
	for _, c := range []struct {
		name    string
		grid    Grid
		dst     int
		weights []float64
		want    string
	}{
		{"NaN", good, 2, []float64{1, math.NaN()}, "not finite"},
		{"infinity", good, 2, []float64{math.Inf(-1), 0}, "not finite"},
		{"lengths", good, 1, []float64{1, 2}, "lengths 1 and 2"},
		{"empty", good, 0, nil, "[1, 1048576]"},
		{"norm", Grid{Norm: 0, Bits: 30}, 1, []float64{1}, `"Norm"`},
		{"norm NaN", Grid{Norm: math.NaN(), Bits: 30}, 1, []float64{1}, `"Norm"`},
		{"bits", Grid{Norm: 1, Bits: 31}, 1, []float64{1}, "[8, 30]"},
	} {
		dst := make([]int64, c.dst)
		for i := range dst {
			dst[i] = 77
		}
		err := c.grid.Clip(dst, c.weights)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		for _, v := range dst {
			if v != 0 {
				t.Errorf("%s: the refused vector left %v", c.name, dst)
			}
		}
	}
	if !errors.Is(good.Clip(make([]int64, 1), []float64{math.NaN()}), ErrNotFinite) {
		t.Error("NaN is not ErrNotFinite")
	}
	if (Grid{}).Sensitivity(ReplaceOne) != math.MaxInt64 || good.Sensitivity(Adjacency(7)) != math.MaxInt64 {
		t.Error("nonsense has a finite sensitivity")
	}
}

func TestClipOfZeros(t *testing.T) {
	dst := []int64{1, 2}
	if err := (Grid{Norm: 1, Bits: 30}).Clip(dst, []float64{0, math.Copysign(0, -1)}); err != nil || dst[0] != 0 || dst[1] != 0 {
		t.Errorf("got %v, %v", dst, err)
	}
}
