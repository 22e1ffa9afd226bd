package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fbo-node/fbo/strategy"
)

// ErrNotHeld means that the client does not hold the lease of the trial; nothing has changed.
var ErrNotHeld = errors.New("trial is not held by this client")

// Claim names the client outside the node's process that evaluates a trial. Lease is the time after
// the client's last heartbeat at which another client can get the trial. A claimed trial survives
// the end of the process: it does not count as interrupted, and its lease begins again at the next
// start. The zero Claim means an evaluation inside the process.
type Claim struct {
	Client string        `json:"client,omitempty"`
	Lease  time.Duration `json:"lease,omitempty"` // in nanoseconds
}

// MaxClient is the maximum number of bytes of a client's name.
const MaxClient = 64

// Validate returns an error if the claim is invalid.
func (c Claim) Validate() error {
	if err := CheckClient(c.Client); err != nil {
		return err
	}
	if c.Lease <= 0 {
		return fmt.Errorf("lease %v: expected positive times", c.Lease)
	}
	return nil
}

// CheckClient returns an error unless the name has 1 to MaxClient bytes of printable text without
// spaces at the ends.
func CheckClient(name string) error {
	printable := utf8.ValidString(name)
	for _, r := range name {
		printable = printable && unicode.IsPrint(r)
	}
	if name == "" || len(name) > MaxClient || !printable || name[0] == ' ' || name[len(name)-1] == ' ' {
		return fmt.Errorf("client %.80q: expected 1 to %d bytes of printable text without spaces at the ends", name, MaxClient)
	}
	return nil
}

// lease is the claim on a running trial.
type lease struct {
	span time.Duration
	end  time.Time // zero after the replay of the journal, until the agent starts
}

// claim stores the client of a trial whose evaluation has begun.
func (t *trials) claim(id uint64, c Claim, began time.Time) {
	if c.Client == "" {
		return
	}
	t.list[id-1].Client = c.Client
	t.leases[id] = lease{span: c.Lease, end: began.Add(c.Lease)}
}

// renew restarts the lease of a trial and returns the new end.
func (t *trials) renew(id uint64, now time.Time) (end time.Time) {
	l := t.leases[id]
	l.end = now.Add(l.span)
	t.leases[id] = l
	return l.end
}

// held returns the trial if it is running and the client holds it.
func (t *trials) held(id uint64, client string) (*strategy.Trial, error) {
	trial, err := t.get(id)
	if err != nil {
		return nil, err
	}
	if trial.State.Ended() {
		return nil, fmt.Errorf("%w: trial %d is %s", ErrFinished, id, trial.State)
	}
	if trial.State != strategy.Running || trial.Client != client {
		return nil, fmt.Errorf("%w: trial %d", ErrNotHeld, id)
	}
	return trial, nil
}

// AskFor is Ask for a client outside the process.
func (a *Agent) AskFor(now time.Time, request uint64, claim Claim) error {
	if err := claim.Validate(); err != nil {
		return err
	}
	a.claims[request] = claim
	a.Ask(now, request)
	return nil
}

// HeldBy returns the running trials of a client. It also restarts their leases, because the call
// shows that the client is active. A program that was killed gets its trials again in this way, so
// reports of values by step may begin anew.
func (a *Agent) HeldBy(now time.Time, client string) (held []strategy.Trial) {
	for _, trial := range a.trials.list {
		if trial.State == strategy.Running && trial.Client == client && client != "" {
			a.trials.renew(trial.ID, now)
			if len(trial.Steps) > 0 {
				a.trials.handed[trial.ID] = true
			}
			held = append(held, trial)
		}
	}
	return held
}

// Heartbeat restarts the lease of a trial and returns the new end. The journal does not store the
// ends of leases, so leases restart at each start of the node. Errors: ErrUnknownTrial,
// ErrFinished, ErrNotHeld.
func (a *Agent) Heartbeat(now time.Time, id uint64, client string) (end time.Time, err error) {
	if _, err := a.trials.held(id, client); err != nil {
		return time.Time{}, err
	}
	return a.trials.renew(id, now), nil
}

// RequeueBy is Requeue for a client. A repeated call is no error: it changes nothing if the trial
// is waiting already, so a client that missed the response can repeat the call. Errors:
// ErrUnknownTrial, ErrFinished, ErrNotHeld.
func (a *Agent) RequeueBy(now time.Time, id uint64, client string) error {
	if trial, err := a.trials.get(id); err == nil && trial.State == strategy.Waiting {
		return nil
	}
	if _, err := a.trials.held(id, client); err != nil {
		return err
	}
	return a.Requeue(now, id)
}

// Ending is what a client reports at the end of a trial without an outcome.
type Ending struct {
	Reason      string
	Cost        *float64             // of the trial; nil if it is unknown
	Annotations strategy.Annotations // to add to those of the trial
}

// FailBy is Fail for a client, which must hold the trial. If the client has already reported the
// failure, a repeated call is no error. Errors: ErrUnknownTrial, ErrFinished, ErrNotHeld,
// strategy.ErrBadAnnotation, strategy.ErrBadCost.
func (a *Agent) FailBy(now time.Time, id uint64, client string, end Ending) error {
	if trial, err := a.trials.get(id); err == nil && trial.State == strategy.Failed && trial.Client == client {
		return a.addBefore(now, id, end.Cost, end.Annotations, true)
	}
	if _, err := a.trials.held(id, client); err != nil {
		return err
	}
	if err := a.addBefore(now, id, end.Cost, end.Annotations, false); err != nil {
		return err
	}
	return a.Fail(now, id, end.Reason)
}

// Leases returns the ends of the leases that clients hold, by trial ID.
func (a *Agent) Leases() map[uint64]time.Time {
	ends := make(map[uint64]time.Time, len(a.trials.leases))
	for id, l := range a.trials.leases {
		ends[id] = l.end
	}
	return ends
}

// EndLeases ends all leases that clients hold. It is for the time when no client is left.
func (a *Agent) EndLeases(now time.Time) {
	a.expire(now, slices.Sorted(maps.Keys(a.trials.leases)))
}

// endLeases ends the leases of clients that have sent no heartbeat in time.
func (a *Agent) endLeases(now time.Time) { a.expire(now, a.trials.overdue(now)) }

// expire makes the trials of inactive clients available to others. A trial that has reached the
// maximum number of attempts fails.
func (a *Agent) expire(now time.Time, ids []uint64) {
	for _, id := range ids {
		trial := a.trials.list[id-1]
		if trial.Stop != nil { // the evaluation should not be repeated
			a.endStopped(now, id)
			continue
		}
		if trial.Attempts >= a.cfg.MaxAttempts {
			a.end(now, Record{Fail: &FailRecord{
				ID:     id,
				Reason: fmt.Sprintf("the lease ended %d times without an outcome, last that of client %s", trial.Attempts, trial.Client),
				Time:   now,
			}}, id)
			continue
		}
		a.record(Record{Return: &ReturnRecord{ID: id, Expired: true}})
		a.offers = append(a.offers, id)
		a.event(Event{Type: LeaseEnded, Trial: &trial})
	}
}

// overdue returns the trials whose leases have ended, sorted by ID.
func (t *trials) overdue(now time.Time) (ids []uint64) {
	if len(t.leases) == 0 {
		return nil
	}
	for _, trial := range t.list {
		if l, ok := t.leases[trial.ID]; ok && !l.end.After(now) {
			ids = append(ids, trial.ID)
		}
	}
	return ids
}

// firstEnd returns the earliest end of a client's lease, or zero if there is no lease.
func (t *trials) firstEnd() (end time.Time) {
	for _, l := range t.leases {
		end = earliest(end, l.end)
	}
	return end
}
