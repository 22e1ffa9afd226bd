package acquisition

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/random"
)

var halfLog2Pi = math.Log(2*math.Pi) / 2

func between(p Predictor, low, high float64) Limit {
	return Limit{Predictor: p, Low: low, High: high}
}

// gainAt is the gain of an output with mean 0 and deviation 1 that must exceed optimum,
// and of constraints with the same that lie between bounds.
func gainAt(optimum float64, bounds ...[2]float64) float64 {
	var limits []Limit
	for _, b := range bounds {
		limits = append(limits, between(fixed{0, 1}, b[0], b[1]))
	}
	return gainFrom(LogGain(fixed{0, 1}, []float64{optimum}, limits...).Value(nil))
}

// gainFrom is the gain itself.
func gainFrom(value float64) float64 {
	if value < belowLogs/2 {
		return value - belowLogs
	}
	return math.Exp(value)
}

// The gain is the entropy of a normal distribution less that of the same outside of the
// box. With 400,000 samples the latter has a standard error that is estimated beside it;
// five of them fail a right formula once in 10⁶ cases.
func TestGainIsTheLossOfEntropy(t *testing.T) {
	inf := math.Inf(1)
	for i, c := range []struct {
		optimum float64
		bounds  [][2]float64
	}{
		{1.2, nil},
		{-0.7, nil},
		{0.5, [][2]float64{{-inf, 0.3}}},
		{0.5, [][2]float64{{-0.3, inf}}},
		{-0.4, [][2]float64{{-1, 0.5}}},
		{0.8, [][2]float64{{-inf, 0.4}, {-0.2, 1.5}}},
		{-1, [][2]float64{{-0.3, 0.2}, {-0.4, 0.4}, {-0.3, 0.3}}}, // negative
		{-inf, [][2]float64{{-inf, 0.2}, {0.1, 0.9}}},
	} {
		rng := random.SeedOf(7).Stream("t", uint64(i))
		outputs := 1 + len(c.bounds)
		z := make([]float64, outputs)
		count, sum, squares := 0.0, 0.0, 0.0
		for range 400000 {
			log := 0.0
			for k := range z {
				z[k] = rng.NormFloat64()
				log -= z[k]*z[k]/2 + halfLog2Pi
			}
			inside := z[0] > c.optimum
			for k, b := range c.bounds {
				inside = inside && b[0] <= z[k+1] && z[k+1] <= b[1]
			}
			if !inside {
				count++
				sum -= log
				squares += log * log
			}
		}
		outside := count / 400000
		entropy := sum/count + math.Log(outside) // of the density over outside
		deviation := math.Sqrt((squares/count - sum*sum/count/count) / count)
		deviation += math.Sqrt((1 - outside) / outside / 400000)
		want := float64(outputs)*(0.5+halfLog2Pi) - entropy
		got := gainAt(c.optimum, c.bounds...)
		if math.Abs(got-want) > 5*deviation {
			t.Errorf("%+v: gain %.4f, by simulation %.4f ± %.4f", c, got, want, deviation)
		}
		if negative := i == 6; negative != (got < 0) {
			t.Errorf("%+v: gain %g; the seventh case is to be the negative one", c, got)
		}
	}
}

// Two values of an independent calculation, and that of a half, which has the density
// doubled and its entropy less by ln 2.
func TestGainsThatAreKnown(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ got, want float64 }{
		{gainAt(0.5, [2]float64{-inf, 0.3}), 0.2569},
		{gainAt(2, [2]float64{-inf, 8}), 0.0783},
		{gainAt(0), math.Ln2},
	} {
		if math.Abs(c.got-c.want) > 5e-5 {
			t.Errorf("gain %.6f, want %.4f", c.got, c.want)
		}
	}
}

// The gain is the average over the samples.
func TestGainIsAnAverage(t *testing.T) {
	limit := between(fixed{0, 1}, -1, 0.3)
	sum, optima := 0.0, []float64{3, -1, math.Inf(-1), 0.4}
	for _, optimum := range optima {
		sum += math.Exp(LogGain(fixed{0, 1}, []float64{optimum}, limit).Value(nil))
	}
	if got := math.Exp(LogGain(fixed{0, 1}, optima, limit).Value(nil)); math.Abs(got-sum/4) > 1e-12 {
		t.Errorf("%g, the average is %g", got, sum/4)
	}
}

// Far from the box the gain is M·(Σ z² of what is outside)/2 to first order, and the
// logarithm stays exact where M underflows: ln(1-Φ(z)) and e/m from the continued fraction.
func TestGainInTheTails(t *testing.T) {
	for _, z := range []float64{10, 40, 300, 1e4} {
		log, slope := normal.LogCDF(-z)
		want := log + math.Log1p(z*slope/2)
		if got := LogGain(fixed{0, 1}, []float64{z}).Value(nil); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("optimum %g away: %g, want %g", z, got, want)
		}
		limit := between(fixed{0, 1}, z, math.Inf(1))
		if got := LogGain(fixed{0, 1}, []float64{math.Inf(-1)}, limit).Value(nil); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("limit %g away: %g, want %g", z, got, want)
		}
	}
	// Where the objective is known to exceed y*, the gain grows as the logarithm of how much.
	for _, z := range []float64{4, 10, 30} {
		_, slope := normal.LogCDF(-z)
		k := slope - z
		want := halfLog2Pi + math.Log(z+k) - z*k/2
		if got := gainAt(-z); math.Abs(got-want) > 1e-9 {
			t.Errorf("exceeded by %g deviations: %g, want %g", z, got, want)
		}
	}
	// Where all is nearly certain, both sides of a limit count.
	out := normal.CDF(-9)
	if got, want := gainAt(-100, [2]float64{-9, 9}), -math.Log(2*out)-4.5*normal.Density(9)/out; math.Abs(got-want) > 1e-9 {
		t.Errorf("kept by 9 deviations on both sides: %g, want %g", got, want)
	}
	if far, farther := gainAt(-37), gainAt(-1e9); far != farther {
		t.Errorf("exceeded by 37 deviations %g, by 1e9 %g", far, farther)
	}
}

func TestGainWithoutVariance(t *testing.T) {
	inf := math.Inf(1)
	known, unknown := fixed{1, 0}, fixed{0, 1}
	kept, broken := between(known, -inf, 2), between(known, -inf, 0.5)
	for name, c := range map[string]struct{ got, want float64 }{
		"nothing is unknown":            {LogGain(known, []float64{0}, kept).Value(nil), belowLogs},
		"the objective falls short":     {LogGain(known, []float64{3}).Value(nil), -inf},
		"a limit is broken":             {LogGain(unknown, []float64{0}, broken).Value(nil), -inf},
		"a limit is kept":               {LogGain(unknown, []float64{0.5}, kept).Value(nil), LogGain(unknown, []float64{0.5}).Value(nil)},
		"only the limit is unknown":     {LogGain(known, []float64{0}, between(unknown, -inf, 1)).Value(nil), LogGain(fixed{0, 1}, []float64{-1}).Value(nil)},
		"the same, and nothing is kept": {LogGain(known, []float64{-inf}, between(unknown, -inf, 1)).Value(nil), LogGain(fixed{0, 1}, []float64{-1}).Value(nil)},
	} {
		if c.got != c.want && math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
}

// Limits that are kept everywhere with certainty change nothing, and the order of limits
// and of samples does not matter.
func TestGainDoesNotDependOnWhatDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := func(name string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(rt, name) }
		p := fixed{number("mean", -3, 3), number("variance", 1e-4, 4)}
		optima := []float64{number("first", -3, 6), number("second", -3, 6), number("third", -3, 6)}
		plain := LogGain(p, optima).Value(nil)
		certainly := []Limit{between(fixed{2, 1e-4}, math.Inf(-1), 9), between(fixed{2, 1e-4}, 0, 9), between(fixed{2, 0}, 1, math.Inf(1))}
		if got := LogGain(p, optima, certainly...).Value(nil); math.Abs(got-plain) > 1e-9 {
			rt.Fatalf("%g with limits that are kept, %g without", got, plain)
		}
		var limits []Limit
		for i := range rapid.IntRange(2, 4).Draw(rt, "limits") {
			low := number(fmt.Sprint("low", i), -3, 3)
			l := between(fixed{number("c", -3, 3), number("csd", 1e-4, 4)}, low, low+number("width", 0, 3))
			if rapid.Bool().Draw(rt, "one side") {
				l.Low = math.Inf(-1)
			}
			limits = append(limits, l)
		}
		one := gainFrom(LogGain(p, optima, limits...).Value(nil))
		slices.Reverse(limits)
		slices.Reverse(optima)
		if other := gainFrom(LogGain(p, optima, limits...).Value(nil)); math.Abs(one-other) > 1e-9*(math.Abs(one)+1e-9) {
			rt.Fatalf("%g, with the limits in another order %g", one, other)
		}
	})
}

// The slopes of one output's portion by its mean and deviation agree with differences, on
// both sides of all bounds and far from them.
func TestSlopesOfPortions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		mean, sd := rapid.Float64Range(-300, 300).Draw(rt, "mean"), math.Exp(rapid.Float64Range(-2, 2).Draw(rt, "log sd"))
		low := rapid.Float64Range(-3, 3).Draw(rt, "low")
		high := low + math.Exp(rapid.Float64Range(-6, 3).Draw(rt, "log width"))
		switch rapid.IntRange(0, 3).Draw(rt, "sides") {
		case 0:
			low = math.Inf(-1)
		case 1:
			high = math.Inf(1)
		case 2:
			high, mean = low, mean/10 // one number, from where rounding leaves some digits
		}
		s := portionOf(mean, sd, low, high)
		step := 1e-4 * sd
		check := func(name string, by, less, more, size float64) {
			want := (more - less) / (2 * step)
			// Differences err by their third derivatives and by what rounding leaves.
			if math.Abs(by-want) > 1e-3*(math.Abs(by)+math.Abs(want))+1e-6*(1+size/sd) {
				rt.Errorf("%g ± %g in [%g, %g]: %s is %g, by differences %g", mean, sd, low, high, name, by, want)
			}
		}
		less, more := portionOf(mean-step, sd, low, high), portionOf(mean+step, sd, low, high)
		check("ln m by the mean", s.logByMean, less.log, more.log, math.Abs(s.log))
		check("e/m by the mean", s.ratioByMean, less.ratio, more.ratio, math.Abs(s.ratio))
		less, more = portionOf(mean, sd-step, low, high), portionOf(mean, sd+step, low, high)
		check("ln m by the deviation", s.logBySD, less.log, more.log, math.Abs(s.log))
		check("e/m by the deviation", s.ratioBySD, less.ratio, more.ratio, math.Abs(s.ratio))
	})
}

// The slopes of the gain agree with differences: where the mean is far above the optimum and
// far below, with limits that are nearly kept or certainly broken, and where it is negative.
func TestSlopesOfTheGain(t *testing.T) {
	negative, checked, cases := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		mean, sd := rapid.Float64Range(-100, 30).Draw(rt, "mean"), math.Exp(rapid.Float64Range(-0.1, 2).Draw(rt, "log sd"))
		g := gain{optima: []float64{1, 0.3, rapid.Float64Range(-2, 0).Draw(rt, "optimum")}}
		kept := portion{}
		for i := range rapid.IntRange(0, 4).Draw(rt, "limits") {
			centre := rapid.Float64Range(-1, 1).Draw(rt, fmt.Sprint("centre", i)) * rapid.SampledFrom([]float64{1, 1, 40}).Draw(rt, "distance")
			width := math.Exp(rapid.Float64Range(-3, 3).Draw(rt, "log width"))
			kept.times(portionOf(centre, 1, -width/2, width/2))
		}
		value, by := g.average(mean, sd, kept)
		if (mean+2)/sd > certain-1 {
			rt.Skip("around what counts as certain")
		}
		rounding := 1e-13 * (1 + math.Abs(value) + mean*mean/sd/sd)
		if value < belowLogs/2 {
			negative++
			rounding = 2e-7
		}
		check := func(name string, by, step float64, f func(step float64) float64) {
			less, more := f(-step), f(step)
			if bend := more - 2*value + less; math.Abs(bend) > 0.01*math.Abs(more-less)+rounding {
				return // differences are not exact, as where the gain is about to change its sign
			}
			checked++
			want := (more - less) / (2 * step)
			if tolerance := 2e-3*(math.Abs(by)+math.Abs(want)) + 4*rounding/step; math.Abs(by-want) > tolerance {
				rt.Errorf("by %s: %g, by differences %g ± %g", name, by, want, tolerance)
			}
		}
		check("mean", by.mean, 1e-3*sd, func(step float64) float64 { v, _ := g.average(mean+step, sd, kept); return v })
		check("deviation", by.sd, 1e-4*sd, func(step float64) float64 { v, _ := g.average(mean, sd+step, kept); return v })
		if kept.log < -1e-3 {
			check("log", by.log, 1e-4*min(-kept.log, 1), func(step float64) float64 {
				v, _ := g.average(mean, sd, portion{log: kept.log + step, ratio: kept.ratio})
				return v
			})
			check("ratio", by.ratio, 1e-4, func(step float64) float64 {
				v, _ := g.average(mean, sd, portion{log: kept.log, ratio: kept.ratio + step})
				return v
			})
		}
	})
	if checked < cases || negative == 0 && !testing.Short() { // -short draws a fifth of the cases
		t.Errorf("%d negative gains and %d slopes in %d cases: too few", negative, checked, cases)
	}
}

// Where every gain underflows a search still finds its way to where there is most of it.
func TestGainLeadsThroughTheTails(t *testing.T) {
	space := floats(t, 2)
	p := oneObservation{[]float64{0.3, 0.6}, 1, 0.5}
	limit := oneObservation{[]float64{0.8, 0.2}, 5, 0.3}
	f := LogGain(p, []float64{math.Inf(-1)}, between(limit, 400, math.Inf(1)))
	x, value, err := Maximizer{Space: space}.Maximize(t.Context(), f, nil, random.SeedOf(1).Stream("t", 0))
	if err != nil || value > -1000 {
		t.Fatalf("value %g, %v: the test wants gains that underflow", value, err)
	}
	best := math.Inf(-1)
	for i := range 101 {
		for j := range 101 {
			best = max(best, f.Value([]float64{float64(i) / 100, float64(j) / 100}))
		}
	}
	if value < best-1e-9*math.Abs(best) {
		t.Errorf("%g at %v, on a grid %g", value, x, best)
	}
}

func TestLogGainNeedsSamples(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	LogGain(fixed{0, 1}, nil)
}
