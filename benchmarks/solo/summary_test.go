package main

import (
	"math"
	"strings"
	"testing"
)

func rowOf(regrets ...float64) (row []result) {
	for _, regret := range regrets {
		row = append(row, result{Regret: []float64{regret}})
	}
	return row
}

// Medians 4 and 1, and then two that are below the floor: ratios 4 and 1, whose geometric
// mean is 2. Whatever the seeds give, a is four times b with each of them, so that
// resamples in pairs have the same ratio.
func TestSummaryByHand(t *testing.T) {
	s := summary{config: config{methods: []string{"a", "b", "c"}, against: "b", evals: 1}, parts: []part{
		{[][]result{rowOf(4, 400, 0.04), rowOf(1, 100, 0.01), rowOf(1, 0.01, 100)}, 1e-3},
		{[][]result{rowOf(1e-9, 1e-5), rowOf(1e-6, 0), rowOf(1e-4, 1e-4)}, 1e-3},
	}}
	ratios := s.logRatios(1, everySeed)
	for i, want := range []float64{2, 1, 1} {
		if got := math.Exp(ratios[i]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: ratio %g, want %g", s.config.methods[i], got, want)
		}
	}
	bounds := s.bounds(1)
	for i, want := range []float64{2, 1} {
		if got := bounds[i]; math.Abs(math.Exp(got[0])-want) > 1e-12 || math.Abs(math.Exp(got[1])-want) > 1e-12 {
			t.Errorf("%s: bounds %v, want %g without any spread", s.config.methods[i], got, want)
		}
	}
	// Of c's 27 resamples 7 have its second seed twice or more, where it is 10^4 times
	// better than b, and 7 the third, where it is as much worse: both quantiles are there.
	want := math.Log(1e4) / 2
	if got := bounds[2]; math.Abs(got[0]+want) > 1e-12 || math.Abs(got[1]-want) > 1e-12 {
		t.Errorf("c: bounds %v, want %g and %g", got, -want, want)
	}
	var out strings.Builder
	s.print(&out)
	if !strings.Contains(out.String(), "a\t2\t\n") || strings.Contains(out.String(), "b\t") || !strings.Contains(out.String(), "no bounds with fewer than 5 seeds") {
		t.Errorf("of two and three seeds\n%s", out.String())
	}
	for i := range s.parts {
		for m, row := range s.parts[i].rows {
			s.parts[i].rows[m] = append(append(row, row...), row...)[:5]
		}
	}
	out.Reset()
	s.print(&out)
	if !strings.Contains(out.String(), "a\t2 [2, 2]\t\n") {
		t.Errorf("of five seeds\n%s", out.String())
	}
}

// lab/family has these deviations to more digits. One from 2^14 designs has a
// standard error of at most 1.7 %, that of ackley5 with its kurtosis of 20.
func TestDeviation(t *testing.T) {
	for name, want := range map[string]float64{"branin": 51.2512177, "hartmann3": 0.955586276, "hartmann6": 0.384827213, "ackley5": 0.8061} {
		p, err := problemNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.deviation(); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%s: deviation %g, want %g within 5 %%", name, got, want)
		}
	}
}
