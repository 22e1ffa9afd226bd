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

// Task parses a task file, for these strategies.
func Task(t fbotest.TB, strategies strategy.Set, format string, args ...any) *task.Task {
	t.Helper()
	parsed, err := strategies.Parse("test", fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// ShareValues lists the values of the key share of a strategy, as errors do.
func ShareValues(r strategy.Registration) string {
	var values []string
	for _, d := range r.Disclosures {
		if !slices.Contains(values, d.Share) {
			values = append(values, d.Share)
		}
	}
	return strings.Join(values, ", ")
}

// PrivateTask parses a task with a local mechanism. keys are those of its strategy, behind the
// type, and privacy are those of the mechanism.
func PrivateTask(t testing.TB, r strategy.Registration, parameters, keys, privacy string) *task.Task {
	t.Helper()
	return Task(t, strategy.Set{r}, "name: test\ngoal: minimize\nparameters: [%s]\nstrategy: {type: %s, %s}\nprivacy: {mechanism: local, %s}\n",
		parameters, r.Name, keys, privacy)
}

// View returns the view of an agent that has measured value at these encoded designs. It has no
// posterior yet.
func View(definition *task.Task, x [][]float64, value func(x []float64) float64) strategy.View {
	view := strategy.View{Task: definition, Self: "me", Observations: len(x)}
	for i, point := range x {
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: definition.Space.Decode(point), State: strategy.Done, Outcome: &strategy.Outcome{Value: value(point)},
		})
	}
	return view
}

// observations returns the values of a view's trials; larger ones are better.
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

// Condition sets the posterior of a view with trials to that of its task's surrogate. The
// hyperparameters are fixed, which saves the time of a fit: this variance of the noise, and
// lengthscales of 0.4.
func Condition(t testing.TB, view *strategy.View, noise float64) {
	t.Helper()
	h := surrogate.Hyperparameters{Noise: noise}
	if view.Task.Surrogate.Type == "exact" {
		h.Lengthscales = slices.Repeat([]float64{0.4}, view.Task.Space.Len())
	}
	condition(t, view, h)
}

// Fit sets the posterior of a view with trials to that of its task's surrogate, with fitted
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

// CheckSettings checks how the keys of the section strategy are read. The cases map the content of
// the section to the resulting strategy of a task with one float parameter.
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
