package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// RunOptions set the limits of a run.
type RunOptions struct {
	// Evals is the maximum number of evaluations with an outcome or stopped early. It includes those
	// of earlier runs of this node, but neither imported nor failed ones. Zero means no limit.
	Evals int

	// Cost is a budget of cost, in the unit of Outcome.Cost: no evaluation starts once the costs of
	// the ended and running ones reach it. Those of earlier runs of this node count, imported ones do
	// not. An ended evaluation without a cost counts with the mean of the others, and a running one with
	// its cost until now or the mean, whichever is larger. If three evaluations of the run end with an
	// outcome and none has a cost, the run ends with ErrNoCost. Zero means no limit.
	Cost float64

	// MaxFailures is the number of failed evaluations of this run that ends it with a GaveUpError.
	// Failures of earlier runs do not count. The default, zero, has two limits. Before the first
	// outcome of the node, ten failures end the run. Later twenty in a row of designs that the
	// model expected to complete end it, or a hundred in a row of any designs.
	MaxFailures int

	// StopRegret also ends the run, when the model's upper bound on simple regret is at most this,
	// in the objective's units. The bound (Session.RegretBound) must be that small after five
	// outcomes in a row, with at least ten outcomes per parameter. The journal records this end
	// (Session.Stopped), and a later run with the same or a larger value ends at once. It is for
	// tasks without constraints. Zero means off.
	StopRegret float64

	// TimeLimit ends the run too: no evaluation starts later than this after the beginning of
	// the run. Running ones end as usual. Each run has its own limit. Zero: never.
	TimeLimit time.Duration

	// Parallel is how many evaluations run at once; default 1.
	Parallel int

	// TrialTimeout is the maximum duration of an evaluation. A longer one is cancelled and counts
	// as failed. Zero means no limit.
	TrialTimeout time.Duration
}

func (o *RunOptions) validate() error {
	if o.Parallel == 0 {
		o.Parallel = 1
	}
	switch {
	case o.Evals < 0:
		return fmt.Errorf("RunOptions.Evals is %d, expected 0 (no end) or more", o.Evals)
	case !(o.Cost >= 0) || math.IsInf(o.Cost, 1):
		return fmt.Errorf("RunOptions.Cost is %g, expected 0 (no limit) or a finite number above 0", o.Cost)
	case o.MaxFailures < 0:
		return fmt.Errorf("RunOptions.MaxFailures is %d, expected 0 (the default) or more", o.MaxFailures)
	case o.TimeLimit < 0:
		return fmt.Errorf("RunOptions.TimeLimit is %v, expected 0 (never) or more", o.TimeLimit)
	case o.Parallel < 0:
		return fmt.Errorf("RunOptions.Parallel is %d, expected 0 (one at a time) or more", o.Parallel)
	case o.TrialTimeout < 0:
		return fmt.Errorf("RunOptions.TrialTimeout is %v, expected 0 (none) or more", o.TrialTimeout)
	}
	if !(o.StopRegret >= 0) || math.IsInf(o.StopRegret, 1) {
		return fmt.Errorf("RunOptions.StopRegret is %g, expected 0 (never) or a finite number above 0", o.StopRegret)
	}
	return nil
}

// Evaluator measures one trial. The trial fails if the evaluator returns an error, NaN or an
// infinity. After the end of the run's context, an error returns the trial to the queue instead.
//
// An evaluator that has values before its end calls Session.Report. If it returns a decision to stop,
// the evaluator returns ErrStopped, and the trial ends as stopped.
type Evaluator func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error)

// ErrNoCost is the error of a run with RunOptions.Cost whose evaluations have no cost.
var ErrNoCost = errors.New("evaluations have no cost")

// minCosts is the number of outcomes without any cost that ends a run with a budget of cost.
const minCosts = 3

// ErrStopped is the error of an evaluator that stopped early. It may be wrapped by the reason.
var ErrStopped = errors.New("the evaluation was stopped early")

// Run evaluates designs with a function until the budget is used up (then it returns nil), the
// context ends, or too many evaluations fail (a GaveUpError). After each of these ends the next Run
// continues where this one stopped.
//
// An evaluation fails if the evaluator returns an error or a value that is not finite, or if it
// panics. After a panic Node.Log receives the stack, and the run continues. A panic in another
// goroutine ends the program.
//
// A strategy that fails does not end the run: the agent then chooses the design without peers
// (package agent). The run ends if every design has failed and random search finds no new one.
func (s *Session) Run(ctx context.Context, evaluate func(ctx context.Context, d task.Design) (float64, error), options RunOptions) error {
	if evaluate == nil {
		return errors.New("Session.Run needs an evaluator, got nil")
	}
	return s.RunTrials(ctx, func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		value, err := evaluate(ctx, trial.Design)
		return strategy.Outcome{Value: value}, err
	}, options)
}

// RunTrials is Run for evaluators that need the trial's ID or that measure constraints.
func (s *Session) RunTrials(ctx context.Context, evaluate Evaluator, options RunOptions) error {
	if evaluate == nil {
		return errors.New("Session.RunTrials needs an evaluator, got nil")
	}
	if err := options.validate(); err != nil {
		return err
	}
	if options.StopRegret > 0 && s.task.Several() {
		return errors.New("RunOptions.StopRegret is for tasks with one objective: several have no single best design")
	}
	if options.StopRegret > 0 && s.task.Constrained() {
		return errors.New("RunOptions.StopRegret is for tasks without constraints: the bound of the regret takes no notice of them")
	}
	r := &run{session: s, evaluate: evaluate, options: options}
	if options.TimeLimit > 0 {
		r.deadline = time.Now().Add(options.TimeLimit)
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	budget := agent.Budget{Evals: options.Evals, Cost: options.Cost, Begun: time.Now(), Deadline: r.deadline, Parallel: options.Parallel}
	if err := s.do(ctx, func(time.Time) { s.budget = budget }); err != nil {
		return err
	}
	defer func() { _ = s.do(context.WithoutCancel(ctx), func(time.Time) { s.budget = agent.Budget{} }) }()
	if ended, err := r.stoppedBefore(ctx); ended || err != nil {
		return err
	}
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	go r.endWithSession(ctx)
	var workers sync.WaitGroup
	for range options.Parallel {
		workers.Go(func() { r.work(ctx) })
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil || !r.stopRule.enough {
		return err
	}
	return s.do(ctx, func(now time.Time) { s.agent.RecordStop(now, r.stopRule.bound, options.StopRegret) })
}

// run is the state that the workers of one Run share.
type run struct {
	session  *Session
	evaluate Evaluator
	options  RunOptions
	stop     context.CancelCauseFunc
	deadline time.Time // no evaluation starts after it; zero: there is none

	mu       sync.Mutex
	claimed  int // number of evaluations that run, have an outcome or were stopped early
	asking   int // number of those that have no trial yet
	outcomes int // of this run
	failed   failures

	stopRule stopRule
}

// endWithSession ends the run when the session fails, because no outcome can be recorded after
// that.
func (r *run) endWithSession(ctx context.Context) {
	select {
	case <-r.session.ended:
		if r.session.failure != ErrClosed {
			r.stop(r.session.failure)
		}
	case <-ctx.Done():
	}
}

// count counts the outcomes of earlier runs toward the budget.
func (r *run) count(ctx context.Context) error {
	trials, err := r.session.Trials(ctx)
	for _, trial := range trials {
		if (trial.State == strategy.Done || trial.State == strategy.StoppedEarly) && trial.Why.Source != strategy.Imported {
			r.claimed++
			r.failed.worked = true
		}
	}
	return err
}

// claim reserves one evaluation of the budget, and returns false if none is left.
func (r *run) claim(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late() {
		return false, nil
	}
	if r.options.Evals > 0 && r.claimed >= r.options.Evals {
		return false, nil
	}
	if affordable, err := r.affordable(ctx); !affordable || err != nil {
		return false, err
	}
	r.claimed++
	r.asking++
	return true, nil
}

// affordable reports whether the budget of cost allows another evaluation. The caller holds the lock.
func (r *run) affordable(ctx context.Context) (bool, error) {
	if r.options.Cost == 0 {
		return true, nil
	}
	var spending strategy.Spending
	if err := r.session.do(ctx, func(time.Time) { spending = strategy.SpendingOf(r.session.agent.Trials()) }); err != nil {
		return false, err
	}
	if spending.Known == 0 && r.outcomes >= minCosts {
		return false, fmt.Errorf("%w: %d have ended, and RunOptions.Cost is %g; expected Outcome.Cost of each", ErrNoCost, r.outcomes, r.options.Cost)
	}
	return spending.Spent+float64(r.asking)*spending.Mean < r.options.Cost, nil
}

// late reports whether no evaluation may start any more.
func (r *run) late() bool { return !r.deadline.IsZero() && !time.Now().Before(r.deadline) }

// ask returns the next trial; ok is false if the deadline passed before there was one.
func (r *run) ask(ctx context.Context) (trial strategy.Trial, ok bool, err error) {
	asking := ctx
	if !r.deadline.IsZero() {
		var cancel context.CancelFunc
		asking, cancel = context.WithDeadline(ctx, r.deadline)
		defer cancel()
	}
	trial, err = r.session.Ask(asking)
	r.mu.Lock()
	r.asking--
	r.mu.Unlock()
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && r.late() {
		return strategy.Trial{}, false, nil // if the session has failed, endWithSession ends the run
	}
	return trial, true, err
}

func (r *run) work(ctx context.Context) {
	for ctx.Err() == nil {
		enough, err := r.shouldStop(ctx)
		claimed := false
		if err == nil && !enough {
			claimed, err = r.claim(ctx)
		}
		if err == nil && !claimed {
			return
		}
		if err == nil {
			var trial strategy.Trial
			var ok bool
			if trial, ok, err = r.ask(ctx); err == nil && !ok {
				return
			}
			if err == nil {
				err = r.one(ctx, trial)
			}
		}
		if err != nil {
			r.stop(err)
			return
		}
	}
}

// one evaluates a trial and reports its outcome. It asks the model whether a failure is expected
// before the evaluation, because concurrent trials change the model meanwhile.
func (r *run) one(ctx context.Context, trial strategy.Trial) error {
	expected, err := r.session.expectsFailure(context.WithoutCancel(ctx), trial.Design)
	if err != nil {
		return err
	}
	outcome, err := r.measure(ctx, trial)
	if outcome.Cost != nil { // stored before the outcome, and also of an interrupted evaluation
		refused := r.session.ReportCost(context.WithoutCancel(ctx), trial.ID, *outcome.Cost)
		if refused != nil && !errors.Is(refused, ErrBadCost) {
			return refused
		}
		if refused != nil {
			r.session.warn(fmt.Sprintf("the cost is not stored: %v", refused))
		}
		outcome.Cost = nil
	}
	if strategy.HasAnnotations(outcome.Annotations) && (err == nil || ctx.Err() == nil) {
		// Stored before the outcome: annotations that are not accepted must not cost the outcome.
		refused := r.session.Annotate(context.WithoutCancel(ctx), trial.ID, strategy.Adding(outcome.Annotations))
		if refused != nil && !errors.Is(refused, ErrBadAnnotation) {
			return refused
		}
		if refused != nil {
			r.session.warn(fmt.Sprintf("the annotations are not stored: %v", refused))
		}
		outcome.Annotations = strategy.Annotations{}
	}
	if err == nil {
		err = r.session.TellOutcome(context.WithoutCancel(ctx), trial.ID, outcome)
		if !errors.Is(err, ErrBadOutcome) {
			r.noteOutcome(true)
			return err
		}
	}
	if errors.Is(err, ErrStopped) {
		stopped := r.session.EndStopped(context.WithoutCancel(ctx), trial.ID, err.Error())
		if !errors.Is(stopped, ErrNoSteps) {
			r.noteOutcome(false)
			return stopped
		}
		err = errors.Join(err, stopped)
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), r.session.Requeue(context.WithoutCancel(ctx), trial.ID))
	}
	if failed := r.session.Fail(ctx, trial.ID, err.Error()); failed != nil {
		return failed
	}
	return r.noteFailure(trial.ID, expected, err)
}

// measure calls the evaluator with the trial's timeout, and converts a panic to an error.
func (r *run) measure(ctx context.Context, trial strategy.Trial) (outcome strategy.Outcome, err error) {
	if r.options.TrialTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.options.TrialTimeout,
			fmt.Errorf("no outcome within the trial timeout of %v", r.options.TrialTimeout))
		defer cancel()
	}
	outcome, err = recoverpanic.Call("the evaluator", func() (strategy.Outcome, error) { return r.evaluate(ctx, trial) })
	r.session.logPanic(err)
	if err == context.DeadlineExceeded { // this bare error would not name the limit
		err = context.Cause(ctx) // names the timeout
	}
	return outcome, err
}

// noteOutcome notes that an evaluation has ended with an outcome or was stopped early.
func (r *run) noteOutcome(done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done {
		r.outcomes++
	}
	r.failed.worked, r.failed.inARow, r.failed.unexpected = true, 0, 0
}

// noteFailure returns the evaluation to the budget and counts the failure. An error ends the run.
func (r *run) noteFailure(trial uint64, expected bool, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claimed--
	return r.failed.note(r.options.MaxFailures, trial, expected, err)
}
