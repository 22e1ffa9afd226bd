package optprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// branches has a parameter of both branches, a float and a choice of branch a, and a float of branch
// b.
const branches = line + ", {name: m, type: categorical, choices: [a, b]}, " +
	"{name: ya, type: float, low: 0, high: 1, when: {m: a}}, {name: ca, type: categorical, choices: [p, q, r], when: {m: a}}, " +
	"{name: yb, type: float, low: 0, high: 1, when: {m: b}}, {name: k, type: int, value: 3}"

func encoded(t *testing.T, spec *task.Task, values ...task.Value) []float64 {
	t.Helper()
	d, err := spec.Space.NewDesign(values...)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Space.Encode(d)
}

// A density around a design of branch b is that of the common parameters on branch a: its other
// parameters do not count, wherever they are.
func TestDensityOfAnotherBranch(t *testing.T) {
	spec := newTask(t, branches)
	common := newTask(t, line+", {name: m, type: categorical, choices: [a, b]}")
	a, b, k := task.ChoiceValue("a"), task.ChoiceValue("b"), task.IntValue(3)
	centre := encoded(t, spec, task.FloatValue(0.3), b, task.Value{}, task.Value{}, task.FloatValue(0.9), k)
	m := Around(NewLayout(spec.Space), 0.2, centre)
	of := Around(NewLayout(common.Space), 0.2, encoded(t, common, task.FloatValue(0.3), b))
	want := logOf(of, encoded(t, common, task.FloatValue(0.4), a))
	for _, y := range []float64{0, 0.5, 1} {
		for _, c := range []string{"p", "q", "r"} {
			x := encoded(t, spec, task.FloatValue(0.4), a, task.FloatValue(y), task.ChoiceValue(c), task.Value{}, k)
			if got := logOf(m, x); math.Abs(got-want) > 1e-12 {
				t.Errorf("y %g and %s: %g, want %g", y, c, got, want)
			}
		}
	}
	near := encoded(t, spec, task.FloatValue(0.3), b, task.Value{}, task.Value{}, task.FloatValue(0.9), k)
	far := encoded(t, spec, task.FloatValue(0.3), b, task.Value{}, task.Value{}, task.FloatValue(0.1), k)
	if logOf(m, near) <= logOf(m, far)+1 {
		t.Errorf("on the centre's branch %g at it and %g far away", logOf(m, near), logOf(m, far))
	}
}

// The density relative to the uniform one has the average 1 over uniform designs. With 20,000 of them
// the standard error is at most 0.02.
func TestDensityOfBranchesIntegratesToOne(t *testing.T) {
	spec := newTask(t, branches)
	rng := random.SeedOf(1).Stream("designs", 0)
	for range 6 {
		centre := acquisition.Sample(spec.Space, rng)
		m, sum := Around(NewLayout(spec.Space), 0.2, centre), 0.0
		const count = 20_000
		for range count {
			sum += math.Exp(logOf(m, acquisition.Sample(spec.Space, rng))) / count
		}
		if math.Abs(sum-1) > 0.1 {
			t.Errorf("around %v: average %g", spec.Space.Decode(centre), sum)
		}
	}
}

// The gradient is that of the active parameters, and 0 along inactive ones.
func TestGradientOfBranches(t *testing.T) {
	spec := newTask(t, branches)
	rng := random.SeedOf(2).Stream("designs", 0)
	for range 50 {
		m := mixtureOf(spec, randomDensity(spec, rng))
		x := acquisition.Sample(spec.Space, rng)
		var each Logs
		total := m.Log(&each, x)
		if math.IsInf(total, -1) {
			continue
		}
		grad := make([]float64, len(x))
		m.AddGradient(grad, x, &each, total, 1)
		active := m.layout.Active(x)
		for _, i := range m.layout.Numbers {
			if !active.At(i) && grad[i] != 0 {
				t.Fatalf("slope %g along an inactive parameter", grad[i])
			}
		}
		for _, i := range m.layout.Numbers {
			one := []float64{x[i]}
			fbotest.CheckGradient(t, []float64{grad[i]}, one, func(v []float64) float64 {
				moved := append([]float64(nil), x...)
				moved[i] = v[0]
				return logOf(m, moved)
			}, 1e-3*math.Max(1, math.Abs(grad[i])))
		}
	}
}
