package experiment

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// By hand: the variance of 1, 2, 3, 4 is 5/3; Student's quantile for 3 degrees of
// freedom at 95 % is 2.353363 in every table.
func TestStatisticsByHand(t *testing.T) {
	x := []float64{4, 1, 3, 2}
	near(t, "mean", mean(x), 2.5)
	near(t, "standard error", standardError(x), math.Sqrt(5./3/4))
	near(t, "margin", margin(x), 2.3533634*math.Sqrt(5./3/4))
	near(t, "median", median(x), 2.5)
	near(t, "first quartile", quantile(x, 0.25), 1.75)
	near(t, "third quartile", quantile(x, 0.75), 3.25)
	near(t, "largest", quantile(x, 1), 4)
	near(t, "median of one", median([]float64{7}), 7)
	if !slices.Equal(x, []float64{4, 1, 3, 2}) {
		t.Errorf("the argument was sorted: %v", x)
	}
	near(t, "standard error of one", standardError([]float64{7}), math.NaN())
	near(t, "margin of one", margin([]float64{7}), math.NaN())
	near(t, "median with NaN", median([]float64{1, math.NaN(), 3}), math.NaN())
}

func TestLogRatiosRespectTheFloors(t *testing.T) {
	got := logRatios([]float64{0, 2, 0}, []float64{1, 0, 0}, []float64{0.1, 0.5, 0.1})
	for i, want := range []float64{math.Log(0.1), math.Log(4), 0} {
		near(t, "log ratio", got[i], want)
	}
}

// A regret of 2 after three designs is made good by half, then wholly; who starts
// without regret has nothing left to gain.
func TestGapOfAMember(t *testing.T) {
	for _, c := range []struct {
		regret  []Number
		initial int
		want    []float64
	}{
		{[]Number{5, 2, 4, 3, 1, 0, 7}, 3, []float64{0, 0, 0, 0, 0.5, 1, 1}},
		{[]Number{4, 8, 1}, 1, []float64{0, 0, 0.75}},
		{[]Number{3, 0, 2, 1}, 2, []float64{0, 1, 1, 1}},
		{[]Number{3, 2}, 3, []float64{0, 0}}, // it ends before its starting designs do
	} {
		if got := (MemberRecord{Regret: c.regret}).gap(c.initial); !slices.Equal(got, c.want) {
			t.Errorf("%v, %d to start with: gap %v, want %v", c.regret, c.initial, got, c.want)
		}
	}
}

// Whatever the regrets, the gap begins at 0, never falls and ends within 0 to 1.
func TestGapNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m MemberRecord
		for _, r := range rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 20).Draw(t, "regret") {
			m.Regret = append(m.Regret, Number(r))
		}
		initial := rapid.IntRange(1, 25).Draw(t, "initial")
		before := 0.0
		for k, g := range m.gap(initial) {
			if g < before || g > 1 || k+1 < initial && g != 0 {
				t.Fatalf("gap %g after %d evaluations, before %g", g, k+1, before)
			}
			before = g
		}
	})
}

func TestCurvesOfAMember(t *testing.T) {
	m := MemberRecord{Regret: []Number{3, 5, 1, 2}}
	if got := m.simple(); !slices.Equal(got, []float64{3, 3, 1, 1}) {
		t.Errorf("simple regret %v", got)
	}
	if got := m.cumulative(); !slices.Equal(got, []float64{3, 8, 9, 11}) {
		t.Errorf("cumulative regret %v", got)
	}
}
