package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Ask requests a trial to evaluate. An Answer with the request's number follows in a later Ready.
// Requests are answered in order.
func (a *Agent) Ask(now time.Time, request uint64) {
	if len(a.asks) == 0 {
		a.wait = waiting{} // may be left over from withdrawn requests
	}
	a.asks = append(a.asks, request)
	a.pump(now)
}

// Cancel withdraws an Ask that has no answer yet.
func (a *Agent) Cancel(request uint64) {
	a.asks = slices.DeleteFunc(a.asks, func(r uint64) bool { return r == request })
	delete(a.claims, request)
}

// Requeue returns a running trial whose evaluation was given up; the next Ask gets it.
func (a *Agent) Requeue(now time.Time, id uint64) error {
	trial, err := a.trials.get(id)
	if err != nil {
		return err
	}
	if trial.State != strategy.Running {
		return fmt.Errorf("cannot hand back trial %d, which is %s", id, trial.State)
	}
	if trial.Stop != nil { // the evaluation should not be repeated
		return a.EndStopped(now, id, "")
	}
	a.record(Record{Return: &ReturnRecord{ID: id}})
	a.offers = append(a.offers, id)
	a.pump(now)
	return nil
}

// Tell ends a trial with an outcome. A repeated call with the same outcome is no error. A waiting
// trial accepts an outcome too, because its evaluator may have survived a restart of the node. The
// cost and the annotations of the outcome become those of the trial. Errors: ErrUnknownTrial,
// ErrFinished, ErrBadOutcome, strategy.ErrBadAnnotation, strategy.ErrBadCost.
func (a *Agent) Tell(now time.Time, id uint64, outcome strategy.Outcome) error {
	if err := checkOutcome(a.cfg.Task, outcome); err != nil {
		return fmt.Errorf("trial %d: %w", id, err)
	}
	already, err := a.trials.open(id, func(t strategy.Trial) bool {
		return t.State == strategy.Done && sameOutcome(*t.Outcome, outcome)
	})
	if err != nil {
		return err
	}
	if err := a.addBefore(now, id, outcome.Cost, outcome.Annotations, already); err != nil {
		return err
	}
	if !already {
		if stop := a.trials.list[id-1].Stop; stop != nil && stop.Rule != curves.PatienceRule {
			a.warn("trial %d continued to its end although rule %s stopped it at step %d: its outcome counts", id, stop.Rule, stop.Step)
		}
		a.end(now, Record{Tell: &TellRecord{ID: id, Outcome: ownMaps(outcome), Gain: a.gain(id, outcome), Time: now}}, id)
		a.pump(now)
	}
	return nil
}

// Fail ends a trial without an outcome, for a reason in plain words. A repeated call is no error.
// Errors: ErrUnknownTrial, ErrFinished.
func (a *Agent) Fail(now time.Time, id uint64, reason string) error {
	already, err := a.trials.open(id, func(t strategy.Trial) bool { return t.State == strategy.Failed })
	if err != nil {
		return err
	}
	if !already {
		reason = strings.ToValidUTF8(reason, "\uFFFD") // the journal would change invalid UTF-8 in the same way
		a.end(now, Record{Fail: &FailRecord{ID: id, Reason: reason, Time: now}}, id)
		a.pump(now)
	}
	return nil
}

// gain returns by how much peers' shares improved the prediction of an outcome, in nats. It is nil
// without a forecast, and for a diverged outcome, which the objective's model ignores.
func (a *Agent) gain(id uint64, outcome strategy.Outcome) *float64 {
	forecast := a.forecasts[id]
	if forecast == nil || a.diverges(id, outcome) {
		return nil
	}
	gain, err := recoverpanic.Call("the forecast", func() (*float64, error) {
		if nats, ok := forecast.Gain(a.cfg.Task.Goal.Sign() * outcome.Value); ok {
			return &nats, nil
		}
		return nil, nil
	})
	if err != nil {
		return nil
	}
	return gain
}

// diverges reports whether the trial would count as diverged with this outcome (strategy.Diverged).
func (a *Agent) diverges(id uint64, outcome strategy.Outcome) bool {
	trials := slices.Clone(a.trials.list)
	trials[id-1].State, trials[id-1].Outcome = strategy.Done, &outcome
	return strategy.Diverged(a.cfg.Task, trials)[id-1]
}

// end applies a TellRecord or FailRecord.
func (a *Agent) end(now time.Time, r Record, id uint64) {
	delete(a.forecasts, id)
	before := a.trials.nearest
	a.record(r)
	a.offers = slices.DeleteFunc(a.offers, func(other uint64) bool { return other == id })
	a.announceEnd(id, a.trials.nearest != before)
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.TrialsEnded{})
	}
}

func (a *Agent) announceEnd(id uint64, better bool) {
	trial := a.trials.list[id-1]
	e := Event{Type: TrialFinished, Trial: &trial, Best: a.trials.bestTrial()}
	if e.Best == nil {
		e.LeastViolation = a.trials.nearestTrial()
	}
	e.Better = better && e.Best != nil
	if a.cfg.Task.Several() {
		e.Better = slices.ContainsFunc(strategy.Front(a.cfg.Task, a.trials.list), func(t *strategy.Trial) bool { return t.ID == id })
	}
	a.event(e)
}

// Past is an evaluation made before this task or by another program.
type Past struct {
	Design  task.Design
	Outcome strategy.Outcome // its cost and annotations are those of the trial, with or without an outcome
	Failed  string           // reason of a missing outcome; empty if there is one
	Steps   curves.Curve     // values by step; may be empty
	Stop    *curves.Stop     // decision to stop the evaluation early, with Steps; nil if there was none
	Stopped bool             // the evaluation ended by Stop, without an outcome or a failure
}

// Import adds past evaluations as ended trials and returns the number of new ones. A second import
// of the same list adds nothing. After an error nothing has been added.
func (a *Agent) Import(now time.Time, past []Past) (added int, err error) {
	for i, p := range past {
		if err := a.cfg.Task.Space.Check(p.Design); err != nil {
			return 0, fmt.Errorf("imported trial %d: %w", i+1, err)
		}
		if _, err := strategy.Adding(p.Outcome.Annotations).Apply(strategy.Annotations{}, now); err != nil {
			return 0, fmt.Errorf("imported trial %d: %w", i+1, err)
		}
		if err := errors.Join(p.Steps.Check(), strategy.CheckCost(p.Outcome.Cost)); err != nil {
			return 0, fmt.Errorf("imported trial %d: %w", i+1, err)
		}
		if (p.Stopped || p.Stop != nil) && len(p.Steps) == 0 {
			return 0, fmt.Errorf("imported trial %d: %w", i+1, ErrNoSteps)
		}
		if p.Stopped && p.Stop == nil {
			return 0, fmt.Errorf("imported trial %d: stopped early without a decision; expected its rule, step and reason", i+1)
		}
		if p.Failed != "" || p.Stopped {
			continue
		}
		if err := checkOutcome(a.cfg.Task, p.Outcome); err != nil {
			return 0, fmt.Errorf("imported trial %d: %w", i+1, err)
		}
	}
	known := map[string]int{}
	for _, trial := range a.trials.list {
		if trial.Why.Source == strategy.Imported {
			known[identity(trial.Design, trial.Outcome, trial.State == strategy.StoppedEarly, trial.Steps)]++
		}
	}
	for _, p := range past {
		outcome := new(ownMaps(p.Outcome))
		if p.Failed != "" || p.Stopped {
			outcome = nil
		}
		if same := identity(p.Design, outcome, p.Stopped, p.Steps); known[same] > 0 {
			known[same]--
			continue
		}
		record := a.trialRecord(now, p.Design, strategy.Why{Source: strategy.Imported})
		record.Imported = outcome
		a.record(Record{Trial: record})
		a.recordSteps(record.ID, p.Steps)
		if p.Stop != nil {
			a.record(Record{StopTrial: &StopTrialRecord{ID: record.ID, Stop: *p.Stop}})
		}
		switch {
		case p.Stopped:
			a.record(Record{Stopped: &StoppedRecord{ID: record.ID, Time: now}})
		case outcome == nil:
			a.record(Record{Fail: &FailRecord{ID: record.ID, Reason: strings.ToValidUTF8(p.Failed, "\uFFFD"), Time: now}})
		}
		if err := a.addBefore(now, record.ID, p.Outcome.Cost, p.Outcome.Annotations, false); err != nil {
			return added, err // cannot happen: both were checked above
		}
		added++
	}
	if added > 0 {
		a.stepAll(now, strategy.TrialsEnded{})
	}
	return added, nil
}

// identity returns a key for a design and its outcome, or its curve if the evaluation was stopped.
// Failed evaluations of one design have the same key, whatever their reasons.
func identity(design task.Design, outcome *strategy.Outcome, stopped bool, curve curves.Curve) string {
	data, _ := json.Marshal(outcome) // no error: all numbers are finite
	if stopped {
		data, _ = json.Marshal(curve)
	}
	return design.Key() + string(data)
}

func (a *Agent) trialRecord(now time.Time, design task.Design, why strategy.Why) *TrialRecord {
	return &TrialRecord{ID: a.trials.next(), Design: encodeDesign(design), Why: why, Time: now, Aside: a.trials.aside}
}

func encodeDesign(design task.Design) json.RawMessage {
	data, err := json.Marshal(design)
	if err != nil {
		panic(fmt.Sprintf("agent: design %v: %v", design, err)) // cannot happen: every design can be encoded
	}
	return data
}

// suggest answers the oldest Ask. It chooses one design at a time, so that each choice takes the
// running trials into account.
func (a *Agent) suggest(now time.Time) {
	for len(a.asks) > 0 && len(a.offers) > 0 {
		id := a.offers[0]
		a.offers = a.offers[1:]
		a.record(Record{Offer: &OfferRecord{ID: id, Time: now, Claim: a.claims[a.asks[0]]}})
		a.answer(id)
	}
	a.giveFirst(now)
	if len(a.asks) == 0 || a.suggesting || a.wait.exchange != "" || a.Held() {
		return
	}
	a.suggesting = true
	view, id, seed := a.view(now), a.trials.next(), a.cfg.Seed.Derive("suggest", 0)
	view.Waited = a.wait.timedOut
	news := maps.Clone(a.exchanges.news)
	a.startWork(job{name: fmt.Sprintf("the choice of trial %d", id), who: "the choice of a design", run: func(ctx context.Context) (any, error) {
		return a.choose(ctx, view, id-uint64(view.SetAside), seed)
	}, undo: func() { a.suggesting = false }, finish: func(now time.Time, value any, err error) {
		a.suggesting = false
		c, _ := value.(chosen)
		if awaited := c.Wait.Exchange; view.Waited == "" && a.exchanges.news[awaited] != news[awaited] {
			return // the awaited result has arrived in the meantime: choose again
		}
		a.take(now, id, c, err)
	}})
}

// take accepts a choice, unless the state has changed in the meantime so that it is invalid.
func (a *Agent) take(now time.Time, id uint64, c chosen, err error) {
	if len(a.asks) == 0 || id != a.trials.next() {
		return // no request is left, or imported trials took the ID: choose again
	}
	if c.failed != nil && !a.failed {
		a.failed = true
		a.warnOf(c.failed, "trial %d is chosen alone, because the strategy failed (%v); so is each further one of which it does, without another warning", id, c.failed)
	}
	switch {
	case err != nil:
		a.ready.Answers = append(a.ready.Answers, Answer{Request: a.asks[0], Err: fmt.Errorf("choose trial %d: %w", id, err)})
		delete(a.claims, a.asks[0])
		a.asks, a.wait = a.asks[1:], waiting{}
	case c.Wait.Exchange != "":
		if a.wait.begin(now, c.Wait); a.exchanges.stopped[c.Wait.Exchange] {
			a.waitTimedOut("it has stopped, after a panic")
		}
	default:
		a.wait = waiting{}
		record := a.trialRecord(now, c.Design, c.Why)
		record.Claim = a.claims[a.asks[0]]
		a.record(Record{Trial: record})
		if c.Forecast != nil {
			a.forecasts[id] = c.Forecast
		}
		a.answer(id)
	}
}

// answer answers the oldest Ask with a running trial.
func (a *Agent) answer(id uint64) {
	trial := a.trials.list[id-1]
	a.ready.Answers = append(a.ready.Answers, Answer{Request: a.asks[0], Trial: trial})
	delete(a.claims, a.asks[0])
	a.asks = a.asks[1:]
	a.event(Event{Type: TrialStarted, Trial: &trial})
}
