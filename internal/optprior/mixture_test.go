package optprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

func mixtureOf(spec *task.Task, d protocol.Density) *Mixture {
	return NewMixture(NewLayout(spec.Space), spec.Space, d)
}

func logOf(m *Mixture, x []float64) float64 {
	var each Logs
	return m.Log(&each, x)
}

// integral averages the density over the midpoints of a grid of the unit square
// and over all choices of a categorical, if there is one after it.
func integral(m *Mixture, steps int) float64 {
	x := make([]float64, m.layout.Dim)
	sum, count := 0.0, 0.0
	var over func(k int)
	over = func(k int) {
		switch {
		case k < len(m.layout.Numbers):
			for i := range steps {
				x[m.layout.Numbers[k]] = (float64(i) + 0.5) / float64(steps)
				over(k + 1)
			}
		case k < len(m.layout.Numbers)+len(m.layout.Categories):
			block := m.layout.Categories[k-len(m.layout.Numbers)]
			for i := range block.Len {
				x[block.Start+i] = 1
				over(k + 1)
				x[block.Start+i] = 0
			}
		default:
			sum += math.Exp(logOf(m, x))
			count++
		}
	}
	over(0)
	return sum / count
}

// A midpoint rule whose steps are a fifth of a spread or finer errs by less than
// a hundredth, most of it where a normal is cut.
func TestDensitiesIntegrateToOne(t *testing.T) {
	const categories = "{name: c, type: categorical, choices: [a, b, c]}, {name: d, type: categorical, choices: [a, b]}"
	for _, c := range []struct {
		parameters string
		steps      int
		least      float64 // spread
	}{
		{line, 5000, 1e-3},
		{plane, 100, 0.05},
		{categories, 1, 1e-3},
		{line + ", " + categories, 1000, 5e-3},
		{"{name: n, type: int, low: 1, high: 1000}", 1000, 5e-3},
	} {
		spec := newTask(t, c.parameters)
		rng := random.SeedOf(1).Stream("densities", 0)
		for range 5 {
			d := randomDensity(spec, rng)
			for i := range d.Components {
				d.Components[i].Std = max(d.Components[i].Std, c.least)
			}
			if got := integral(mixtureOf(spec, d), c.steps); math.Abs(got-1) > 0.01 {
				t.Errorf("%s: %v integrates to %v", c.parameters, d, got)
			}
		}
		edge := make([]float64, spec.Space.Dim())
		spec.Space.Snap(edge)
		for _, spread := range []float64{c.least, 0.2, protocol.MaxSpread} {
			if got := integral(mixtureOf(spec, around(spec, spread, edge)), c.steps); math.Abs(got-1) > 0.01 {
				t.Errorf("%s: spread %g at the edge integrates to %v", c.parameters, spread, got)
			}
		}
	}
}

// The centre's choice is the likeliest, by so much as the spread says.
func TestLawOfACategorical(t *testing.T) {
	spec := newTask(t, "{name: c, type: categorical, choices: [a, b, c, d]}")
	last := math.Inf(1)
	for _, spread := range []float64{protocol.MinSpread, 0.05, 0.1, 0.2, 0.5, 1, protocol.MaxSpread} {
		m := mixtureOf(spec, around(spec, spread, []float64{0, 1, 0, 0}))
		same, other := logOf(m, []float64{0, 1, 0, 0}), logOf(m, []float64{0, 0, 0, 1})
		if !(same > other) || !(same <= last) {
			t.Errorf("spread %g: the centre's choice has %g after %g, another %g", spread, same, last, other)
		}
		last = same
		// The law is that of the middle quarter of the unit interval.
		x := normalAround(spread)
		if want := math.Log(4 * (x(0.625) - x(0.375)) / (x(1) - x(0))); math.Abs(same-want) > 1e-9 {
			t.Errorf("spread %g: %g, want %g", spread, same, want)
		}
	}
	if m := mixtureOf(spec, around(spec, protocol.MaxSpread, []float64{0, 1, 0, 0})); math.Abs(logOf(m, []float64{1, 0, 0, 0})) > 0.01 {
		t.Error("the widest density is not uniform")
	}
}

// normalAround is the distribution function of a normal around 0.5.
func normalAround(spread float64) func(x float64) float64 {
	return func(x float64) float64 { return math.Erfc((0.5-x)/spread/math.Sqrt2) / 2 }
}

// Central differences of step 1e-6 times the narrowest spread have four digits at
// least; within a category's block the point lies between the choices.
func TestGradientOfTheLogarithm(t *testing.T) {
	spec := newTask(t, mixed)
	rng := random.SeedOf(2).Stream("gradient", 0)
	for range 200 {
		d := randomDensity(spec, rng)
		for i := range d.Components {
			d.Components[i].Std = max(d.Components[i].Std, 0.05)
		}
		m := mixtureOf(spec, d)
		x := acquisition.Sample(spec.Space, rng)
		for i := range x[3:] {
			x[3+i] = 0.2 + 0.6*x[3+i]
		}
		grad := make([]float64, len(x))
		var each Logs
		total := m.Log(&each, x)
		m.AddGradient(grad, x, &each, total, 1)
		fbotest.CheckGradient(t, grad, x, func(x []float64) float64 { return logOf(m, x) }, 1e-4)
	}
}
