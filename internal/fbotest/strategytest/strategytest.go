// Package strategytest contains helpers for tests of strategies and exchanges.
package strategytest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/audit"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Guarantee returns the differential privacy that the audited tasks claim.
func Guarantee() audit.Guarantee { return audit.Guarantee{Epsilon: 4, Delta: 0.005} }

// Task parses the content of a task file that may use the given strategies.
func Task(t fbotest.TB, strategies strategy.Set, format string, args ...any) *task.Task {
	t.Helper()
	parsed, err := strategies.Parse("test", fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// ShareValues returns the values of a strategy's key share, in the form of error messages.
func ShareValues(r strategy.Registration) string {
	var values []string
	for _, d := range r.Disclosures {
		if !slices.Contains(values, d.Share) {
			values = append(values, d.Share)
		}
	}
	return strings.Join(values, ", ")
}

// PrivateTask parses a task with mechanism local. The argument keys has the keys of its strategy
// after the type, and privacy those of the section privacy after the mechanism.
func PrivateTask(t testing.TB, r strategy.Registration, parameters, keys, privacy string) *task.Task {
	t.Helper()
	return Task(t, strategy.Set{r}, "name: test\ngoal: minimize\nparameters: [%s]\nstrategy: {type: %s, %s}\nprivacy: {mechanism: local, %s}\n",
		parameters, r.Name, keys, privacy)
}

// View returns the view of an agent that has measured value at the given encoded designs. It has no
// posterior.
func View(definition *task.Task, x [][]float64, value func(x []float64) float64) strategy.View {
	view := strategy.View{Task: definition, Self: "me", Observations: len(x)}
	for i, point := range x {
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: definition.Space.Decode(point), State: strategy.Done, Outcome: &strategy.Outcome{Value: value(point)},
		})
	}
	return view
}

// observations returns the outcomes of a view's trials, signed so that larger is better.
func observations(view strategy.View) (obs surrogate.Observations) {
	for _, trial := range view.Trials {
		y := trial.Outcome.Value
		if view.Task.Goal == task.Minimize {
			y = -y
		}
		obs.X, obs.Y = append(obs.X, view.Task.Space.Encode(trial.Design)), append(obs.Y, y)
	}
	return obs
}

// Condition sets the posterior of a view that has trials, with the surrogate of its task. The
// hyperparameters are not fitted, which saves time: the noise has the given variance, and all
// lengthscales are 0.4.
func Condition(t testing.TB, view *strategy.View, noise float64) {
	t.Helper()
	h := surrogate.Hyperparameters{Noise: noise}
	if view.Task.Surrogate.Type == "exact" {
		h.Lengthscales = slices.Repeat([]float64{0.4}, view.Task.Space.Len())
	}
	condition(t, view, h)
}

// Fit sets the posterior of a view that has trials, with the surrogate of its task and fitted
// hyperparameters.
func Fit(t testing.TB, view *strategy.View, rng *rand.Rand) {
	t.Helper()
	h, err := model(t, view).Fit(t.Context(), observations(*view), nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	condition(t, view, h)
}

func model(t testing.TB, view *strategy.View) surrogate.Model {
	t.Helper()
	m, err := surrogate.New(view.Task)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func condition(t testing.TB, view *strategy.View, h surrogate.Hyperparameters) {
	t.Helper()
	if len(view.Trials) == 0 {
		return
	}
	posterior, err := model(t, view).Condition(observations(*view), h, nil)
	if err != nil {
		t.Fatal(err)
	}
	view.Posterior = posterior
}

// ConditionObjectives sets the posteriors of all objectives of a view that has trials. The noise has the variance 1e-4,
// and all lengthscales are 0.3.
func ConditionObjectives(t testing.TB, view *strategy.View) {
	t.Helper()
	h := surrogate.Hyperparameters{Lengthscales: slices.Repeat([]float64{0.3}, view.Task.Space.Len()), Noise: 1e-4}
	view.Objectives = nil
	for _, output := range view.Task.ObjectiveOutputs() {
		posterior, err := model(t, view).Condition(strategy.Observed(view.Task, view.Trials, output), h, nil)
		if err != nil {
			t.Fatal(err)
		}
		view.Objectives = append(view.Objectives, posterior)
	}
	view.Posterior = view.Objectives[0]
}

// CheckSettings checks how the section strategy is parsed. Each key of cases is the content of the
// section; its value is the expected Strategy of a task with one float parameter.
func CheckSettings(t *testing.T, strategies strategy.Set, cases map[string]task.Strategy) {
	t.Helper()
	for section, want := range cases {
		got, err := strategies.Parse("test", []byte("name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: "+section+"\n"))
		if err != nil {
			t.Errorf("%s: %v", section, err)
		} else if !reflect.DeepEqual(got.Strategy, want) {
			t.Errorf("%s: %+v, want %+v", section, got.Strategy, want)
		}
	}
}
