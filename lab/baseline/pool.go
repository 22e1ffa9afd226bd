package baseline

import (
	"fmt"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Pool holds the data that members of one simulated federation have about each other in addition to
// shares. The simulator adds every observation by Watch or Set, and strategies read. A Pool is safe
// for concurrent use. A suggestion depends on the contents of the pool at that moment, so a
// simulation is repeatable only if nothing is added while suggestions are computed.
type Pool struct {
	task *task.Task
	spec gp.Spec // of one member's process

	mu       sync.Mutex
	members  []*known // an entry is nil while its member has no observations
	latest   *fitting // nil until there is an observation
	snapshot *snapshot
}

// NewPool returns a pool for this number of members of a task, at least 1. The task must have the
// exact surrogate with learned hyperparameters.
func NewPool(t *task.Task, members int) (*Pool, error) {
	if t.Surrogate.Word() != "exact" {
		return nil, fmt.Errorf("a pool of surrogates of type %q: must be \"exact\"", t.Surrogate.Word())
	}
	if t.Surrogate.Fixed != nil {
		return nil, fmt.Errorf("a pool of surrogates with fixed hyperparameters: they must be learned")
	}
	if members < 1 {
		return nil, fmt.Errorf("a pool of %d members: at least 1 is needed", members)
	}
	return &Pool{task: t, spec: surrogate.ProcessSpec(t), members: make([]*known, members)}, nil
}

// Watch calls Set with the observations in a member's view. It does nothing while the member has no
// posterior.
func (p *Pool) Watch(member int, view strategy.View) {
	if view.Posterior != nil {
		p.Set(member, p.observations(view), view.Posterior)
	}
}

// Set replaces the data of a member (0 to members-1): all its observations, of which larger is
// better, and the posterior of the exact surrogate given these. Set copies the observations. It
// panics if there are none, or if one is not finite.
func (p *Pool) Set(member int, obs surrogate.Observations, posterior surrogate.Posterior) {
	k, err := newKnown(p.spec, obs, posterior)
	if err != nil {
		panic(err) // there is a posterior, so the surrogate accepted them
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members[member] = k
	p.snapshot = nil
	if p.latest == nil || p.latest.outgrownBy(p.members) {
		p.latest = newFitting(p.spec, slices.Clone(p.members), p.latest)
	}
}

// now returns the current contents of the pool.
func (p *Pool) now() *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.snapshot == nil {
		p.snapshot = newSnapshot(p.spec, slices.Clone(p.members), p.latest)
	}
	return p.snapshot
}

// observations returns the observations of a view as the agent's surrogate uses them.
func (p *Pool) observations(view strategy.View) surrogate.Observations {
	return view.Observed(task.Objective)
}

// own returns the data in a view about its own agent.
func (p *Pool) own(view strategy.View) (*known, error) {
	return newKnown(p.spec, p.observations(view), view.Posterior)
}
