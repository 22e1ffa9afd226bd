package node

import (
	"context"
	"errors"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// AskFor is Ask for a client outside of the process. The trial stays with it over
// restarts of the node. Each sign of life of the client begins the lease anew; when it
// ends, another Ask gets the trial. A request that is given up leaves the client what
// it was given meanwhile, and HeldBy tells.
func (s *Session) AskFor(ctx context.Context, claim Claim) (strategy.Trial, error) {
	if err := claim.Validate(); err != nil {
		return strategy.Trial{}, err
	}
	return s.ask(ctx, claim)
}

// HeldBy lists the running trials of a client, and begins their leases anew.
func (s *Session) HeldBy(ctx context.Context, client string) (held []strategy.Trial, err error) {
	err = s.do(ctx, func(now time.Time) { held = s.agent.HeldBy(now, client) })
	return held, err
}

// Heartbeat begins the lease of a client's trial anew and returns its end. Errors, also
// of RequeueBy and FailBy: ErrUnknownTrial, ErrFinished, ErrNotHeld.
func (s *Session) Heartbeat(ctx context.Context, trial uint64, client string) (end time.Time, err error) {
	stopped := s.do(ctx, func(now time.Time) { end, err = s.agent.Heartbeat(now, trial, client) })
	return end, errors.Join(stopped, err)
}

// RequeueBy is Requeue by a client that holds the trial, for a request that may come again.
func (s *Session) RequeueBy(ctx context.Context, once Once, trial uint64, client string) error {
	_, err := s.once(ctx, once, func(now time.Time) (Reply, error) {
		return Reply{Trials: []uint64{trial}}, s.agent.RequeueBy(now, trial, client)
	})
	return err
}

// FailBy is Fail by a client that holds the trial, for a request that may come again.
func (s *Session) FailBy(ctx context.Context, once Once, trial uint64, client, reason string) error {
	_, err := s.once(ctx, once, func(now time.Time) (Reply, error) {
		return Reply{Trials: []uint64{trial}}, s.agent.FailBy(now, trial, client, reason)
	})
	return err
}

// Leases returns when the leases of the running trials end that clients hold.
func (s *Session) Leases(ctx context.Context) (ends map[uint64]time.Time, err error) {
	err = s.do(ctx, func(time.Time) { ends = s.agent.Leases() })
	return ends, err
}

// EndLeases ends the leases of all trials that clients hold, since no client is left.
func (s *Session) EndLeases(ctx context.Context) error {
	return s.do(ctx, func(now time.Time) { s.agent.EndLeases(now) })
}

// Replied returns what a request came to that was carried out before. Error, also of
// the two methods that follow: ErrKeyReused.
func (s *Session) Replied(ctx context.Context, once Once) (reply Reply, ok bool, err error) {
	stopped := s.do(ctx, func(time.Time) { reply, ok, err = s.agent.Replied(once) })
	return reply, ok, errors.Join(stopped, err)
}

// Remember keeps what a request came to.
func (s *Session) Remember(ctx context.Context, once Once, reply Reply) error {
	return s.do(ctx, func(time.Time) { s.agent.Remember(once, reply) })
}

// TellOnce is TellOutcome for a request that may come again.
func (s *Session) TellOnce(ctx context.Context, once Once, trial uint64, outcome strategy.Outcome) error {
	_, err := s.once(ctx, once, func(now time.Time) (Reply, error) {
		return Reply{Trials: []uint64{trial}}, s.agent.Tell(now, trial, outcome)
	})
	return err
}

// ImportOnce is Import for a request that may come again.
func (s *Session) ImportOnce(ctx context.Context, once Once, past []Past) (added int, err error) {
	reply, err := s.once(ctx, once, func(now time.Time) (Reply, error) {
		added, err := s.agent.Import(now, past)
		return Reply{Added: added}, err
	})
	return reply.Added, err
}

// once carries out what has no reply yet. What it records and the reply are written
// together.
func (s *Session) once(ctx context.Context, once Once, carryOut func(now time.Time) (Reply, error)) (reply Reply, err error) {
	stopped := s.do(ctx, func(now time.Time) {
		var known bool
		if reply, known, err = s.agent.Replied(once); known || err != nil {
			return
		}
		if reply, err = carryOut(now); err == nil {
			s.agent.Remember(once, reply)
		}
	})
	return reply, errors.Join(stopped, err)
}

// Recommend returns the best supported design, of largest posterior mean less one standard
// deviation, which is a better guess at the best design than the best outcome where outcomes are noisy; the zero design while
// there is no posterior. It takes as long as a suggestion.
func (s *Session) Recommend(ctx context.Context) (Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return Recommendation{}, err
	}
	return s.agent.Recommendation(ctx, view)
}

// Preferred returns the recommendation where it is to be preferred to the best observed design,
// because outcomes are noisy. Otherwise, and while no trial is feasible, it returns nil after a
// short time.
func (s *Session) Preferred(ctx context.Context) (*Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return nil, err
	}
	return s.agent.Preferred(ctx, view)
}

// RegretBound returns an upper bound of what the best design so far lacks of the best of
// the space, in the objective's units, as far as this node's own model knows; +Inf while
// it knows nothing. It waits until the model knows all outcomes, and takes as long as
// some suggestions. It takes no notice of constraints.
func (s *Session) RegretBound(ctx context.Context) (float64, error) {
	bound, _, err := s.regretBound(ctx)
	return bound, err
}

// regretBound also tells how many outcomes the bound rests on.
func (s *Session) regretBound(ctx context.Context) (bound float64, observations int, err error) {
	if err := s.await(ctx, func() bool { _, all := s.agent.Modelled(); return all || s.agent.Keeping() }); err != nil {
		return 0, 0, err
	}
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return 0, 0, err
	}
	bound, err = s.agent.RegretBound(ctx, view)
	return bound, view.Observations, err
}

// Stopped returns why the latest run ended, by RunOptions.StopRegret; nil when it ended
// otherwise, or there are trials since.
func (s *Session) Stopped(ctx context.Context) (stopped *Stopped, err error) {
	return stopped, s.do(ctx, func(time.Time) { stopped = s.agent.StopReason() })
}
