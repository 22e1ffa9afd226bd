// Package clientsession gives clients outside of the process trials of a session of package node.
// Each client holds its trials under a lease. A request with a key is carried out once: a request
// with the same key receives the reply that is in the journal.
package clientsession

import (
	"context"
	"errors"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Session is a session of package node, for clients outside of the process. Its methods may be
// called from any goroutine. Their errors are those of node.Session, and these: of a trial and a
// client agent.ErrUnknownTrial, agent.ErrFinished and agent.ErrNotHeld, of a request with a key
// agent.ErrKeyReused.
type Session struct {
	do  func(ctx context.Context, run func(a *agent.Agent, now time.Time)) error
	ask func(context.Context, agent.Claim) (strategy.Trial, error)
}

// New returns the session of a loop: do runs a function in the loop, and returns when its effects
// are on disk; ask returns the next trial.
func New(do func(ctx context.Context, run func(a *agent.Agent, now time.Time)) error, ask func(context.Context, agent.Claim) (strategy.Trial, error)) *Session {
	return &Session{do, ask}
}

// Ask returns the next trial for a client. The trial stays with the client over restarts of the node.
// Each request of the client renews the lease. When the lease ends, another client gets the trial.
// A request that is cancelled leaves the client the trials that it received until then; HeldBy
// lists them.
func (s *Session) Ask(ctx context.Context, claim agent.Claim) (strategy.Trial, error) {
	if err := claim.Validate(); err != nil {
		return strategy.Trial{}, err
	}
	return s.ask(ctx, claim)
}

// HeldBy lists the running trials of a client, and renews their leases.
func (s *Session) HeldBy(ctx context.Context, client string) (held []strategy.Trial, err error) {
	err = s.do(ctx, func(a *agent.Agent, now time.Time) { held = a.HeldBy(now, client) })
	return held, err
}

// Heartbeat renews the lease of a client's trial and returns its end.
func (s *Session) Heartbeat(ctx context.Context, trial uint64, client string) (end time.Time, err error) {
	stopped := s.do(ctx, func(a *agent.Agent, now time.Time) { end, err = a.Heartbeat(now, trial, client) })
	return end, errors.Join(stopped, err)
}

// Leases returns the times at which the leases of the running trials that clients hold end.
func (s *Session) Leases(ctx context.Context) (ends map[uint64]time.Time, err error) {
	err = s.do(ctx, func(a *agent.Agent, _ time.Time) { ends = a.Leases() })
	return ends, err
}

// EndLeases ends the leases of all trials that clients hold, because no client is left.
func (s *Session) EndLeases(ctx context.Context) error {
	return s.do(ctx, func(a *agent.Agent, now time.Time) { a.EndLeases(now) })
}

// Requeue returns a trial that the client holds and will not finish.
func (s *Session) Requeue(ctx context.Context, once agent.Once, trial uint64, client string) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		return agent.Reply{Trials: []uint64{trial}}, a.RequeueBy(now, trial, client)
	})
	return err
}

// Fail reports that the evaluation of a trial that the client holds gave no value. Errors:
// strategy.ErrBadAnnotation, strategy.ErrBadCost.
func (s *Session) Fail(ctx context.Context, once agent.Once, trial uint64, client string, end agent.Ending) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		return agent.Reply{Trials: []uint64{trial}}, a.FailBy(now, trial, client, end)
	})
	return err
}

// Report adds values by step to a trial that the client holds, and renews the lease. It returns the
// decision to stop the evaluation, or nil. Reports can be repeated, so they need no key. Errors:
// curves.ErrBadStep, strategy.ErrBadCost.
func (s *Session) Report(ctx context.Context, trial uint64, client string, steps []curves.Step) (stop *curves.Stop, err error) {
	stopped := s.do(ctx, func(a *agent.Agent, now time.Time) { stop, err = a.ReportBy(now, trial, client, steps) })
	return stop, errors.Join(stopped, err)
}

// EndStopped ends a trial that the client holds as stopped early. Errors: agent.ErrNoSteps,
// strategy.ErrBadAnnotation, strategy.ErrBadCost.
func (s *Session) EndStopped(ctx context.Context, once agent.Once, trial uint64, client string, end agent.Ending) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		return agent.Reply{Trials: []uint64{trial}}, a.EndStoppedBy(now, trial, client, end)
	})
	return err
}

// Tell reports the outcome of a trial.
func (s *Session) Tell(ctx context.Context, once agent.Once, trial uint64, outcome strategy.Outcome) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		return agent.Reply{Trials: []uint64{trial}}, a.Tell(now, trial, outcome)
	})
	return err
}

// Import adds evaluations that were made before or elsewhere and returns how many of them were new.
func (s *Session) Import(ctx context.Context, once agent.Once, past []agent.Past) (added int, err error) {
	reply, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		added, err := a.Import(now, past)
		return agent.Reply{Added: added}, err
	})
	return reply.Added, err
}

// Enqueue adds a design to those that are evaluated before the strategy chooses any. The reply to a
// repeated request has the ID and the design only. Errors: agent.ErrKeeping, agent.ErrQueueFull.
func (s *Session) Enqueue(ctx context.Context, once agent.Once, design task.Design) (queued agent.Queued, err error) {
	reply, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		var err error
		queued, err = a.Enqueue(now, design)
		return agent.Reply{Queued: queued.ID}, err
	})
	queued.ID, queued.Design = reply.Queued, design
	return queued, err
}

// Prepare makes a waiting trial of a design, which the next Ask gets, and returns its ID. Errors:
// agent.ErrKeeping, agent.ErrQueueFull.
func (s *Session) Prepare(ctx context.Context, once agent.Once, design task.Design) (id uint64, err error) {
	reply, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		id, err := a.Prepare(now, design)
		return agent.Reply{Trials: []uint64{id}}, err
	})
	if err != nil {
		return 0, err
	}
	return reply.Trials[0], nil
}

// Withdraw removes a design from the queue. Error: agent.ErrNotQueued.
func (s *Session) Withdraw(ctx context.Context, once agent.Once, id uint64) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, _ time.Time) (agent.Reply, error) {
		return agent.Reply{Queued: id}, a.Withdraw(id)
	})
	return err
}

// Queue lists the designs that wait to be evaluated, in order.
func (s *Session) Queue(ctx context.Context) (all []agent.Queued, err error) {
	err = s.do(ctx, func(a *agent.Agent, _ time.Time) { all = a.Queue() })
	return all, err
}

// Annotate changes the annotations of a trial. Errors: agent.ErrUnknownTrial,
// strategy.ErrBadAnnotation.
func (s *Session) Annotate(ctx context.Context, once agent.Once, trial uint64, change strategy.AnnotationChange) error {
	_, err := s.once(ctx, once, func(a *agent.Agent, now time.Time) (agent.Reply, error) {
		return agent.Reply{Trials: []uint64{trial}}, a.Annotate(now, trial, change)
	})
	return err
}

// Replied returns the stored reply to a request.
func (s *Session) Replied(ctx context.Context, once agent.Once) (reply agent.Reply, ok bool, err error) {
	stopped := s.do(ctx, func(a *agent.Agent, _ time.Time) { reply, ok, err = a.Replied(once) })
	return reply, ok, errors.Join(stopped, err)
}

// Remember stores the reply to a request.
func (s *Session) Remember(ctx context.Context, once agent.Once, reply agent.Reply) error {
	return s.do(ctx, func(a *agent.Agent, _ time.Time) { a.Remember(once, reply) })
}

// once carries out a request that has no reply yet. Its records and the reply are written together.
func (s *Session) once(ctx context.Context, once agent.Once, carryOut func(a *agent.Agent, now time.Time) (agent.Reply, error)) (reply agent.Reply, err error) {
	stopped := s.do(ctx, func(a *agent.Agent, now time.Time) {
		var known bool
		if reply, known, err = a.Replied(once); known || err != nil {
			return
		}
		if reply, err = carryOut(a, now); err == nil {
			a.Remember(once, reply)
		}
	})
	return reply, errors.Join(stopped, err)
}
