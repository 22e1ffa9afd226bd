package modelview_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/modelview"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const mixed = `name: mixed
goal: minimize
parameters:
  - {name: rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: units, type: int, low: 1, high: 200}
  - {name: few, type: int, low: 1, high: 3}
  - {name: kind, type: categorical, choices: [a, b, c]}
  - {name: deep, type: bool}
constraints:
  - {name: heat, high: 3}
surrogate: {features: 16}
`

func parse(t *testing.T, text string) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// known is a posterior with this mean and a deviation of 1/2, in standardised units.
type known struct {
	surrogate.Posterior
	mean func(x []float64) float64
}

func (k known) Predict(x []float64) (mean, variance float64) { return k.mean(x), 0.25 }

// viewOf has two outcomes, 10 and 30, whose median, level and scale are 20, 20 and 10·√2.
func viewOf(t *task.Task, mean func(x []float64) float64) strategy.View {
	low, high := make([]float64, t.Space.Dim()), make([]float64, t.Space.Dim())
	high[0] = 1
	view := strategytest.View(t, [][]float64{low, high}, func(x []float64) float64 { return 10 + 20*x[0] })
	view.Posterior = known{mean: mean}
	for _, trial := range view.Trials {
		trial.Outcome.Constraints = map[string]task.Reading{"heat": task.Number(1)}
	}
	return view
}

// TestSlices: every parameter has its values, in the objective's units and direction.
func TestSlices(t *testing.T) {
	of := parse(t, mixed)
	p, err := modelview.New(viewOf(of, func(x []float64) float64 { return 1 - 2*x[0] }))
	if err != nil {
		t.Fatal(err)
	}
	through := viewOf(of, nil).Trials[0].Design
	all, err := p.Slices(t.Context(), through, 5)
	if err != nil {
		t.Fatal(err)
	}
	var names, counts []string
	for _, s := range all {
		names = append(names, s.Parameter)
		text := ""
		for _, v := range s.Values {
			text += v.String() + " "
		}
		counts = append(counts, text)
		if len(s.Mean) != len(s.Values) || len(s.Low) != len(s.Values) || len(s.High) != len(s.Values) || s.Feasible != nil {
			t.Errorf("%s: %d values, %d means, %d low, %d high, feasible %v", s.Parameter, len(s.Values), len(s.Mean), len(s.Low), len(s.High), s.Feasible)
		}
	}
	if want := []string{"rate", "units", "few", "kind", "deep"}; !slices.Equal(names, want) {
		t.Errorf("parameters %v", names)
	}
	if want := []string{"0.001 0.00562341325190349 0.0316227766016838 0.177827941003892 1 ", "1 51 101 150 200 ", "1 2 3 ", "a b c ", "false true "}; len(counts) != 5 || counts[1] != want[1] || counts[2] != want[2] || counts[3] != want[3] || counts[4] != want[4] {
		t.Errorf("values %q", counts)
	}
	// A standardised 1 is 10·√2 better than 20, so 20 - 10·√2 where less is better.
	scale := 10 * math.Sqrt2
	for k, mean := range all[0].Mean {
		want := 20 - scale*(1-2*float64(k)/4)
		if math.Abs(mean-want) > 1e-9 || math.Abs(all[0].High[k]-mean-1.959964*scale/2) > 1e-6 || math.Abs(mean-all[0].Low[k]-1.959964*scale/2) > 1e-6 {
			t.Errorf("value %d: %g in [%g, %g], want %g", k, mean, all[0].Low[k], all[0].High[k], want)
		}
	}
}

// Values of ints on a log scale are as far apart as their scale shows them: from each to the next
// the same factor, but for rounding. In even steps 3 of 41 values would lie below 100.
func TestLogIntsAreEvenOnTheirScale(t *testing.T) {
	parsed := parse(t, "name: log\ngoal: minimize\nparameters:\n  - {name: units, type: int, low: 1, high: 1000, scale: log}\n  - {name: x, type: float, low: 0, high: 1}\n")
	p, err := modelview.New(viewOf(parsed, func([]float64) float64 { return 0 }))
	if err != nil {
		t.Fatal(err)
	}
	through := parsed.Space.Decode(make([]float64, parsed.Space.Dim()))
	all, err := p.Slices(t.Context(), through, 41)
	if err != nil {
		t.Fatal(err)
	}
	values := all[0].Values
	for i, v := range values {
		n := v.Int()
		if i == 0 || n < 10 {
			continue
		}
		before := values[i-1].Int()
		if factor := float64(n) / float64(before); factor < 1.05 || factor > 1.35 {
			t.Errorf("from %d to %d: factor %.2f, expected about %.2f", before, n, factor, math.Pow(1000, 1./40))
		}
	}
	if first := values[0].Int(); first != 1 || len(values) < 30 {
		t.Errorf("%d values from %d", len(values), first)
	}
}

// TestContour: a row is the slice of its value of y.
func TestContour(t *testing.T) {
	of := parse(t, mixed)
	p, err := modelview.New(viewOf(of, func(x []float64) float64 { return x[0] + 3*x[2] }))
	if err != nil {
		t.Fatal(err)
	}
	through := viewOf(of, nil).Trials[0].Design
	c, err := p.Contour(t.Context(), through, "rate", "few", 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Xs) != 7 || len(c.Ys) != 3 || len(c.Mean) != 3 || len(c.Mean[0]) != 7 || len(c.Deviation) != 3 {
		t.Fatalf("%d by %d, %d rows", len(c.Xs), len(c.Ys), len(c.Mean))
	}
	all, err := p.Slices(t.Context(), through, 7)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Mean[0], all[0].Mean) {
		t.Errorf("the row of the design's own value is %v, its slice %v", c.Mean[0], all[0].Mean)
	}
	if width := 10 * math.Sqrt2 / 2; math.Abs(c.Deviation[1][3]-width) > 1e-9 {
		t.Errorf("deviation %g, want %g", c.Deviation[1][3], width)
	}
	for _, pair := range [][2]string{{"rate", "rate"}, {"none", "rate"}, {"rate", "none"}} {
		if _, err := p.Contour(t.Context(), through, pair[0], pair[1], 7); err == nil {
			t.Errorf("%v is taken", pair)
		}
	}
}

// TestImportance compares with the indices of Ishigami's function (a = 7, b = 0.1), which
// are known exactly. With 512 pairs an index has a standard error of about 5 %.
func TestImportance(t *testing.T) {
	of := parse(t, `name: ishigami
goal: maximize
parameters:
  - {name: a, type: float, low: 0, high: 1}
  - {name: b, type: float, low: 0, high: 1}
  - {name: c, type: float, low: 0, high: 1}
  - {name: none, type: categorical, choices: [x, y]}
`)
	p, err := modelview.New(viewOf(of, func(x []float64) float64 {
		in := func(i int) float64 { return math.Pi * (2*x[i] - 1) }
		s := math.Sin(in(1))
		return math.Sin(in(0)) + 7*s*s + 0.1*math.Pow(in(2), 4)*math.Sin(in(0))
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Importance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.5576, 0.4424, 0.2437, 0} {
		if math.Abs(got[i]-want) > 0.2*want {
			t.Errorf("parameter %d: %.3f, want %.3f", i, got[i], want)
		}
	}
	flat, err := modelview.New(viewOf(of, func([]float64) float64 { return 3 }))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := flat.Importance(t.Context()); err != nil || !slices.Equal(got, []float64{0, 0, 0, 0}) {
		t.Errorf("of a constant: %v, %v", got, err)
	}
}

func TestSlicesAtRangeEnds(t *testing.T) {
	of := parse(t, mixed)
	if _, err := modelview.New(strategy.View{Task: of}); !errors.Is(err, modelview.ErrNoModel) {
		t.Errorf("without a posterior: %v", err)
	}
	view := viewOf(of, func(x []float64) float64 { return x[0] })
	p, err := modelview.New(view)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Slices(ended, view.Trials[0].Design, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("slices: %v", err)
	}
	if _, err := p.Contour(ended, view.Trials[0].Design, "rate", "units", 5); !errors.Is(err, context.Canceled) {
		t.Errorf("contour: %v", err)
	}
	if _, err := p.Importance(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("importance: %v", err)
	}
}

const dependent = `name: dependent
goal: maximize
parameters:
  - {name: m, type: categorical, choices: [a, b]}
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1, when: {m: a}}
  - {name: z, type: float, low: 0, high: 1, when: {m: b}}
  - {name: k, type: int, value: 3}
parameter_constraints: ["x + y <= 1"]
`

// Slices are of the parameters that are active in the design and have values to choose from. They
// leave out what violates a constraint. Along the parent, inactive parameters are imputed.
func TestSlicesOfDependentParameters(t *testing.T) {
	of := parse(t, dependent)
	p, err := modelview.New(viewOf(of, func(x []float64) float64 { return x[3] + 10*x[4] }))
	if err != nil {
		t.Fatal(err)
	}
	design, err := of.Space.NewDesign(task.ChoiceValue("a"), task.FloatValue(0.5), task.FloatValue(0.25), task.Value{}, task.IntValue(3))
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Slices(t.Context(), design, 5)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Parameter)
	}
	if !slices.Equal(names, []string{"m", "x", "y"}) {
		t.Fatalf("slices of %v", names)
	}
	if got := all[1].Values; len(got) != 4 || got[3].Float() != 0.75 {
		t.Errorf("x has the values %v, expected those up to 0.75", got)
	}
	if got := all[2].Values; len(got) != 3 || got[2].Float() != 0.5 {
		t.Errorf("y has the values %v, expected those up to 0.5", got)
	}
	if mean := all[0].Mean; len(mean) != 2 || mean[1]-mean[0] < 3 {
		t.Errorf("along m the mean is %v, expected y imputed by 0.5 in b", mean)
	}
	if _, err := p.Contour(t.Context(), design, "x", "z", 5); err == nil || !strings.Contains(err.Error(), `"z" is inactive`) {
		t.Errorf("contour of an inactive parameter: %v", err)
	}
	c, err := p.Contour(t.Context(), design, "m", "y", 5)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Mean) != 5 || c.Mean[0][1] != c.Mean[4][1] || c.Mean[0][0] == c.Mean[4][0] {
		t.Errorf("contour %v, expected no effect of y where it is inactive", c.Mean)
	}
}

// The mean depends on y where it is active, half of the space, and on nothing else.
func TestImportanceOfInactiveParameters(t *testing.T) {
	of := parse(t, dependent)
	p, err := modelview.New(viewOf(of, func(x []float64) float64 { return x[3] }))
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Importance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// y is uniform with the variance 1/12 in half of the space and 1/2 in the other, so that the total
	// variance is 1/24. Given y, the variance over m is (y - 1/2)²/4, on average 1/48.
	for i, want := range []float64{0.5, 0, 1, 0, 0} {
		if math.Abs(got[i]-want) > 0.2 {
			t.Errorf("parameter %d: %.3f, want %.3f", i, got[i], want)
		}
	}
}
