package agent

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Errors of the methods on trials. A call that returns one has changed nothing.
var (
	ErrUnknownTrial = errors.New("unknown trial")
	ErrFinished     = errors.New("trial has already ended")
	ErrBadOutcome   = errors.New("outcome is not accepted")
)

// trials is the table of the agent's own trials. It changes by applying records, so that a replay
// of the journal reconstructs it. Only cutOff has no record, because a process that is killed
// writes none.
type trials struct {
	task    *task.Task
	list    []strategy.Trial
	done    int              // number of trials with an outcome
	failed  int              // number of failed trials
	stopped int              // number of trials that were stopped early
	costs   int              // number of trials with an outcome and a cost
	nearest int              // index of the best trial with an outcome in the order of task.Compare; -1: none
	aside   int              // number of first trials that setAside has hidden from strategies
	shown   []strategy.Trial // a copy of the present list without these; nil after a change
	leases  map[uint64]lease // of running trials that clients outside the process hold
	queue   []Queued         // designs of the user without a trial, oldest first
	handed  map[uint64]bool  // trials whose evaluation was handed back, or given to its client again, at least once
	stop    *StopRecord      // why the latest run stopped itself; nil if it ended for another reason, or there are trials since

	lastQueued uint64 // the ID of the newest design that was ever in queue
}

func newTrials(t *task.Task) trials {
	return trials{task: t, nearest: -1, leases: map[uint64]lease{}, handed: map[uint64]bool{}}
}

// next returns the ID of the next trial.
func (t *trials) next() uint64 { return uint64(len(t.list)) + 1 }

func (t *trials) get(id uint64) (*strategy.Trial, error) {
	if id == 0 || id > uint64(len(t.list)) {
		return nil, fmt.Errorf("%w %d: trials 1 to %d exist", ErrUnknownTrial, id, len(t.list))
	}
	return &t.list[id-1], nil
}

// snapshot returns a copy of the trials that are not set aside, for reading. All calls return the
// same copy until the table changes, so that views cost little.
func (t *trials) snapshot() []strategy.Trial {
	if t.shown == nil {
		t.shown = withoutAnnotations(slices.Clone(t.list[t.aside:]))
	}
	return t.shown
}

// setAside hides the first trials from strategies if all of them have failed and no trial has an
// outcome. Then the next start begins with the same designs again, because the user has most likely
// repaired the command. If failures count as observations of a constraint, no trial is hidden.
func (t *trials) setAside() {
	if t.done == 0 && t.task.Failures != task.ConstrainFailures {
		t.setAsideAtMost(len(t.list))
	}
}

// setAsideAtMost sets aside at most `most` trials.
func (t *trials) setAsideAtMost(most int) {
	for t.aside < min(most, len(t.list)) && t.list[t.aside].State == strategy.Failed && t.list[t.aside].Why.Source != strategy.Imported {
		t.shown, t.aside = nil, t.aside+1
	}
}

// open checks that a trial can still be ended. If it has ended and same returns true for it, the
// report is a repetition and no error.
func (t *trials) open(id uint64, same func(strategy.Trial) bool) (already bool, err error) {
	trial, err := t.get(id)
	if err != nil {
		return false, err
	}
	if trial.State.Ended() {
		if same(*trial) {
			return true, nil
		}
		return false, fmt.Errorf("%w: trial %d is %s", ErrFinished, id, trial.State)
	}
	return false, nil
}

// maxReason is the maximum number of characters of the reason for a failure. The evaluation program
// writes the reason, so the text is sanitised too.
const maxReason = 2000

func checkOutcome(t *task.Task, outcome strategy.Outcome) error {
	if math.IsNaN(outcome.Value) || math.IsInf(outcome.Value, 0) {
		return fmt.Errorf("%w: value %g is not a finite number", ErrBadOutcome, outcome.Value)
	}
	if err := t.CheckReadings(outcome.Constraints); err != nil {
		return fmt.Errorf("%w: %w", ErrBadOutcome, err)
	}
	if err := t.CheckObjectives(outcome.Metrics); err != nil {
		return fmt.Errorf("%w: %w", ErrBadOutcome, err)
	}
	return CheckMetrics(outcome.Metrics)
}

// CheckMetrics returns an error if an outcome may not have these metrics. Error: ErrBadOutcome.
func CheckMetrics(metrics map[string]float64) error {
	if len(metrics) > strategy.MaxMetrics {
		return fmt.Errorf("%w: %d metrics; expected at most %d", ErrBadOutcome, len(metrics), strategy.MaxMetrics)
	}
	for name, value := range metrics {
		if !strategy.IsMetricName(name) {
			return fmt.Errorf("%w: %.100q is no name of a metric; expected 1 to %d bytes of printable text", ErrBadOutcome, name, strategy.MaxMetricName)
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("%w: metric %.100q is %g, not a finite number", ErrBadOutcome, name, value)
		}
	}
	return nil
}

// sameOutcome reports whether two outcomes are equal. Nil and empty maps are equal, because the
// journal does not distinguish them.
func sameOutcome(a, b strategy.Outcome) bool {
	return a.Value == b.Value && maps.Equal(a.Constraints, b.Constraints) && maps.Equal(a.Metrics, b.Metrics)
}

// ownMaps returns the outcome with copies of its maps, so that the caller can change its own. It
// omits the cost and the annotations, which belong to the trial.
func ownMaps(outcome strategy.Outcome) strategy.Outcome {
	return strategy.Outcome{Value: outcome.Value, Constraints: maps.Clone(outcome.Constraints), Metrics: maps.Clone(outcome.Metrics)}
}

// apply applies a record about trials and ignores all others.
func (t *trials) apply(r Record) error {
	switch {
	case r.Trial != nil:
		t.stop = nil
		return t.add(*r.Trial)
	case r.Stop != nil:
		t.stop = r.Stop
		return nil
	case r.Enqueue != nil:
		return t.enqueue(*r.Enqueue)
	case r.Withdraw != nil:
		if !t.dequeue(r.Withdraw.ID) {
			return fmt.Errorf("%w %d", ErrNotQueued, r.Withdraw.ID)
		}
		return nil
	case r.Annotate != nil:
		return t.annotate(*r.Annotate)
	case r.Cost != nil:
		return t.cost(*r.Cost)
	case r.Offer != nil:
		return t.change(r.Offer.ID, func(trial *strategy.Trial) error {
			trial.State, trial.Started = strategy.Running, r.Offer.Time
			trial.Attempts++
			t.claim(trial.ID, r.Offer.Claim, r.Offer.Time)
			return nil
		})
	case r.Return != nil:
		return t.change(r.Return.ID, func(trial *strategy.Trial) error {
			if trial.State == strategy.Waiting {
				return fmt.Errorf("trial %d is handed back twice", trial.ID)
			}
			trial.State, trial.Client, t.handed[trial.ID] = strategy.Waiting, "", true
			if delete(t.leases, trial.ID); !r.Return.Expired {
				trial.Attempts--
			}
			return nil
		})
	case r.Tell != nil:
		return t.tell(*r.Tell)
	case r.Steps != nil, r.StopTrial != nil, r.Stopped != nil:
		return t.applyCurve(r)
	case r.Fail != nil:
		return t.change(r.Fail.ID, func(trial *strategy.Trial) error {
			trial.State, trial.Reason, trial.Finished = strategy.Failed, sanitize.Text(r.Fail.Reason, maxReason), r.Fail.Time
			t.failed++
			delete(t.leases, trial.ID)
			return nil
		})
	}
	return nil
}

func (t *trials) change(id uint64, with func(*strategy.Trial) error) error {
	trial, err := t.get(id)
	if err != nil {
		return err
	}
	if trial.State.Ended() {
		return fmt.Errorf("%w: trial %d is %s", ErrFinished, id, trial.State)
	}
	t.shown = nil
	return with(trial)
}

func (t *trials) add(r TrialRecord) error {
	if r.ID != t.next() {
		return fmt.Errorf("trial %d follows trial %d", r.ID, len(t.list))
	}
	design, err := t.task.Space.UnmarshalDesign(r.Design)
	if err != nil {
		return fmt.Errorf("trial %d: %w", r.ID, err)
	}
	trial := strategy.Trial{ID: r.ID, Design: design, Why: r.Why, State: strategy.Running, Attempts: 1, Started: r.Time}
	if r.Imported != nil {
		if err := checkOutcome(t.task, *r.Imported); err != nil {
			return fmt.Errorf("trial %d: %w", r.ID, err)
		}
		trial.Attempts = 0
	}
	t.setAsideAtMost(r.Aside)
	t.shown, t.list = nil, append(t.list, trial)
	if r.Queued > 0 {
		t.dequeue(r.Queued) // a repaired journal may lack it
	}
	t.claim(trial.ID, r.Claim, r.Time)
	if r.Imported != nil {
		return t.tell(TellRecord{ID: r.ID, Outcome: *r.Imported, Time: r.Time})
	}
	return nil
}

func (t *trials) tell(r TellRecord) error {
	if err := checkOutcome(t.task, r.Outcome); err != nil {
		return fmt.Errorf("trial %d: %w", r.ID, err)
	}
	return t.change(r.ID, func(trial *strategy.Trial) error {
		trial.State, trial.Outcome, trial.Finished, trial.PeerGain = strategy.Done, &r.Outcome, r.Time, r.Gain
		trial.Violated = t.task.Violated(trial.Outcome)
		t.done++
		if trial.Cost != nil {
			t.costs++
		}
		delete(t.leases, trial.ID)
		if t.nearest < 0 || t.task.Better(&r.Outcome, t.list[t.nearest].Outcome) {
			t.nearest = int(r.ID) - 1
		}
		return nil
	})
}

// measured returns the number of trials with an observation of an output. All outputs have
// observations of trials with an outcome, the objective and completion also of stopped trials, and
// completion of failed ones. strategy.Observed returns the observations.
func (t *trials) measured(output task.Output) int {
	switch output {
	case task.Completion:
		return t.done + t.stopped + t.failed
	case task.Objective:
		return t.done + t.stopped
	case task.Cost:
		return t.costs
	}
	return t.done
}

// nearestTrial returns a copy of the best feasible trial or, if none is feasible, of the trial with
// the smallest violation. It returns nil if no trial has an outcome.
func (t *trials) nearestTrial() *strategy.Trial {
	if t.nearest < 0 {
		return nil
	}
	trial := t.list[t.nearest]
	return &trial
}

// bestTrial returns a copy of the best feasible trial, nil if there is none.
func (t *trials) bestTrial() *strategy.Trial {
	if nearest := t.nearestTrial(); nearest != nil && t.task.Feasible(nearest.Outcome) {
		return nearest
	}
	return nil
}

// interrupted returns the trials whose evaluation ended with an earlier process. It is called after
// the replay of the journal. Evaluations by clients outside the process are not interrupted.
func (t *trials) interrupted() []strategy.Trial {
	var cut []strategy.Trial
	for _, trial := range t.list {
		if _, held := t.leases[trial.ID]; !held && (trial.State == strategy.Running || trial.State == strategy.Waiting) {
			cut = append(cut, trial)
		}
	}
	return cut
}

// cutOff records that an evaluation ended with the earlier process: the trial waits again.
func (t *trials) cutOff(id uint64) {
	t.shown, t.list[id-1].State = nil, strategy.Waiting
}

// expired returns the running trials that have exceeded the lease of Config.Lease.
func (t *trials) expired(now time.Time, lease time.Duration) (ids []uint64) {
	if lease <= 0 {
		return nil
	}
	for _, trial := range t.list {
		if _, held := t.leases[trial.ID]; !held && trial.State == strategy.Running && !trial.Started.Add(lease).After(now) {
			ids = append(ids, trial.ID)
		}
	}
	return ids
}

// leaseEnd returns the earliest time at which a running trial exceeds Config.Lease; zero: never.
func (t *trials) leaseEnd(lease time.Duration) (end time.Time) {
	if lease <= 0 {
		return time.Time{}
	}
	for _, trial := range t.list {
		if _, held := t.leases[trial.ID]; !held && trial.State == strategy.Running {
			end = earliest(end, trial.Started.Add(lease))
		}
	}
	return end
}
