package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// model updates the posterior of one output with its observations. The models of an agent are
// independent of each other.
type model struct {
	output       task.Output
	kind         surrogate.Model
	fitted       *FitRecord          // the latest decision about hyperparameters
	posterior    surrogate.Posterior // nil until there is an observation
	at           int                 // number of observations of the posterior
	working      bool
	withoutPeers bool // the user was warned that peer information was ignored
	diverged     bool // the user was warned that an outcome was ignored

	own      bool // of the node's failures, if the task has no such constraint
	clusters bool // failures depend on the design
	followed bool // it affects the choice of designs
}

// newModels returns the models of all outputs. objective is the kind of the objective's model; the
// task determines the others.
func newModels(t *task.Task, objective surrogate.Model) (models []*model, err error) {
	models = append(models, &model{output: task.Objective, kind: objective})
	for _, c := range t.Bounds() {
		kind, err := surrogate.NewConstraint(t, c)
		if err != nil {
			return nil, err
		}
		models = append(models, &model{output: c.Output, kind: kind})
	}
	if t.Failures == task.LearnFailures {
		kind, err := surrogate.NewConstraint(t, task.TruthOf(task.Completion))
		if err != nil {
			return nil, err
		}
		models = append(models, &model{output: task.Completion, kind: kind, own: true})
	}
	return models, nil
}

// fitName returns the journal's key of an output's fits, which is also the name of their random
// stream.
func fitName(output task.Output) string {
	if output == task.Objective {
		return "fit"
	}
	return "fit/" + string(output)
}

func (a *Agent) objective() *model { return a.models[0] }

// constraints returns the posteriors of all outputs except the objective and own failures.
func (a *Agent) constraints() (all []*surrogate.Constraint) {
	for _, m := range a.models[1:] {
		if m.posterior != nil && !m.own {
			all = append(all, m.posterior.(*surrogate.Constraint))
		}
	}
	return all
}

// completion returns the posterior of completed evaluations if completion was found to depend on
// the design; nil otherwise.
func (a *Agent) completion() *surrogate.Constraint {
	if last := a.models[len(a.models)-1]; last.own && last.followed {
		return last.posterior.(*surrogate.Constraint)
	}
	return nil
}

// ExpectsFailure reports whether the agent's model gives the design a probability below one half to
// complete. It is false for every design if failures are not modelled or may have other causes.
func (a *Agent) ExpectsFailure(design task.Design) bool {
	var view strategy.View
	for _, m := range a.models {
		if m.output == task.Completion && m.posterior != nil && (m.clusters || !m.own) {
			view.Completion = m.posterior.(*surrogate.Constraint)
		}
	}
	return view.Completion != nil && search.Feasibility(view, a.cfg.Task.Space.Encode(design)) < 0.5
}

func (a *Agent) restoreFit(r *FitRecord) error {
	for _, m := range a.models {
		if m.output == r.Output {
			m.fitted = r
			return nil
		}
	}
	return fmt.Errorf("a fit of output %q, which the task does not have", r.Output)
}

// refitDue returns whether a refit is due: after every observation up to 20, then whenever their
// number has grown by a tenth, so that the cost of refits stays in proportion to their effect.
func (m *model) refitDue(observations int) bool {
	return m.fitted == nil || observations-m.fitted.Observations >= max(1, (observations-1)/20*2)
}

func (m *model) caughtUp(t *trials) bool { return !m.working && m.at == t.measured(m.output) }

// caughtUp reports whether the posteriors include every observation.
func (a *Agent) caughtUp() bool {
	for _, m := range a.models {
		if !m.caughtUp(&a.trials) {
			return false
		}
	}
	return true
}

// catchUp starts the work that brings the posteriors up to date.
func (a *Agent) catchUp() {
	for _, m := range a.models {
		if m.working || m.caughtUp(&a.trials) {
			continue
		}
		observations, count := a.observed(m), a.trials.measured(m.output)
		learn := a.lesson(m, observations, count)
		if m.working = learn != nil; !m.working {
			m.at = count
			continue
		}
		if m == a.objective() && !m.diverged {
			a.warnOfDiverged(m)
		}
		learned := a.learned
		if m == a.objective() {
			learned = a.learnedFrom(len(observations.Y))
		}
		a.startWork(job{
			name: fmt.Sprintf("what %d observations teach", count),
			who:  "the surrogate" + ofOutput(m.output),
			run:  learn,
			undo: func() { m.working = false },
			finish: func(_ time.Time, result any, err error) {
				m.working, m.at = false, count
				taught, _ := result.(modelled)
				if taught.withoutPeers != nil && !m.withoutPeers {
					m.withoutPeers = true
					a.warnOf(taught.withoutPeers, "the surrogate%s learns from %d observations without peer information, with which learning failed (%v); later failures have no further warning", ofOutput(m.output), count, taught.withoutPeers)
				}
				if err != nil {
					a.warnOf(err, "the surrogate%s could not learn from %d observations (%v); the next design follows what it knew before", ofOutput(m.output), count, err)
					return
				}
				a.takeModel(m, taught)
				if m == a.objective() {
					a.learned = learned
				}
			},
		})
	}
}

// lesson returns the computation by which the model of an output learns. count is the number of all
// observations, observations holds those to learn from; nil if there is nothing to learn.
func (a *Agent) lesson(m *model, observations surrogate.Observations, count int) func(context.Context) (any, error) {
	if len(observations.Y) == 0 || m.own && !surrogate.MayCluster(observations) {
		return nil
	}
	return m.learn(a.cfg.Task, observations, count, a.cfg.Seed, a.modelInput(m))
}

// observed returns the observations from which the model of an output learns.
func (a *Agent) observed(m *model) surrogate.Observations {
	trials := a.trials.list
	if m.own { // those set aside failed most likely because the command was broken
		trials = a.trials.snapshot()
	}
	return strategy.View{Task: a.cfg.Task, Trials: trials, MaxObservations: a.cfg.MaxObservations}.Observed(m.output)
}

// warnOfDiverged warns of the first outcome that the model of the objective ignores.
func (a *Agent) warnOfDiverged(m *model) {
	at := slices.Index(strategy.Diverged(a.cfg.Task, a.trials.list), true)
	if at < 0 {
		return
	}
	m.diverged = true
	trial := a.trials.list[at]
	a.event(Event{Type: Warning, Trial: &trial, Message: fmt.Sprintf(
		"the outcome %g of trial %d has diverged: the model of the objective leaves it out, and others like it without another warning", trial.Outcome.Value, trial.ID)})
}

type modelled struct {
	fitted       *FitRecord // nil if the hyperparameters do not change
	posterior    surrogate.Posterior
	clusters     bool  // of failures: they depend on the design
	followed     bool  // of failures: their model affects the choice of designs
	withoutPeers error // reason why peer information is ignored; nil if it is used
}

// modelInput returns the result of an exchange from which a model can learn; nil if there is none,
// and for all models except the objective's.
func (a *Agent) modelInput(m *model) (peers strategy.ModelInput) {
	if m != a.objective() {
		return nil
	}
	for _, name := range a.exchanges.order {
		if input, ok := a.exchanges.results[name].(strategy.ModelInput); ok && input.InformsModel() {
			peers = input
		}
	}
	return peers
}

// fit learns hyperparameters, with peers' shares unless these are nil. A panic of a model that uses
// them becomes an error.
func fit(ctx context.Context, kind surrogate.Model, peers strategy.ModelInput, observations surrogate.Observations, before *surrogate.Hyperparameters, rng *rand.Rand) (h surrogate.Hyperparameters, err error) {
	if informed, ok := kind.(surrogate.PeerModel); ok && peers != nil {
		h, err = recoverpanic.Call("the surrogate", func() (surrogate.Hyperparameters, error) {
			return informed.FitWithPeers(ctx, peers, observations, before, rng)
		})
	} else {
		h, err = kind.Fit(ctx, observations, before, rng)
	}
	if err != nil {
		return h, err
	}
	return h, checkHyperparameters(h)
}

// learn returns a computation that may run concurrently with the agent. Its result is the posterior
// given the observations and peers' shares, with new hyperparameters if a refit is due. If the
// computation with peers' shares fails, it is repeated without them.
func (m *model) learn(of *task.Task, observations surrogate.Observations, count int, seed random.Seed, peers strategy.ModelInput) func(context.Context) (any, error) {
	output, kind, known := m.output, m.kind, m.posterior
	previous, refit := m.fitted, m.refitDue(count)
	rng := seed.Stream(fitName(output), uint64(count))
	return func(ctx context.Context) (any, error) {
		var learned modelled
		current := previous
		if refit {
			var before *surrogate.Hyperparameters
			if previous != nil {
				before = &previous.Hyperparameters
			}
			h, err := fit(ctx, kind, peers, observations, before, rng)
			if err != nil && peers != nil && ctx.Err() == nil {
				learned.withoutPeers = err
				h, err = fit(ctx, kind, nil, observations, before, rng)
			}
			if err != nil {
				return nil, err
			}
			learned.fitted = &FitRecord{Output: output, Observations: count, Hyperparameters: h}
			current = learned.fitted
		}
		var err error
		if learned.posterior, err = kind.Condition(observations, current.Hyperparameters, known); err != nil {
			return nil, err
		}
		if m.own {
			if learned.clusters, err = surrogate.Clusters(of, observations, current.Hyperparameters); err != nil {
				return nil, err
			}
			learned.followed = learned.clusters || surrogate.MostFail(observations)
		}
		if informed, ok := kind.(surrogate.PeerModel); ok && peers != nil {
			posterior, err := recoverpanic.Call("the surrogate", func() (surrogate.Posterior, error) {
				return informed.ConditionOnPeers(ctx, peers, observations, learned.posterior)
			})
			if err != nil {
				learned.withoutPeers = err
				return learned, ctx.Err()
			}
			learned.posterior = posterior
		}
		return learned, nil
	}
}

// checkHyperparameters returns an error for numbers that no record can hold.
func checkHyperparameters(h surrogate.Hyperparameters) error {
	for _, v := range append([]float64{h.Noise, h.SharedNoise}, h.Lengthscales...) {
		if !finite(v) {
			return fmt.Errorf("its fit gave the hyperparameter %g", v)
		}
	}
	return nil
}

func (a *Agent) takeModel(m *model, learned modelled) {
	if learned.fitted != nil {
		m.fitted = learned.fitted
		a.record(Record{Fit: m.fitted})
	}
	m.posterior, m.clusters, m.followed = learned.posterior, learned.clusters, learned.followed
}

func ofOutput(output task.Output) string {
	if output == task.Objective {
		return ""
	}
	return fmt.Sprintf(" of %q", string(output))
}
