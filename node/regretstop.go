package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/fbo-node/fbo/internal/agent"
)

// stopRule is what a run knows of the regret of its best design.
type stopRule struct {
	mu       sync.Mutex
	outcomes int // behind the latest bound
	bound    float64
	inARow   int // outcomes after which the bound was small enough
	enough   bool
	warned   bool // that there was no bound
}

// stoppedBefore reports whether an earlier run has ended because the regret was small enough,
// and nothing was begun since.
func (r *run) stoppedBefore(ctx context.Context) (bool, error) {
	if r.options.StopRegret == 0 {
		return false, nil
	}
	before, err := r.session.Stopped(ctx)
	return before != nil && before.RegretBound <= r.options.StopRegret, err
}

// shouldStop reports whether the regret has been small enough for long enough, by a model that has
// seen enough. A bound that cannot be computed is no reason to end a run.
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
