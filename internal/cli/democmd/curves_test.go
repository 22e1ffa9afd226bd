package democmd

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestDemoPlotDrawsBothCurves(t *testing.T) {
	got := curves{[]float64{8, 2, 1}, []float64{8, 4, 2}}.plot(4, 18)
	want := []string{
		"      8 |***",
		"        |   aaa",
		"        |   pppaaa",
		"      1 |      ppp",
		"         1       3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Curves of any length and level are drawn within the width.
func TestDemoPlotStaysWithinItsWidth(t *testing.T) {
	long := make([]float64, 500)
	for i := range long {
		long[i] = 500 - float64(i)
	}
	for _, c := range []curves{{long, long}, {[]float64{1}, []float64{1}}, {[]float64{0, 0}, []float64{1, 0}}, {[]float64{0}, []float64{0}}} {
		lines := c.plot(plotRows, plotWidth)
		if len(lines) != plotRows+1 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if len(line) > plotWidth {
				t.Errorf("%d characters: %s", len(line), line)
			}
		}
	}
}

// results returns a report with these curves of each site.
func results(lowest float64, seeds ...[sites][2][]float64) (r Report) {
	for i, curves := range seeds {
		seed := seedReport{Seed: uint64(i)}
		for _, c := range curves {
			seed.Sites = append(seed.Sites, siteReport{runReport{Curve: c[0]}, runReport{Curve: c[1]}, &lowest})
		}
		r.Seeds = append(r.Seeds, seed)
	}
	r.summarize()
	return r
}

// Two seeds: in scene one sites are better, worse and equal with peers, in scene two first better
// and then worse.
func TestSummaryCountsTiesHalf(t *testing.T) {
	better, worse, equal := [2][]float64{{4, 2}, {4, 3}}, [2][]float64{{4, 3}, {4, 2}}, [2][]float64{{3, 2}, {3, 2}}
	r := results(1, [sites][2][]float64{better, worse, equal, better}, [sites][2][]float64{better, better, equal, worse})
	one, two := r.Scenes[0], r.Scenes[1]
	if one.Sites != 6 || one.Better != 3 || one.Worse != 1 || math.Abs(one.Share.Mean-(0.5+5.0/6)/2) > 1e-12 || math.Abs(one.Share.Error-1.0/6) > 1e-12 {
		t.Errorf("scene one: %+v", one)
	}
	// Regrets of 1 and 2, then 2 and 1.
	if two.Share.Mean != 0.5 || math.Abs(two.Ratio.Mean-1) > 1e-12 || math.Abs(two.Ratio.Error-math.Ln2) > 1e-12 || two.Regrets[0].Mean != 1.5 || two.Regrets[1].Mean != 1.5 {
		t.Errorf("scene two: %+v %+v %+v", two, two.Ratio, two.Regrets)
	}
}

// The sentences are true whatever the result.
func TestSentencesNameTheFaster(t *testing.T) {
	fast, slow := []float64{4, 2, 1, 1}, []float64{4, 3, 2.5, 2}
	gain, loss := [2][]float64{fast, slow}, [2][]float64{slow, fast}
	r := results(0, [sites][2][]float64{gain, gain, gain, loss})
	for i, want := range []string{
		"Scene one: with peers 2 evaluations reached the mean loss of 4 alone;\n  with peers 3 of 3 sites ended better, 0 worse.",
		"Scene two: alone 2 evaluations reached the mean loss of 4 with peers;\n  with peers 0 of 1 site ended better, 1 worse.",
	} {
		if got := r.Scenes[i].sentence(sceneNames[i]); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// The text has at most 80 characters a line, and at most 24 lines with the two before it and the
// prompt.
func TestDemoFitsTheScreen(t *testing.T) {
	for _, evals := range []int{defaultEvals, 1000} {
		long := make([]float64, evals)
		for i := range long {
			long[i] = 12345.678 - float64(i)
		}
		c := [2][]float64{long, long}
		r := results(0, [sites][2][]float64{c, c, c, c})
		r.Similar, r.Strategy = true, Strategies()[0]
		for i := range r.Scenes {
			r.Scenes[i].Ratio = nil
		}
		var out bytes.Buffer
		r.write(&out)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines)+3 > 24 {
			t.Errorf("%d lines:\n%s", len(lines), out.String())
		}
		for _, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("%d characters: %s", len([]rune(line)), line)
			}
		}
	}
}

// TestMeasuredFiguresStandBesideTheirSetting prints reports with other settings than those of the
// figures of dissimilar sites.
func TestMeasuredFiguresStandBesideTheirSetting(t *testing.T) {
	ten := make([]float64, defaultEvals)
	curves := [2][]float64{ten, ten}
	full := [sites][2][]float64{curves, curves, curves, curves}
	short := [2][]float64{ten[1:], ten[1:]}
	for _, c := range []struct {
		change func(*Report)
		seed   [sites][2][]float64
		want   bool
	}{
		{func(*Report) {}, full, true},
		{func(r *Report) { r.Similar = false }, full, false},
		{func(r *Report) { r.Strategy = "fts" }, full, false},
		{func(*Report) {}, [sites][2][]float64{short, short, short, curves}, false},
	} {
		r := results(0, c.seed)
		r.Similar, r.Strategy = true, Strategies()[0]
		c.change(&r)
		var out bytes.Buffer
		if r.write(&out); strings.Contains(out.String(), dissimilarSites) != c.want {
			t.Errorf("%t is wrong for\n%s", !c.want, out.String())
		}
	}
}
