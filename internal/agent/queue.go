package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Errors about queued designs; nothing has changed when one is returned.
var (
	ErrNotQueued = errors.New("no such queued design")
	ErrQueueFull = fmt.Errorf("%d designs are queued, which is the most", MaxQueued)
)

// MaxQueued is the maximum number of designs that Enqueue adds to the queue.
const MaxQueued = 1000

// Queued is a design of the user that waits for its evaluation.
type Queued struct {
	ID     uint64      `json:"id,omitempty"` // 1, 2, … per node and task; 0 for a design of Config.Enqueue
	Design task.Design `json:"parameters"`
	Time   time.Time   `json:"enqueued,omitzero"`
}

// Enqueue adds a design to the queue. The next Ask without an interrupted trial gets the oldest
// design, after those of Config.Enqueue. A design that is queued already is not added again; one that
// has a trial is, and is evaluated once more. Errors: ErrKeeping, ErrQueueFull.
func (a *Agent) Enqueue(now time.Time, design task.Design) (Queued, error) {
	if a.keeping {
		return Queued{}, ErrKeeping
	}
	if err := a.cfg.Task.Space.Check(design); err != nil {
		return Queued{}, err
	}
	for _, q := range a.Queue() {
		if q.Design.Equal(design) {
			return q, nil
		}
	}
	if len(a.trials.queue) >= MaxQueued {
		return Queued{}, ErrQueueFull
	}
	a.record(Record{Enqueue: &EnqueueRecord{ID: a.trials.lastQueued + 1, Design: encodeDesign(design), Time: now}})
	q := a.trials.queue[len(a.trials.queue)-1]
	a.event(Event{Type: DesignEnqueued, Queued: &q})
	a.pump(now)
	return q, nil
}

// Prepare makes a waiting trial of a design of the user, so that the design has a trial's ID before any
// client evaluates it. The next Asks get such trials, the oldest first, before queued designs. Each call
// makes a trial. Errors: ErrKeeping, ErrQueueFull.
func (a *Agent) Prepare(now time.Time, design task.Design) (id uint64, err error) {
	if a.keeping {
		return 0, ErrKeeping
	}
	if err := a.cfg.Task.Space.Check(design); err != nil {
		return 0, err
	}
	if len(a.offers) >= MaxQueued {
		return 0, ErrQueueFull
	}
	id = a.trials.next()
	a.record(Record{Trial: a.trialRecord(now, design, strategy.Why{Source: strategy.Enqueued})})
	return id, a.Requeue(now, id)
}

// Withdraw removes a design from the queue. Error: ErrNotQueued.
func (a *Agent) Withdraw(id uint64) error {
	q, ok := a.trials.queued(id)
	if !ok {
		return fmt.Errorf("%w %d: it was evaluated or withdrawn, or never existed", ErrNotQueued, id)
	}
	a.record(Record{Withdraw: &WithdrawRecord{ID: id}})
	a.event(Event{Type: DesignWithdrawn, Queued: &q})
	return nil
}

// Queue lists the designs that wait, in the order of their evaluation. Those of Config.Enqueue come
// first, and have no ID.
func (a *Agent) Queue() (all []Queued) {
	for _, design := range a.cfg.Enqueue {
		if !a.tried(design) && !slices.ContainsFunc(all, func(q Queued) bool { return q.Design.Equal(design) }) {
			all = append(all, Queued{Design: design})
		}
	}
	return append(all, a.trials.queue...)
}

// giveFirst answers requests with enqueued designs. They need no model and no peers, so there is no
// wait.
func (a *Agent) giveFirst(now time.Time) {
	for len(a.asks) > 0 {
		first, ok := a.nextFirst()
		if !ok {
			return
		}
		id := a.trials.next()
		why := strategy.Why{Source: strategy.Enqueued}
		if byDefault := a.cfg.Task.About.Default; first.ID == 0 && !byDefault.IsZero() && first.Design.Equal(byDefault) {
			why.Phrase = "the task's default"
		}
		record := a.trialRecord(now, first.Design, why)
		record.Claim, record.Queued = a.claims[a.asks[0]], first.ID
		a.record(Record{Trial: record})
		a.answer(id)
	}
}

// nextFirst returns the first design of the queue. The list of Config.Enqueue is the same at every
// start, and each of its designs is evaluated once.
func (a *Agent) nextFirst() (first Queued, ok bool) {
	for _, design := range a.cfg.Enqueue {
		if !a.tried(design) {
			return Queued{Design: design}, true
		}
	}
	if len(a.trials.queue) == 0 {
		return Queued{}, false
	}
	return a.trials.queue[0], true
}

// tried reports whether a design has a trial, from any source. Trials that are set aside do not count.
func (a *Agent) tried(design task.Design) bool {
	return slices.ContainsFunc(a.trials.list[a.trials.aside:], func(t strategy.Trial) bool { return t.Design.Equal(design) })
}

func (t *trials) queued(id uint64) (q Queued, ok bool) {
	i := slices.IndexFunc(t.queue, func(q Queued) bool { return q.ID == id })
	if i < 0 {
		return Queued{}, false
	}
	return t.queue[i], true
}

func (t *trials) enqueue(r EnqueueRecord) error {
	if r.ID <= t.lastQueued {
		return fmt.Errorf("queued design %d follows queued design %d", r.ID, t.lastQueued)
	}
	design, err := t.task.Space.UnmarshalDesign(r.Design)
	if err != nil {
		return fmt.Errorf("queued design %d: %w", r.ID, err)
	}
	t.lastQueued = r.ID
	t.queue = append(t.queue, Queued{r.ID, design, r.Time})
	return nil
}

// dequeue removes a design that was withdrawn or has a trial. It reports whether it was queued.
func (t *trials) dequeue(id uint64) bool {
	before := len(t.queue)
	// A copy: Queue has returned the present one.
	t.queue = slices.DeleteFunc(slices.Clone(t.queue), func(q Queued) bool { return q.ID == id })
	return len(t.queue) < before
}
