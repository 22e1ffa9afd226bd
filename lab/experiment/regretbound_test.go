package experiment

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/task"
)

// W(λ+f*) - W(λ+f) by weights 3 and 1, f* = 10. At first λ is 0 and f is 7 and 9: 40 - 30.
// Then λ is 6 and 9.5, f is 9 and 5: W(16, 19.5) = 67.5, W(15, 14.5) = 58.5. The second
// agent then is the worse off by λ+f.
func TestObservedRegretByHand(t *testing.T) {
	got := observedRegret([]float64{3, 1}, [][]float64{{3, 1}, {1, 5}}, [][]float64{{6, 8}, {9.5, 5}})
	near(t, "S'_T", got, 40-30+67.5-58.5)
}

// What is told without noise makes S'_T by normalised weights S_T, and nothing at the
// optimum can be regretted, whatever is told.
func TestObservedRegretWithoutNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regrets, optimum := plays(t), rapid.Float64Range(-20, 20).Draw(t, "optimum")
		told := make([][]float64, len(regrets))
		none := make([][]float64, len(regrets))
		for i, row := range regrets {
			for _, r := range row {
				told[i] = append(told[i], optimum-r)
			}
			none[i] = make([]float64, len(row))
		}
		weights := judgeWeights(len(regrets), rapid.Float64Range(0.1, 1).Draw(t, "rho"))
		if got, want := observedRegret(weights, regrets, told), playOf(regrets...).fairRegret(weights); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g, want %g", got, want)
		}
		if got := observedRegret(weights, none, told); math.Abs(got) > 1e-9 {
			t.Errorf("%g at the optimum", got)
		}
	})
}

// settings of a section strategy.
type settings map[string]any

func (s settings) Keys() map[string]any { return s }

func TestWeightsAreThoseOfTheTask(t *testing.T) {
	for _, c := range []struct {
		settings task.StrategySettings
		want     []float64
	}{
		{nil, []float64{1, 1, 1}},
		{settings{"batch": "two-step"}, []float64{1, 1, 1}},
		{settings{"rho": 0.5, "weights": "exponential"}, []float64{1, 0.5, 0.25}},
		{settings{"rho": 2., "weights": "linear"}, []float64{5, 3, 1}},
	} {
		if got := partyWeights(&task.Task{Strategy: task.Strategy{Settings: c.settings}}, 3); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.settings, got, c.want)
		}
	}
}

// Two equal designs and one far from them, noise of a quarter: det [[5 4 0] [4 5 0]
// [0 0 5]] is 45.
func TestInformationByHand(t *testing.T) {
	p := process{spec: gp.Spec{Kernel: gp.SE, Groups: []int{0}}, lengthscales: []float64{0.01}, deviation: 3, noise: 0.25}
	near(t, "information", p.information([][]float64{{0.2}, {0.2}, {0.9}}), math.Log(45)/2)
}

// Two parties that count alike, noise of 1/(e-1), so that C_1 is 4 and exp(2C) is e; one
// float, four evaluations and one nat: α is 8e·(62 ln 2 + ln(16π²/.6)).
func TestBoundByHand(t *testing.T) {
	p := process{deviation: 3, noise: 1 / (math.E - 1)}
	alpha := 8 * math.E * (62*math.Ln2 + math.Log(16*math.Pi*math.Pi/0.6))
	near(t, "of floats", p.bound(1, []float64{1, 1}, familyOf(t, "gp:d=1").Space, 4), 2*3*math.Sqrt(4*alpha))
	whole, err := task.NewSpace([]task.Parameter{{Name: "a", Kind: task.Int, Low: 1, High: 20}, {Name: "b", Kind: task.Categorical, Choices: []string{"x", "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	alpha = 8 * math.E * (math.Log(40) + math.Log(16*math.Pi*math.Pi/0.6))
	near(t, "of 40 designs", p.bound(1, []float64{1, 1}, whole, 4), 2*3*math.Sqrt(4*alpha))
}

// TestRunsOfRostersAreObserved checks that a run with a roster has the bound, computed from the
// noisy reports, and with fixed hyperparameters the information; solo runs have neither.
func TestRunsOfRostersAreObserved(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Own, p.Strategies = ownStrategies(), specsOf(t, "ts,together,together:understate=2") })
	records := playAll(t, p, drawn(t, p))
	honest, liar := records["together"].Observed, records["together:understate=2"].Observed
	if records["ts"].Observed != nil || honest == nil || !math.IsNaN(float64(honest.Bound)) {
		t.Fatalf("%+v, %+v", records["ts"].Observed, honest)
	}
	// All count alike, so that S'_T is the sum of all regrets, whatever is told.
	sum := 0.0
	for _, m := range records["together"].Members {
		for _, r := range m.Regret {
			sum += float64(r)
		}
	}
	near(t, "S'_T", float64(honest.Regret), sum)
	near(t, "with a liar", float64(liar.Regret), sum)
}

func TestProcessOfATaskThatKnowsIt(t *testing.T) {
	p := tiny(t, nil)
	own, err := p.known().NewTask(task.Spec{
		Name: "a", Goal: task.Minimize, Parameters: p.Family.Space.Parameters(),
		Surrogate: task.Settings{"hyperparameters": "fixed", "lengthscales": []float64{0.3}, "mean": 7, "signal_std": 2, "noise_std": 0.5},
		Strategy:  task.Strategy{Type: "ts"},
	})
	if err != nil {
		t.Fatal(err)
	}
	known, ok := fixedProcess(own)
	if !ok || known.deviation != 2 || known.noise != 1./16 || !slices.Equal(known.lengthscales, []float64{0.3}) {
		t.Errorf("%+v, %v", known, ok)
	}
	near(t, "information", known.information([][]float64{{0.5}}), math.Log(17)/2)
}
