package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/fbo-node/fbo/internal/agent"
)

// stopRule holds the state of RunOptions.StopRegret during one run.
type stopRule struct {
	mu       sync.Mutex
	outcomes int // number of outcomes that the model behind the latest bound has learned from
	bound    float64
	inARow   int // number of successive outcomes after which the bound was small enough
	enough   bool
	warned   bool // a warning that no bound could be computed was issued
}

// stoppedBefore reports whether an earlier run ended because its regret bound was at most
// StopRegret, and no trial has begun since.
func (r *run) stoppedBefore(ctx context.Context) (bool, error) {
	if r.options.StopRegret == 0 {
		return false, nil
	}
	before, err := r.session.Stopped(ctx)
	return before != nil && before.RegretBound <= r.options.StopRegret, err
}

// shouldStop reports whether the run must end: the regret bound was at most StopRegret after
// agent.StopAfter successive outcomes, and there are enough outcomes for each parameter. A bound
// that cannot be computed does not end a run.
func (r *run) shouldStop(ctx context.Context) (bool, error) {
	if r.options.StopRegret == 0 {
		return false, nil
	}
	s := &r.stopRule
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.enough {
		return true, nil
	}
	bound, outcomes, err := r.session.regretBound(ctx)
	if err != nil && ctx.Err() == nil && !r.session.hasEnded() {
		if !s.warned {
			s.warned = true
			r.session.node.warn(fmt.Sprintf("task %q: there is no bound of the regret after %d outcomes (%v); the run goes on without", r.session.task.Name, outcomes, err))
		}
		return false, nil
	}
	if err != nil || outcomes == s.outcomes {
		return false, err
	}
	s.outcomes, s.bound = outcomes, bound
	if bound <= r.options.StopRegret {
		s.inARow++
	} else {
		s.inARow = 0
	}
	s.enough = s.inARow >= agent.StopAfter && outcomes >= agent.StopPerParameter*r.session.task.Space.Len()
	return s.enough, nil
}
