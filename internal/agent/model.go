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
	fitted       *FitRecord          // latest fitted hyperparameters
	posterior    surrogate.Posterior // nil until there is an observation
	at           int                 // number of observations that the posterior includes
	working      bool
	withoutPeers bool // the user was warned that the model ignores peer information
	diverged     bool // the user was warned that the model ignores an outcome

	objective bool // a model of a further objective of a task with several

	own      bool // a model of the node's own failures, which are not a constraint of the task
	clusters bool // only for such a model: failures were found to depend on the design
	followed bool // only for such a model: it affects the choice of designs
}

// newModels returns a model for each output, and for the cost if the strategy uses it. The argument
// objective is the surrogate of the objective; the task determines the other surrogates.
func newModels(t *task.Task, objective surrogate.Model, s strategy.Strategy) (models []*model, err error) {
	models = append(models, &model{output: task.Objective, kind: objective})
	if usesCost(s) {
		kind, err := surrogate.NewCost(t)
		if err != nil {
			return nil, err
		}
		models = append(models, &model{output: task.Cost, kind: kind})
	}
	for _, output := range t.ObjectiveOutputs()[1:] {
		kind, err := surrogate.New(t)
		if err != nil {
			return nil, err
		}
		models = append(models, &model{output: output, kind: kind, objective: true})
	}
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

func usesCost(s strategy.Strategy) bool {
	u, ok := s.(strategy.CostUser)
	if !ok {
		return false
	}
	yes, err := recoverpanic.Call("the strategy", func() (bool, error) { return u.UsesCost(), nil })
	return yes && err == nil
}

// fitName returns the key under which the journal stores an output's fits. It also names the random
// stream of these fits.
func fitName(output task.Output) string {
	if output == task.Objective {
		return "fit"
	}
	return "fit/" + string(output)
}

func (a *Agent) objective() *model { return a.models[0] }

// cost returns the posterior of the cost. It is nil without costs, or if the strategy uses none.
func (a *Agent) cost() strategy.Posterior {
	for _, m := range a.models {
		if m.output == task.Cost {
			return m.posterior
		}
	}
	return nil
}

// objectives returns the posteriors of all objectives of a task with several. It is nil until each has
// an observation.
func (a *Agent) objectives() (all []strategy.Posterior) {
	if !a.cfg.Task.Several() {
		return nil
	}
	for i, m := range a.models {
		if i > 0 && !m.objective {
			continue
		}
		if m.posterior == nil {
			return nil
		}
		all = append(all, m.posterior)
	}
	return all
}

// constraints returns the posteriors of all outputs except the objectives, the cost and the node's own
// failures.
func (a *Agent) constraints() (all []*surrogate.Constraint) {
	for _, m := range a.models[1:] {
		if m.posterior != nil && !m.own && !m.objective && m.output != task.Cost {
			all = append(all, m.posterior.(*surrogate.Constraint))
		}
	}
	return all
}

// completion returns the posterior of completion, the output that records whether evaluations
// complete. It is nil unless the model of failures affects the choice of designs.
func (a *Agent) completion() *surrogate.Constraint {
	if last := a.models[len(a.models)-1]; last.own && last.followed {
		return last.posterior.(*surrogate.Constraint)
	}
	return nil
}

// ExpectsFailure reports whether the agent's model predicts that the design completes with a
// probability below one half. It is false for every design if failures are not modelled, or are not
// known to depend on the design.
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

// refitDue reports whether hyperparameters must be fitted again. Up to 20 observations this is
// after each one. Later it is when their number has grown by about a tenth, so that the cost of
// fits remains in proportion to their effect.
func (m *model) refitDue(observations int) bool {
	return m.fitted == nil || observations-m.fitted.Observations >= max(1, (observations-1)/20*2)
}

func (m *model) caughtUp(t *trials) bool { return !m.working && m.at == t.measured(m.output) }

// caughtUp reports whether all posteriors include all observations.
func (a *Agent) caughtUp() bool {
	for _, m := range a.models {
		if !m.caughtUp(&a.trials) {
			return false
		}
	}
	return true
}

// catchUp starts the computations that include new observations in the posteriors.
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

// lesson returns the computation that updates the model of an output, or nil if there is nothing to
// learn. The argument observations holds those that the model uses; count is the number of all.
func (a *Agent) lesson(m *model, observations surrogate.Observations, count int) func(context.Context) (any, error) {
	if len(observations.Y) == 0 || m.own && !surrogate.MayCluster(observations) {
		return nil
	}
	return m.learn(a.cfg.Task, observations, count, a.cfg.Seed, a.modelInput(m))
}

// observed returns the observations that the model of an output uses.
func (a *Agent) observed(m *model) surrogate.Observations {
	trials := a.trials.list
	if m.own { // trials that are set aside most likely failed because the command was broken
		trials = a.trials.snapshot()
	}
	return strategy.View{Task: a.cfg.Task, Trials: trials, MaxObservations: a.cfg.MaxObservations}.Observed(m.output)
}

// warnOfDiverged warns of the first outcome that the objective's model ignores as diverged.
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
	clusters     bool  // only for the model of failures: they depend on the design
	followed     bool  // only for the model of failures: it affects the choice of designs
	withoutPeers error // why peer information is ignored; nil if it is used
}

// modelInput returns the exchange result with which the objective's model learns from peers. It is
// nil if there is no such result, and for the models of other outputs.
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

// fit estimates hyperparameters, with peers' shares unless peers is nil. A panic of a model that
// uses peers' shares becomes an error.
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

// learn returns a computation that may run concurrently with the agent. It computes the posterior
// given the observations and peers' shares, after a fit of hyperparameters if one is due. If it
// fails with peers' shares, it continues without them.
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

// checkHyperparameters returns an error if a hyperparameter is not finite, since a record cannot
// contain it.
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
