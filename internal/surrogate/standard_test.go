package surrogate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func standardise(obs Observations) ([]float64, error) {
	y, _, err := Standardise(obs)
	return y, err
}

// Standardised outputs have mean zero and deviation one, keep their order, and
// do not depend on the units.
func TestStandardise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-100, 100), 2, 40).Draw(rt, "y")
		if rapid.Bool().Draw(rt, "outlier") {
			y[0] = -1e9
		}
		obs := Observations{X: make([][]float64, len(y)), Y: y}
		got, err := standardise(obs)
		if err != nil {
			rt.Fatal(err)
		}
		mean, square := 0.0, 0.0
		for _, v := range got {
			mean += v / float64(len(got))
			square += v * v / float64(len(got)-1)
		}
		if math.Abs(mean) > 1e-9 || math.Abs(square-1) > 1e-9 && square != 0 {
			rt.Fatalf("mean %g, variance %g", mean, square)
		}
		for i := range y {
			for j := range y {
				if y[i] < y[j] && got[i] > got[j]+1e-12 {
					rt.Fatalf("%g became %g, but %g became %g", y[i], got[i], y[j], got[j])
				}
			}
		}
		scaled := make([]float64, len(y))
		for i, v := range y {
			scaled[i] = 1024 * v // exactly
		}
		again, err := standardise(Observations{X: obs.X, Y: scaled})
		if err != nil || !slices.Equal(got, again) {
			rt.Fatalf("other units: %v and %v, %v", got, again, err)
		}
	})
}

// Output takes back what Standardise does, inside the bent tail and outside of it.
func TestOutputIsTheInverseOfStandardise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-100, 100), 2, 40).Draw(rt, "y")
		standardised, units, err := Standardise(Observations{X: make([][]float64, len(y)), Y: y})
		if err != nil {
			rt.Fatal(err)
		}
		if units.Scale < 1e-3 {
			rt.Skip("the outputs do not differ")
		}
		for i, v := range y {
			if got := units.Output(standardised[i]); math.Abs(got-v) > 1e-6*(1+math.Abs(v)) {
				rt.Fatalf("%g became %g and then %g", v, standardised[i], got)
			}
		}
	})
	straight := Units{Level: 3, Scale: 2}
	if got := straight.Output(-5); got != -7 {
		t.Errorf("-7 became %g", got)
	}
}

// One terrible value must not make the good ones equal.
func TestStandardiseKeepsGoodValuesApart(t *testing.T) {
	y := []float64{-1e6, -3, -2, -1, 0, 1, 2, 3}
	got, err := standardise(Observations{X: make([][]float64, len(y)), Y: y})
	if err != nil {
		t.Fatal(err)
	}
	if spread := got[7] - got[4]; spread < 0.2 { // unbent, 1e-5
		t.Errorf("three good units became %g deviations: %v", spread, got)
	}
	if got[7]-got[6]-(got[6]-got[5]) > 1e-12 {
		t.Errorf("good values were bent: %v", got)
	}
}
