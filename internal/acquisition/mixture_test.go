package acquisition

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// flat has one value everywhere, and the gradient of something else.
type flat float64

func (f flat) Value([]float64) float64 { return float64(f) }

func (f flat) Gradient(grad, _ []float64) float64 {
	for i := range grad {
		grad[i] = math.NaN()
	}
	return float64(f)
}

// The logarithm of the mean of exponentials, with its gradient, at many points as at one,
// in any order of the functions.
func TestLogMeanIsTheMean(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		dim := rapid.IntRange(1, 4).Draw(rt, "dim")
		var fs, reversed []Function
		for range rapid.IntRange(1, 9).Draw(rt, "functions") {
			f := wave(rng, dim, false)
			fs, reversed = append(fs, f), append([]Function{f}, reversed...)
		}
		f := LogMean(fs...)
		const count = 3
		var points []float64
		for range count * dim {
			points = append(points, rng.Float64())
		}
		values := make([]float64, count)
		evaluate(f, values, points)
		for i, together := range values {
			x := points[i*dim : (i+1)*dim]
			want := 0.0
			for _, g := range fs {
				want += math.Exp(g.Value(x)) / float64(len(fs))
			}
			want = math.Log(want)
			grad, slopes := make([]float64, dim), make([]float64, dim)
			value, byGradient := f.Value(x), f.Gradient(grad, x)
			for name, got := range map[string]float64{"Value": value, "Values": together, "Gradient": byGradient, "in another order": LogMean(reversed...).Value(x)} {
				if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					rt.Fatalf("%s: %g, want %g", name, got, want)
				}
			}
			analytic(f.Value).Gradient(slopes, x)
			for k := range grad {
				if math.Abs(grad[k]-slopes[k]) > 1e-5*(1+math.Abs(slopes[k])) {
					rt.Fatalf("gradient %v, differences %v", grad, slopes)
				}
			}
		}
	})
}

// Of expected improvements it is the logarithm of their mean.
func TestLogMeanOfImprovements(t *testing.T) {
	members := []oneObservation{{[]float64{0.2}, 1, 0.3}, {[]float64{0.2}, 1, 0.1}, {[]float64{0.7}, -1, 0.6}}
	var logs []Function
	for i, p := range members {
		logs = append(logs, LogEI(p, 0.4+float64(i)/10))
	}
	for _, at := range []float64{0, 0.25, 0.5, 0.9} {
		want := 0.0
		for i, p := range members {
			want += EI(p, 0.4+float64(i)/10).Value([]float64{at}) / 3
		}
		if got := math.Exp(LogMean(logs...).Value([]float64{at})); math.Abs(got-want) > 1e-12 {
			t.Errorf("at %g: %g, want %g", at, got, want)
		}
	}
}

// Values that no float64 holds the exponential of have a mean all the same, and lead on.
func TestLogMeanInTheTails(t *testing.T) {
	for _, level := range []float64{-1e4, 1e4} {
		first := analytic(func(x []float64) float64 { return level + x[0] })
		second := analytic(func(x []float64) float64 { return level - 3*x[0] })
		f, grad := LogMean(first, second), []float64{0}
		value := f.Gradient(grad, []float64{0})
		if math.Abs(value-level) > 1e-9 || math.Abs(grad[0]+1) > 1e-4 {
			t.Errorf("at level %g: %g with slope %g, want a slope of -1", level, value, grad[0])
		}
	}
	near, far := analytic(func(x []float64) float64 { return 2 * x[0] }), analytic(func(x []float64) float64 { return x[0] - 5000 })
	grad := []float64{0}
	if value := LogMean(far, near).Gradient(grad, []float64{1}); math.Abs(value-(2-math.Log(2))) > 1e-12 || math.Abs(grad[0]-2) > 1e-4 {
		t.Errorf("%g with slope %g: the one that counts for nothing is heard", value, grad[0])
	}
}

// A function that is 0 or no number somewhere counts for nothing there, and as one in the
// mean; where all are it is -Inf, without a slope.
func TestLogMeanOfNothing(t *testing.T) {
	nan, nothing := flat(math.NaN()), flat(math.Inf(-1))
	some := analytic(func(x []float64) float64 { return 3 * x[0] })
	x := []float64{0.5}
	for name, fs := range map[string][]Function{
		"first": {nan, nothing, some}, "between": {nothing, some, nan}, "last": {some, nan, nothing},
	} {
		f, grad, values := LogMean(fs...), []float64{7}, []float64{0}
		evaluate(f, values, x)
		want := 1.5 - math.Log(3)
		if one, slope := f.Value(x), f.Gradient(grad, x); math.Abs(one-want) > 1e-12 || math.Abs(slope-want) > 1e-12 || math.Abs(values[0]-want) > 1e-12 || math.Abs(grad[0]-3) > 1e-4 {
			t.Errorf("%s: %g, %g, %g with gradient %v, want %g and 3", name, one, values[0], slope, grad, want)
		}
	}
	f, grad, values := LogMean(nan, nothing), []float64{7}, []float64{0}
	evaluate(f, values, x)
	if one, slope := f.Value(x), f.Gradient(grad, x); !math.IsInf(one, -1) || !math.IsInf(slope, -1) || !math.IsInf(values[0], -1) || grad[0] != 0 {
		t.Errorf("nothing: %g, %g, %g with gradient %v", one, values[0], slope, grad)
	}
}

// One function is itself, none is a fault, and the list of the caller may change.
func TestLogMeanOfOneAndOfNone(t *testing.T) {
	f := LogEI(oneObservation{[]float64{0.5}, 1, 0.3}, 0.2)
	if LogMean(f) != f {
		t.Error("the mean of one function is another")
	}
	list := []Function{flat(1), flat(1)}
	mean := LogMean(list...)
	list[0] = flat(100)
	if got := mean.Value(nil); math.Abs(got-1) > 1e-12 {
		t.Errorf("%g after a change of the list", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("the mean of no functions")
		}
	}()
	LogMean()
}
