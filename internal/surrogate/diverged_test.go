package surrogate_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/surrogate"
)

func TestDiverged(t *testing.T) {
	for name, c := range map[string]struct {
		y    []float64
		want []int // indices
	}{
		"none":                         {nil, nil},
		"too few to know":              {[]float64{0, -1, -1e300}, nil},
		"a huge loss":                  {[]float64{0, -1e12, -1, -2}, []int{1}},
		"the largest number":           {[]float64{0, -math.MaxFloat64, math.MaxFloat64 / 1e10, -2}, []int{1}},
		"several, of any size":         {[]float64{-1e300, 0, -1, -2, -1e9, -3}, []int{0, 4}},
		"a tail of four decades":       {[]float64{0, -1, -10, -100, -1e3, -1e4}, nil},
		"after convergence":            {[]float64{-1, -2, -3, -4, -1e-3, -1e-5, -1e-7, -1e-8, -1e-9, 0, 0, 0}, nil},
		"equal outcomes":               {[]float64{1, 1, 1, 1}, nil},
		"one above a plateau":          {[]float64{0, 0, 0, 0, 1}, nil},
		"one below a plateau":          {[]float64{0, 0, 0, 0, -1}, nil},
		"a penalty":                    {[]float64{-50, 0, -1, -50, -2, -50}, []int{0, 3, 5}},
		"a penalty more often":         {[]float64{-1e4, -1e4, -1e4, -1e4, 0, -1, -2}, []int{0, 1, 2, 3}},
		"a penalty and a huge loss":    {[]float64{-50, 0, -1, -50, -2, -50, -1e9}, []int{0, 3, 5, 6}},
		"two penalties":                {[]float64{-50, 0, -1, -50, -2, -50, -5e3, -5e3, -5e3}, []int{0, 3, 5, 6, 7, 8}},
		"equal ones twice":             {[]float64{-50, 0, -1, -50, -2}, nil},
		"equal ones that are no cliff": {[]float64{-9, 0, -1, -9, -2, -9}, nil},
		"too few others":               {[]float64{-50, 0, -1, -50, -1, -50}, nil},
	} {
		var got []int
		for i, has := range diverged(c.y) {
			if has {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v have diverged, expected %v", name, got, c.want)
		}
	}
}

// What has diverged is the same in other units and with a huge loss beside it, whenever that comes.
func TestDivergedDependsOnTheOthersAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := []float64{-1, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1} // of starting designs
		y = append(y, rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e6, 0), rapid.Just(-1e3))).Draw(rt, "y")...)
		want := diverged(y)
		scaled := make([]float64, len(y))
		for i, v := range y {
			scaled[i] = v * 0x1p-20
		}
		if got := diverged(scaled); !slices.Equal(got, want) {
			rt.Fatalf("%v, in other units %v", want, got)
		}
		at := rapid.IntRange(10, len(y)).Draw(rt, "at")
		size := rapid.SampledFrom([]float64{1e20, 1e100, 1e300}).Draw(rt, "size")
		got := diverged(slices.Insert(slices.Clone(y), at, -size))
		if !slices.Equal(got, slices.Insert(slices.Clone(want), at, true)) {
			rt.Fatalf("%v, with -%g at %d %v", want, size, at, got)
		}
	})
}

// diverged is surrogate.Diverged of outputs of different designs.
func diverged(y []float64) []bool {
	x := make([][]float64, len(y))
	for i := range x {
		x[i] = []float64{float64(i)}
	}
	return surrogate.Diverged(surrogate.Observations{X: x, Y: y})
}

// The outcome of one design, evaluated again, is no penalty.
func TestRepeatedDesignHasNotDiverged(t *testing.T) {
	obs := surrogate.Observations{X: [][]float64{{0}, {1}, {2}, {3}, {3}, {3}}, Y: []float64{0, -1, -2, -50, -50, -50}}
	if got := surrogate.Diverged(obs); slices.Contains(got, true) {
		t.Errorf("%v, expected none", got)
	}
	obs.X[4], obs.X[5] = []float64{4}, []float64{5}
	if got := surrogate.Diverged(obs); !slices.Equal(got, []bool{false, false, false, true, true, true}) {
		t.Errorf("%v, expected the last three", got)
	}
}
