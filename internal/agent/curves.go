package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fbo-node/fbo/internal/curvemodel"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/exchange/sketch"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ErrNoSteps means that a trial without values by step cannot end as stopped; nothing has changed.
var ErrNoSteps = errors.New("trial has no values by step")

// stepsPerRecord is the maximum number of values in one record. A report rewrites the newest record,
// so this bounds the bytes that it writes, and the number of records in the journal.
const stepsPerRecord = 64

type (
	// StepsRecord holds the values of a trial from an index of its curve on.
	StepsRecord struct {
		ID    uint64       `json:"id"`
		From  int          `json:"from"` // a multiple of stepsPerRecord
		Steps curves.Curve `json:"steps"`
	}
	// StopTrialRecord is the decision to stop an evaluation early.
	StopTrialRecord struct {
		ID uint64 `json:"id"`
		curves.Stop
	}
	// StoppedRecord ends a trial whose evaluation was stopped early, without an outcome.
	StoppedRecord struct {
		ID   uint64    `json:"id"`
		Time time.Time `json:"time"`
	}
)

func (r StepsRecord) key() string {
	return "steps/" + strconv.FormatUint(r.ID, 10) + "/" + strconv.Itoa(r.From)
}

// Report adds values by step to a trial that has not ended, and their largest cost. It returns the
// decision to stop the evaluation, or nil if it should continue. Reports can be repeated
// (curves.Curve.Extend). If some of the values are not accepted, those before them are stored. A cost
// that is not accepted is left out. Errors: ErrUnknownTrial, ErrFinished, curves.ErrBadStep,
// strategy.ErrBadCost.
func (a *Agent) Report(now time.Time, id uint64, steps []curves.Step) (*curves.Stop, error) {
	if _, err := a.trials.open(id, func(strategy.Trial) bool { return false }); err != nil {
		return nil, err
	}
	trial := &a.trials.list[id-1]
	before := len(trial.Steps)
	again := trial.Attempts > 1 || a.trials.handed[id] // an evaluation that was handed back does not count as attempt
	curve, err := trial.Steps.Extend(steps, again)
	if err != nil {
		err = fmt.Errorf("trial %d: %w", id, err)
	}
	for _, s := range steps {
		if refused := a.ReportCost(id, s.Cost); refused != nil && err == nil {
			err = refused
		}
	}
	a.recordSteps(id, curve)
	stop := trial.Stop
	if stop == nil {
		if stop = a.decide(now, id, before); stop != nil {
			a.record(Record{StopTrial: &StopTrialRecord{ID: id, Stop: *stop}})
		}
	}
	if added := curve[before:]; len(added) > 0 {
		shown := *trial
		shown.Steps = added
		a.event(Event{Type: TrialReported, Trial: &shown})
	}
	return stop, err
}

// ReportBy is Report for a client, which must hold the trial. It renews the lease. A trial that has
// ended as stopped repeats its decision. Errors: ErrUnknownTrial, ErrFinished, ErrNotHeld,
// curves.ErrBadStep.
func (a *Agent) ReportBy(now time.Time, id uint64, client string, steps []curves.Step) (*curves.Stop, error) {
	if trial, err := a.trials.get(id); err == nil && trial.State == strategy.StoppedEarly && trial.Client == client {
		return trial.Stop, nil
	}
	if _, err := a.trials.held(id, client); err != nil {
		return nil, err
	}
	a.trials.renew(id, now)
	return a.Report(now, id, steps)
}

// recordSteps records the values of a trial that are not recorded yet.
func (a *Agent) recordSteps(id uint64, curve curves.Curve) {
	for _, r := range stepsRecords(id, curve, len(a.trials.list[id-1].Steps)) {
		a.record(r)
	}
}

// stepsRecords returns the records that add the values after the first known ones.
func stepsRecords(id uint64, curve curves.Curve, known int) (records []Record) {
	for known < len(curve) {
		from := known / stepsPerRecord * stepsPerRecord
		known = min(from+stepsPerRecord, len(curve))
		records = append(records, Record{Steps: &StepsRecord{ID: id, From: from, Steps: curve[from:known]}})
	}
	return records
}

// decide applies the task's rule to a trial whose curve had before values at the last call.
func (a *Agent) decide(now time.Time, id uint64, before int) *curves.Stop {
	rule := a.cfg.Task.Stop
	if rule == nil {
		return nil
	}
	others := strategy.Curves(a.trials.list, nil)
	own := others[id-1].Curve
	others = slices.Delete(others, int(id)-1, int(id))
	if !curves.Due(*rule, own, before, others) {
		return nil
	}
	var peers []curves.Peer
	if rule.Shares() {
		peers = curves.Judge(*rule, append(slices.Clone(others), curves.Trial{Curve: own}), sketch.Of(a.peerShares(now)))
	}
	stop := curves.Decide(*rule, a.cfg.Task.Goal, own, before, others, peers)
	switch {
	case stop != nil && stop.Rule != curves.PatienceRule:
		if p, ok := a.predict(id); ok {
			stop.Forecast, stop.Deviation = new(p.Mean), p.Deviation
		}
	case stop == nil && rule.Type == task.ForecastRule:
		p, ok := curvemodel.Prediction{}, false
		if a.trials.done >= rule.StartupTrials {
			p, ok = a.predict(id)
		} else if len(peers) > 0 {
			p.Mean, p.Deviation, ok = curves.ForecastByPeers(*rule, own, peers)
		}
		if ok {
			stop = a.hopeless(id, p)
		}
	}
	return stop
}

// deviations is the number of standard deviations between the predicted final value and the bound on
// it. With 2, each prediction is wrong with a probability of 2.3 %. Smaller values stopped the best
// designs too often, since a prediction is made at each step.
const deviations = 2

// optimistic returns the value that the final one is predicted not to exceed.
func (a *Agent) optimistic(p curvemodel.Prediction) float64 {
	return p.Mean + a.cfg.Task.Goal.Sign()*deviations*p.Deviation
}

// hopeless returns the decision to stop an evaluation with this prediction, or nil.
func (a *Agent) hopeless(id uint64, p curvemodel.Prediction) *curves.Stop {
	best := a.trials.bestTrial()
	sign := a.cfg.Task.Goal.Sign()
	bound := a.optimistic(p)
	if best == nil || sign*(bound-best.Outcome.Value) >= 0 {
		return nil
	}
	return &curves.Stop{Rule: task.ForecastRule, Step: a.trials.list[id-1].Steps.Last().Step, Forecast: new(p.Mean), Deviation: p.Deviation,
		Reason: fmt.Sprintf("predicted final value %.4g ± %.2g is worse than the best outcome %.4g", p.Mean, p.Deviation, best.Outcome.Value)}
}

// predict predicts the final value of a running trial; ok is false if too little is known.
func (a *Agent) predict(id uint64) (p curvemodel.Prediction, ok bool) {
	var complete []curvemodel.Complete
	for _, trial := range a.trials.list {
		if trial.State == strategy.Done && len(trial.Steps) > 0 && (trial.Stop == nil || trial.Stop.Rule != curves.PatienceRule) {
			complete = append(complete, curvemodel.Complete{X: a.cfg.Task.Space.Encode(trial.Design), Curve: trial.Steps, Final: trial.Outcome.Value})
		}
	}
	trial := a.trials.list[id-1]
	rng := a.cfg.Seed.Derive("forecast", id).Stream("step", trial.Steps.Last().Step)
	p, err := recoverpanic.Call("the forecast of a curve", func() (curvemodel.Prediction, error) {
		p, known, err := curvemodel.Predict(context.Background(), surrogate.ConstraintSpec(a.cfg.Task), complete, a.cfg.Task.Space.Encode(trial.Design), trial.Steps, rng)
		ok = known
		return p, err
	})
	return p, ok && err == nil && finite(p.Mean) && finite(p.Deviation)
}

// ProgramRule is the rule of a stop that the program itself has decided.
const ProgramRule = "program"

// EndStopped ends a trial whose evaluation was stopped early. Without an earlier decision of the
// task's rule, the program has decided it, for a reason. A repeated call is no error.
//
// An evaluation that was stopped by patience has come to an end by the user's own criterion. So its
// last value is the outcome, unless the task has constraints, which have no values by step.
//
// Errors: ErrUnknownTrial, ErrFinished, ErrNoSteps.
func (a *Agent) EndStopped(now time.Time, id uint64, reason string) error {
	already, err := a.trials.open(id, func(t strategy.Trial) bool { return t.Stop != nil })
	if err != nil || already {
		return err
	}
	trial := a.trials.list[id-1]
	if len(trial.Steps) == 0 {
		return fmt.Errorf("%w: trial %d", ErrNoSteps, id)
	}
	if trial.Stop == nil {
		stop := curves.Stop{Rule: ProgramRule, Step: trial.Steps.Last().Step, Reason: reason}
		a.record(Record{StopTrial: &StopTrialRecord{ID: id, Stop: stop}})
	}
	a.endStopped(now, id)
	a.pump(now)
	return nil
}

func (a *Agent) endStopped(now time.Time, id uint64) {
	trial := a.trials.list[id-1]
	if trial.Stop.Rule == curves.PatienceRule && len(a.cfg.Task.Constraints) == 0 {
		outcome := strategy.Outcome{Value: trial.Steps.Last().Value}
		a.end(now, Record{Tell: &TellRecord{ID: id, Outcome: outcome, Gain: a.gain(id, outcome), Time: now}}, id)
		return
	}
	a.end(now, Record{Stopped: &StoppedRecord{ID: id, Time: now}}, id)
}

// EndStoppedBy is EndStopped for a client, which must hold the trial. Errors: ErrUnknownTrial,
// ErrFinished, ErrNotHeld, ErrNoSteps, strategy.ErrBadAnnotation, strategy.ErrBadCost.
func (a *Agent) EndStoppedBy(now time.Time, id uint64, client string, end Ending) error {
	if trial, err := a.trials.get(id); err == nil && trial.State.Ended() && trial.Stop != nil && trial.Client == client {
		return a.addBefore(now, id, end.Cost, end.Annotations, true)
	}
	trial, err := a.trials.held(id, client)
	if err != nil {
		return err
	}
	if len(trial.Steps) == 0 {
		return fmt.Errorf("%w: trial %d", ErrNoSteps, id)
	}
	if err := a.addBefore(now, id, end.Cost, end.Annotations, false); err != nil {
		return err
	}
	return a.EndStopped(now, id, end.Reason)
}

// checkStops returns an error if a trial that has not ended is to stop, and has no values. Only a damaged
// journal has such a trial. The values may be recorded after the decision: a journal keeps the newest
// record of a trial's values.
func (t *trials) checkStops() error {
	for _, trial := range t.list {
		if trial.Stop != nil && !trial.State.Ended() && len(trial.Steps) == 0 {
			return fmt.Errorf("trial %d: stopped without values", trial.ID)
		}
	}
	return nil
}

// applyCurve applies a record about the curve of a trial.
func (t *trials) applyCurve(r Record) error {
	switch {
	case r.Steps != nil: // also of trials that have ended, such as imported ones
		trial, err := t.get(r.Steps.ID)
		if err != nil {
			return err
		}
		from := r.Steps.From
		if from < 0 || from > len(trial.Steps) {
			return fmt.Errorf("trial %d: values from index %d on follow %d values", trial.ID, from, len(trial.Steps))
		}
		curve := append(trial.Steps[:from:from], r.Steps.Steps...)
		if err := curve.Check(); err != nil {
			return fmt.Errorf("trial %d: %w", trial.ID, err)
		}
		t.shown, trial.Steps = nil, curve
		return nil
	case r.StopTrial != nil: // also of imported trials, which have an outcome from the start
		trial, err := t.get(r.StopTrial.ID)
		if err != nil {
			return err
		}
		if trial.State.Ended() && (trial.Why.Source != strategy.Imported || trial.Stop != nil) {
			return fmt.Errorf("%w: trial %d is %s", ErrFinished, trial.ID, trial.State)
		}
		stop := r.StopTrial.Stop
		stop.Reason = sanitize.Text(stop.Reason, maxReason)
		t.shown, trial.Stop = nil, &stop
		return nil
	}
	return t.change(r.Stopped.ID, func(trial *strategy.Trial) error {
		if trial.Stop == nil || len(trial.Steps) == 0 {
			return fmt.Errorf("trial %d: stopped without a decision or without values", trial.ID)
		}
		trial.State, trial.Finished = strategy.StoppedEarly, r.Stopped.Time
		t.stopped++
		delete(t.leases, trial.ID)
		return nil
	})
}
