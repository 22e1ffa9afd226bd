package strategytest

import (
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Constrain returns a task and a view with an additional constraint: a lower limit on the first
// coordinate of the design, which the trials of the view have measured. The model of the constraint
// has the given lengthscales; without any, its hyperparameters are fitted.
func Constrain(t testing.TB, view strategy.View, low float64, lengthscales ...float64) (*task.Task, strategy.View) {
	t.Helper()
	with := *view.Task
	with.Constraints = []task.Constraint{{Output: "first", Low: low, High: math.Inf(1)}}
	view.Task, view.Trials = &with, slices.Clone(view.Trials)
	obs := surrogate.Observations{}
	for i := range view.Trials {
		trial := &view.Trials[i]
		x := with.Space.Encode(trial.Design)
		outcome := *trial.Outcome
		outcome.Constraints = map[string]task.Reading{"first": task.Number(x[0])}
		trial.Outcome = &outcome
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, x[0])
	}
	model, err := surrogate.NewConstraint(&with, with.Constraints[0])
	if err != nil {
		t.Fatal(err)
	}
	h := surrogate.Hyperparameters{Lengthscales: lengthscales, Noise: 1e-3}
	if len(lengthscales) == 0 {
		if h, err = model.Fit(t.Context(), obs, nil, random.SeedOf(1).Stream("fit", 0)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := model.Condition(obs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	view.Constraints = []*surrogate.Constraint{p.(*surrogate.Constraint)}
	return &with, view
}
