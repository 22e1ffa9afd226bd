package surrogate_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// A process in the objective's own units, far from standardised ones.
var (
	fixedLengthscales                  = []float64{0.3, 0.7}
	fixedMean, fixedStd, fixedNoiseStd = 40.0, 5.0, 0.5 // mean, deviation, noise
)

func fixedTask(t testing.TB, goal task.Goal, constraints ...task.Constraint) *task.Task {
	t.Helper()
	got, err := all.Strategies().NewTask(task.Spec{Name: "known", Goal: goal,
		Parameters:  []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}},
		Constraints: constraints,
		Surrogate: task.Settings{"hyperparameters": "fixed", "kernel": "se", "features": 64,
			"lengthscales": fixedLengthscales, "mean": fixedMean, "signal_std": fixedStd, "noise_std": fixedNoiseStd},
		Strategy: task.Strategy{Type: "ts"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func fixedModel(t testing.TB, definition *task.Task) surrogate.Model {
	t.Helper()
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// measured are outputs as an evaluation measures them.
func measured(n int) (x [][]float64, y []float64) {
	rng := random.SeedOf(4).Stream("t", 0)
	for range n {
		at := []float64{rng.Float64(), rng.Float64()}
		x, y = append(x, at), append(y, 43+6*math.Sin(5*at[0])-2*at[1])
	}
	return x, y
}

// inOwnUnits is the posterior in the objective's own units, by Rasmussen and Williams,
// equations 2.23 and 2.24, about the known mean.
func inOwnUnits(x [][]float64, y []float64, at []float64) (mean, variance float64) {
	kernel := func(a, b []float64) float64 {
		square := 0.0
		for k, l := range fixedLengthscales {
			square += (a[k] - b[k]) * (a[k] - b[k]) / (l * l)
		}
		return fixedStd * fixedStd * math.Exp(-square/2)
	}
	mean, variance = fixedMean, kernel(at, at)
	if len(x) == 0 {
		return mean, variance
	}
	c, cross, off := mat.NewDense(len(x), len(x), nil), mat.NewVecDense(len(x), nil), mat.NewVecDense(len(x), nil)
	for i := range x {
		for j := range x {
			c.Set(i, j, kernel(x[i], x[j]))
		}
		c.Set(i, i, c.At(i, i)+fixedNoiseStd*fixedNoiseStd)
		cross.SetVec(i, kernel(x[i], at))
		off.SetVec(i, y[i]-fixedMean)
	}
	var weights mat.VecDense
	if err := weights.SolveVec(c, cross); err != nil {
		panic(err)
	}
	return mean + mat.Dot(&weights, off), variance - mat.Dot(&weights, cross)
}

// In its own units the posterior is the direct computation, for either goal and from no
// observation on, whether they come one by one or at once. The last outputs are far in what
// would be the bent tail.
func TestFixedHyperparametersAreTheDirectComputation(t *testing.T) {
	for _, goal := range []task.Goal{task.Minimize, task.Maximize} {
		definition := fixedTask(t, goal)
		model := fixedModel(t, definition)
		x, y := measured(10)
		y[8], y[9] = 400, -300
		var grown surrogate.Posterior
		for n := range len(y) + 1 {
			obs := surrogate.Observations{X: x[:n]}
			for _, v := range y[:n] {
				obs.Y = append(obs.Y, goal.Sign()*v)
			}
			before := slices.Clone(obs.Y)
			h, err := model.Fit(t.Context(), obs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := (fixedNoiseStd / fixedStd) * (fixedNoiseStd / fixedStd); !slices.Equal(h.Lengthscales, fixedLengthscales) || h.Noise != want {
				t.Fatalf("hyperparameters %+v", h)
			}
			anew, err := model.Condition(obs, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			if grown, err = model.Condition(obs, h, grown); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(obs.Y, before) {
				t.Fatal("the observations were altered")
			}
			for _, p := range []surrogate.Posterior{anew, grown} {
				units := p.(surrogate.Scaled).Units()
				for _, at := range [][]float64{{0.1, 0.9}, {0.5, 0.5}, {1, 0}} {
					mean, variance := p.Predict(at)
					wantMean, wantVariance := inOwnUnits(x[:n], y[:n], at)
					gotMean, gotVariance := goal.Sign()*(units.Level+units.Scale*mean), units.Scale*units.Scale*variance
					if math.Abs(gotMean-wantMean) > 1e-6*(1+math.Abs(wantMean)) || math.Abs(gotVariance-wantVariance) > 1e-6 {
						t.Fatalf("%s, %d observations: mean %g and variance %g, want %g and %g", goal, n, gotMean, gotVariance, wantMean, wantVariance)
					}
				}
			}
			whatItSays(t, anew)
		}
	}
}

// whatItSays asks the posterior for all that it tells others.
func whatItSays(t *testing.T, p surrogate.Posterior) {
	t.Helper()
	rng := random.SeedOf(1).Stream("t", 0)
	at := []float64{0.4, 0.6}
	weights, err := p.Weights(t.Context(), rng)
	if err != nil {
		t.Fatal(err)
	}
	level, mean := p.Mean()
	detailedLevel, detailed := p.DetailedMean()
	average, where := p.Explained()
	mean0, variance := p.Predict(at)
	grad, other := make([]float64, 2), make([]float64, 2)
	mean1, variance1 := p.PredictGradient(grad, other, at)
	if math.Abs(mean0-mean1) > 1e-9 || math.Abs(variance-variance1) > 1e-9 {
		t.Errorf("mean %g and variance %g, with gradients %g and %g", mean0, variance, mean1, variance1)
	}
	if level != 0 || detailedLevel != 0 || average < 0 || average > 1 {
		t.Errorf("level %g and %g, explained %g", level, detailedLevel, average)
	}
	joint := p.(surrogate.JointPosterior).Joint([][]float64{at, at})
	for _, v := range slices.Concat(weights, mean, detailed, where, grad, other, joint.Mean(), []float64{p.Draw(rng).Value(at)}) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("it says %g", v)
		}
	}
	for _, w := range [][]float64{weights, mean, detailed, where} {
		if len(w) == 0 || len(w)%64 != 0 {
			t.Errorf("%d weights", len(w))
		}
	}
}

// Without observations a share of a sample is one of the prior, and of what is known there
// is nothing to tell.
func TestFixedHyperparametersWithoutObservations(t *testing.T) {
	model := fixedModel(t, fixedTask(t, task.Maximize))
	h, err := model.Fit(t.Context(), surrogate.Observations{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Condition(surrogate.Observations{}, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, mean := p.DetailedMean()
	average, where := p.Explained()
	for _, v := range append(append(mean, where...), average) {
		if math.Abs(v) > 1e-9 {
			t.Fatalf("it tells %g", v)
		}
	}
}

func TestFixedHyperparametersRefuse(t *testing.T) {
	model := fixedModel(t, fixedTask(t, task.Maximize))
	x, y := measured(3)
	h, err := model.Fit(t.Context(), surrogate.Observations{X: x, Y: y}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, obs := range map[string]surrogate.Observations{
		"lengths":  {X: x, Y: y[:2]},
		"NaN":      {X: x, Y: []float64{1, 2, math.NaN()}},
		"infinite": {X: x, Y: []float64{1, 2, math.Inf(-1)}},
	} {
		if _, err := model.Fit(t.Context(), obs, nil, nil); err == nil {
			t.Errorf("%s: Fit accepted it", name)
		}
		if _, err := model.Condition(obs, h, nil); err == nil {
			t.Errorf("%s: Condition accepted it", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.Fit(ctx, surrogate.Observations{X: x, Y: y}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// What is further from the known mean than any number in standardised units may be counts
// as that far, on either side, and the process can still be asked.
func TestFixedHyperparametersFarFromTheMean(t *testing.T) {
	spec := fixedTask(t, task.Maximize)
	model := fixedModel(t, spec)
	x, _ := measured(3)
	deviation := spec.Surrogate.Fixed.SignalStd
	for _, far := range []float64{1e102 * deviation, 1e200, math.MaxFloat64} {
		for _, sign := range []float64{1, -1} {
			obs := surrogate.Observations{X: x, Y: []float64{1, 2, sign * far}}
			y, _, err := surrogate.Outputs(spec, obs)
			if err != nil || y[2] != sign*surrogate.MaxDeviations {
				t.Fatalf("%g is %g deviations from the mean, %v", sign*far, y, err)
			}
			h, err := model.Fit(t.Context(), obs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := model.Condition(obs, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			if mean, variance := p.Predict(x[0]); math.IsNaN(mean) || math.IsInf(mean, 0) || !(variance >= 0) {
				t.Errorf("with %g it predicts %g, variance %g", sign*far, mean, variance)
			}
		}
	}
}

// The units of a learned process are those of its standardised outputs.
func TestUnitsOfLearnedProcesses(t *testing.T) {
	x, y := measured(12)
	obs := surrogate.Observations{X: x, Y: y}
	_, want, err := surrogate.Standardise(obs)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"exact", "rff"} {
		definition, err := all.Strategies().NewTask(task.Spec{Name: "learned", Goal: task.Maximize,
			Parameters: fixedTask(t, task.Maximize).Space.Parameters(), Surrogate: task.Settings{"type": kind, "features": 64}})
		if err != nil {
			t.Fatal(err)
		}
		model := fixedModel(t, definition)
		h, err := model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0))
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.(surrogate.Scaled).Units(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: units %+v, want %+v", kind, got, want)
		}
		out, units, err := surrogate.Outputs(definition, obs)
		if standard, _, _ := surrogate.Standardise(obs); err != nil || !reflect.DeepEqual(units, want) || !slices.Equal(out, standard) {
			t.Errorf("%s: outputs %v in %+v, %v", kind, out, units, err)
		}
	}
}

// The units and outputs of fixed hyperparameters are those that its posterior speaks in.
func TestOutputsOfFixedHyperparameters(t *testing.T) {
	definition := fixedTask(t, task.Minimize)
	got, units, err := surrogate.Outputs(definition, surrogate.Observations{X: [][]float64{{0, 0}, {1, 1}}, Y: []float64{-40, -50}})
	if want := (surrogate.Units{Level: -40, Scale: 5}); err != nil || units != want || !slices.Equal(got, []float64{0, -2}) {
		t.Errorf("%v in %+v, %v, want [0 -2] in %+v", got, units, err, want)
	}
}

// The processes of constraints are learned whatever is known of the objective's.
func TestConstraintsBesideFixedHyperparametersAreLearned(t *testing.T) {
	inf := math.Inf(1)
	x, y := measured(12)
	obs := surrogate.Observations{X: x, Y: y}
	labels := surrogate.Observations{X: x}
	for _, v := range y {
		label := 0.0
		if v > 43 {
			label = 1
		}
		labels.Y = append(labels.Y, label)
	}
	for _, c := range []task.Constraint{{Output: "c", Low: -inf, High: 45}, {Output: "c", Truth: true, Low: -inf, High: inf}} {
		observed := obs
		if c.Truth {
			observed = labels
		}
		var said []float64
		for _, surrogateKeys := range []task.Settings{{"kernel": "se"},
			{"kernel": "se", "hyperparameters": "fixed", "lengthscales": fixedLengthscales, "mean": 1, "signal_std": 1, "noise_std": 1}} {
			definition, err := all.Strategies().NewTask(task.Spec{Name: "a", Goal: task.Minimize,
				Parameters:  fixedTask(t, task.Minimize).Space.Parameters(),
				Constraints: []task.Constraint{c}, Surrogate: surrogateKeys})
			if err != nil {
				t.Fatal(err)
			}
			model, err := surrogate.NewConstraint(definition, c)
			if err != nil {
				t.Fatal(err)
			}
			h, err := model.Fit(t.Context(), observed, nil, random.SeedOf(1).Stream("fit", 0))
			if err != nil {
				t.Fatal(err)
			}
			p, err := model.Condition(observed, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := p.Predict([]float64{0.3, 0.3})
			said = append(said, mean, variance)
		}
		if said[0] != said[2] || said[1] != said[3] {
			t.Errorf("truth %t: %v", c.Truth, said)
		}
	}
}
