package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/normal"
)

func rngOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

var plane = Spec{Kernel: Matern52, Groups: []int{0, 1}}

// scattered are n points of the square.
func scattered(n int, rng *rand.Rand) (x [][]float64) {
	for range n {
		x = append(x, []float64{rng.Float64(), rng.Float64()})
	}
	return x
}

// Of one interval all is known: its probability under the prior, and the moments of the
// function given it.
func TestOneIntervalIsExact(t *testing.T) {
	h := Hyperparameters{Lengthscales: []float64{0.5, 0.5}, Noise: 0.3}
	for _, within := range []Interval{Side(true), Side(false), {-0.5, 1.2}, {2, math.Inf(1)}, {math.Inf(-1), -3}, {0.1, 0.11}} {
		x := [][]float64{{0.2, 0.7}}
		e := newIntervalEvidence(plane, x, []Interval{within})
		gradient := make([]float64, 3)
		value, err := e.logPosterior(gradient, h)
		if err != nil {
			t.Fatal(err)
		}
		sd := math.Sqrt(plane.priorVariance() + h.Noise)
		want, _, _ := normal.LogBetween(within.Low/sd, within.High/sd)
		if got := value - addPriors(gradient, h); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: evidence %g, want %g", within, got, want)
		}
		p, err := NewIntervalPosterior(plane, x, []Interval{within}, h)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := p.Predict(x[0])
		wantMean, wantVariance := moments(within, h.Noise)
		if math.Abs(mean-wantMean) > 1e-6 || math.Abs(variance-wantVariance) > 1e-6 {
			t.Errorf("%v: mean %g and variance %g, want %g and %g", within, mean, variance, wantMean, wantVariance)
		}
	}
}

// moments integrates over the function's value, by the midpoint rule.
func moments(within Interval, noise float64) (mean, variance float64) {
	var sum, first, second float64
	const steps = 200000
	for i := range steps {
		f := -12 + 24*(float64(i)+0.5)/steps
		log, _, _ := normal.LogBetween((within.Low-f)/math.Sqrt(noise), (within.High-f)/math.Sqrt(noise))
		weight := math.Exp(log - f*f/(2*plane.priorVariance()))
		sum += weight
		first += weight * f
		second += weight * f * f
	}
	return first / sum, second/sum - first*first/(sum*sum)
}

// The evidence of two sides without noise is nearly the probability of an orthant,
// 1/4 + arcsin(ρ)/2π.
func TestEvidenceOfAnOrthant(t *testing.T) {
	x := [][]float64{{0.1, 0.5}, {0.4, 0.5}}
	h := Hyperparameters{Lengthscales: []float64{0.5, 0.5}, Noise: 1e-4}
	e := newIntervalEvidence(plane, x, []Interval{Side(true), Side(false)})
	gradient := make([]float64, 3)
	value, err := e.logPosterior(gradient, h)
	if err != nil {
		t.Fatal(err)
	}
	rho := e.prior[1] / (plane.priorVariance() + h.Noise)
	want := math.Log(0.25 - math.Asin(rho)/(2*math.Pi))
	if got := value - addPriors(gradient, h); math.Abs(got-want) > 0.01 {
		t.Errorf("correlation %g: evidence %g, the orthant has %g", rho, got, want)
	}
}

// The gradient is that of the evidence, where propagation has converged: from fresh sites
// and from those of other hyperparameters, which also lead to the same evidence.
func TestEvidenceOfIntervalsHasItsGradient(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rngOf(rapid.Uint64().Draw(rt, "seed"))
		x := scattered(rapid.IntRange(1, 15).Draw(rt, "points"), rng)
		var within []Interval
		for i := range x {
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				within = append(within, Interval{-0.2, 0.4})
			default:
				within = append(within, Side(x[i][0] > 0.4 != (rng.Float64() < 0.1)))
			}
		}
		h := Hyperparameters{
			Lengthscales: []float64{math.Exp(rapid.Float64Range(-2, 2).Draw(rt, "first")), math.Exp(rapid.Float64Range(-2, 2).Draw(rt, "second"))},
			Noise:        math.Exp(rapid.Float64Range(-8, 0).Draw(rt, "noise")),
		}
		at := func(e *intervalEvidence, theta []float64) (float64, []float64) {
			gradient := make([]float64, 3)
			value, err := e.logPosterior(gradient, Hyperparameters{Lengthscales: []float64{math.Exp(theta[0]), math.Exp(theta[1])}, Noise: math.Exp(theta[2])})
			if err != nil {
				rt.Fatal(err)
			}
			return value, gradient
		}
		theta := []float64{math.Log(h.Lengthscales[0]), math.Log(h.Lengthscales[1]), math.Log(h.Noise)}
		used := newIntervalEvidence(plane, x, within)
		fresh, gradient := at(newIntervalEvidence(plane, x, within), theta)
		const step = 1e-3
		for k := range theta {
			moved := slices.Clone(theta)
			moved[k] += step
			above, _ := at(used, moved)
			moved[k] -= 2 * step
			below, _ := at(used, moved)
			if slope := (above - below) / (2 * step); math.Abs(slope-gradient[k]) > 1e-3*(1+math.Abs(slope)) {
				rt.Fatalf("derivative %d is %g, by differences %g", k, gradient[k], slope)
			}
		}
		if again, _ := at(used, theta); math.Abs(again-fresh) > 1e-5*(1+math.Abs(fresh)) {
			rt.Fatalf("evidence %g, from other sites %g", fresh, again)
		}
	})
}

// By Gibbs sampling without approximation, the means and deviations of the function at
// observed and other points differ from those of propagation by a few hundredths.
func TestIntervalsAgainstGibbs(t *testing.T) {
	rng := rngOf(4)
	x := scattered(12, rng)
	var within []Interval
	for i := range x {
		within = append(within, Side(x[i][0]+x[i][1] > 0.9))
	}
	within[3] = Interval{-0.3, 0.3}
	h := Hyperparameters{Lengthscales: []float64{0.4, 0.6}, Noise: 0.05}
	p, err := NewIntervalPosterior(plane, x, within, h)
	if err != nil {
		t.Fatal(err)
	}
	probes := append(slices.Clone(x), scattered(10, rng)...)
	mean, square := gibbs(t, x, within, h, probes, rng)
	for i, probe := range probes {
		m, v := p.Predict(probe)
		if sd := math.Sqrt(square[i] - mean[i]*mean[i]); math.Abs(m-mean[i]) > 0.05 || math.Abs(math.Sqrt(v)-sd) > 0.05 {
			t.Errorf("at %v: %g ± %g, sampled %g ± %g", probe, m, math.Sqrt(v), mean[i], sd)
		}
	}
}

// gibbs samples the noisy outputs within their intervals, one given all others, and from
// each state the exact normal posterior; it returns the first two moments at the probes.
// The states of neighbours go together: 60,000 have a standard error of 0.01 to 0.02.
func gibbs(t *testing.T, x [][]float64, within []Interval, h Hyperparameters, probes [][]float64, rng *rand.Rand) (mean, square []float64) {
	t.Helper()
	outputs := make([]float64, len(x))
	for i, w := range within {
		outputs[i] = min(max(0, w.Low+0.1), w.High-0.1)
	}
	mean, square = make([]float64, len(probes)), make([]float64, len(probes))
	others := make([]*Posterior, len(x)) // given all outputs but one
	for i := range x {
		var err error
		if others[i], err = NewPosterior(plane, without(x, i), without(outputs, i), h); err != nil {
			t.Fatal(err)
		}
	}
	all, err := NewPosterior(plane, x, outputs, h)
	if err != nil {
		t.Fatal(err)
	}
	const states, burnIn = 60000, 500
	for state := range states + burnIn {
		for i := range x {
			others[i].condition(without(outputs, i))
			m, v := others[i].Predict(x[i])
			sd := math.Sqrt(v + h.Noise)
			for {
				if outputs[i] = m + sd*rng.NormFloat64(); within[i].Low <= outputs[i] && outputs[i] <= within[i].High {
					break
				}
			}
		}
		if state < burnIn {
			continue
		}
		all.condition(outputs)
		for i, probe := range probes {
			m, v := all.Predict(probe)
			mean[i] += m / states
			square[i] += (v + m*m) / states
		}
	}
	return mean, square
}

func without[T any](all []T, i int) []T { return slices.Delete(slices.Clone(all), i, i+1) }

// Intervals at points where numbers are known change what the numbers leave open.
func TestWithinAddsToNumbers(t *testing.T) {
	h := Hyperparameters{Lengthscales: []float64{0.3, 0.3}, Noise: 0.01}
	known, err := NewPosterior(plane, [][]float64{{0.1, 0.1}, {0.9, 0.9}}, []float64{-1, 0.5}, h)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{0.5, 0.5}
	mean, variance := known.Predict(at)
	sd := math.Sqrt(variance + h.Noise)
	within := Interval{1.5, math.Inf(1)}
	p, err := known.Within([][]float64{at}, []Interval{within})
	if err != nil {
		t.Fatal(err)
	}
	_, slope := normal.LogCDF((mean - within.Low) / sd)
	if got, _ := p.Predict(at); math.Abs(got-(mean+variance/sd*slope)) > 1e-6 {
		t.Errorf("mean %g became %g, want %g", mean, got, mean+variance/sd*slope)
	}
	if before, _ := known.Predict([]float64{0.1, 0.1}); math.Abs(before+1) > 0.02 {
		t.Errorf("the posterior has changed: %g", before)
	}
	if after, _ := p.Predict([]float64{0.1, 0.1}); math.Abs(after+1) > 0.02 {
		t.Errorf("a number is forgotten: %g", after)
	}
	// A draw keeps all of it too.
	for range 20 {
		f := p.Draw(512, rngOf(7))
		if f.Value([]float64{0.1, 0.1}) > -0.6 {
			t.Errorf("a draw has %g where -1 was measured", f.Value([]float64{0.1, 0.1}))
		}
	}
}

// Labels on both sides of a line, a tenth of them wrong: the fit tells the coordinate that
// matters and that labels have noise, and most other points are told right, where 130 of 200 would be by the larger side.
func TestFitIntervalsLearns(t *testing.T) {
	rng := rngOf(2)
	x := scattered(60, rng)
	var within []Interval
	truth := func(x []float64) bool { return x[0] > 0.35 }
	for i := range x {
		within = append(within, Side(truth(x[i]) != (i%10 == 0)))
	}
	h, err := FitIntervals(t.Context(), plane, x, within, nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	if h.Lengthscales[1] < 2*h.Lengthscales[0] || h.Noise < 0.01 {
		t.Errorf("%+v", h)
	}
	again, err := FitIntervals(t.Context(), plane, x, within, []Hyperparameters{h}, rngOf(9))
	if err != nil || math.Abs(math.Log(again.Noise/h.Noise)) > 0.2 {
		t.Errorf("from its own result: %+v after %+v, %v", again, h, err)
	}
	p, err := NewIntervalPosterior(plane, x, within, h)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, probe := range scattered(200, rng) {
		if p.Mean(probe) > 0 == truth(probe) {
			right++
		}
	}
	if right < 170 {
		t.Errorf("%d of 200 points are told right", right)
	}
}

// Contradictions, equal points and hundreds of certain labels neither fail nor give
// anything that is not finite.
func TestIntervalsInExtremes(t *testing.T) {
	rng := rngOf(3)
	h := Hyperparameters{Lengthscales: []float64{5, 5}, Noise: NoiseFloor}
	for name, labels := range map[string]func(i int) Interval{
		"all true":       func(int) Interval { return Side(true) },
		"contradictions": func(i int) Interval { return Side(i%2 == 0) },
		"a far interval": func(i int) Interval { return Interval{30, 31} },
		"a narrow one":   func(i int) Interval { return Interval{0.5, 0.5 + 1e-9} },
	} {
		x := scattered(40, rng)
		x = append(x, x...)
		var within []Interval
		for i := range x {
			within = append(within, labels(i))
		}
		p, err := NewIntervalPosterior(plane, x, within, h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mean, variance := p.Predict([]float64{0.5, 0.5})
		if math.IsNaN(mean) || math.IsInf(mean, 0) || math.IsNaN(variance) {
			t.Errorf("%s: %g ± %g", name, mean, variance)
		}
		if _, err := FitIntervals(t.Context(), plane, x, within, nil, rng); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIntervalsAreChecked(t *testing.T) {
	x := [][]float64{{0.5, 0.5}}
	for name, within := range map[string][]Interval{
		"reversed": {{1, 0}}, "empty": {{1, 1}}, "NaN": {{math.NaN(), 1}}, "none": {}, "two": {Side(true), Side(true)},
	} {
		if _, err := NewIntervalPosterior(plane, x, within, priorMode(2)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := FitIntervals(t.Context(), plane, x, within, nil, rngOf(1)); err == nil {
			t.Errorf("%s: fitted", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitIntervals(ctx, plane, x, []Interval{Side(true)}, nil, rngOf(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is known only by sides of 0, beside the same known by numbers.
func BenchmarkIntervals(b *testing.B) {
	rng := rngOf(1)
	for _, n := range []int{20, 100, 300} {
		x := scattered(n, rng)
		var within []Interval
		y := make([]float64, n)
		for i := range x {
			y[i] = x[i][0] - 0.4 + 0.1*math.Sin(9*x[i][1])
			within = append(within, Side(y[i] > 0))
		}
		h := Hyperparameters{Lengthscales: []float64{0.5, 1}, Noise: 0.01}
		for name, run := range map[string]func() error{
			"fit/intervals": func() error {
				_, err := FitIntervals(b.Context(), plane, x, within, nil, rngOf(1))
				return err
			},
			"fit/numbers":         func() error { _, err := Fit(b.Context(), plane, x, y, nil, rngOf(1)); return err },
			"posterior/intervals": func() error { _, err := NewIntervalPosterior(plane, x, within, h); return err },
			"posterior/numbers":   func() error { _, err := NewPosterior(plane, x, y, h); return err },
		} {
			b.Run(fmt.Sprintf("%s/t=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
