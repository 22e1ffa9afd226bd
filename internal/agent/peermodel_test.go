package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// panicking is a model that cannot use what peers share.
type panicking struct{ surrogate.Process }

func (panicking) FitWithPeers(context.Context, any, surrogate.Observations, *surrogate.Hyperparameters, *rand.Rand) (surrogate.Hyperparameters, error) {
	panic("an unexpected value")
}

func (panicking) ConditionOnPeers(context.Context, any, surrogate.Observations, surrogate.Posterior) (surrogate.Posterior, error) {
	panic("an unexpected value")
}

type informing struct{}

func (informing) InformsModel() bool { return true }

// A model that panics on peers' shares costs their information and nothing else: the computation
// returns the error, and the posterior without peers.
func TestModelsThatPanicLearnWithoutPeers(t *testing.T) {
	spec := newTask(t, "bowl", "type: alone, initial_designs: 2")
	own, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, configOf(t, spec, 1))
	d.run(3, bowl)
	view := strategy.View{Task: spec, Trials: d.agent.trials.list}
	observations := view.Observed(task.Objective)
	learn := func(kind surrogate.Model, peers strategy.ModelInput) modelled {
		m := &model{kind: kind}
		result, err := m.learn(spec, observations, len(observations.Y), random.SeedOf(1), peers)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return result.(modelled)
	}
	got, want := learn(panicking{own.(surrogate.Process)}, informing{}), learn(own, nil)
	var panicked *recoverpanic.Panic
	if !errors.As(got.withoutPeers, &panicked) || want.withoutPeers != nil {
		t.Errorf("with peers %v, without %v", got.withoutPeers, want.withoutPeers)
	}
	x := observations.X[0]
	mean, variance := got.posterior.Predict(x)
	if m, v := want.posterior.Predict(x); m != mean || v != variance {
		t.Errorf("mean %g and variance %g, without peers %g and %g", mean, variance, m, v)
	}
}
