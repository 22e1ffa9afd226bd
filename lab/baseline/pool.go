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

// Pool holds the data that the members of one simulated federation have of each other beyond
// shares. Its user adds every observation, by Watch or Set; the strategies read. It is safe for
// concurrent use, but a suggestion depends on the contents of the pool when it is computed. So a
// simulation is repeatable only without writes while suggestions are computed.
type Pool struct {
	task *task.Task
	spec gp.Spec // of one member's process

	mu       sync.Mutex
	members  []*known // nil while nothing is known
	latest   *fitting // nil until there is an observation
	snapshot *snapshot
}

// NewPool returns a pool of this number of members of a task, at least 1. The task's surrogate must
// be the exact one, and its hyperparameters learned.
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

// Watch takes what a member knows from its view, as Set does. It does nothing
// while the member has no posterior.
func (p *Pool) Watch(member int, view strategy.View) {
	if view.Posterior != nil {
		p.Set(member, p.observations(view), view.Posterior)
	}
}

// Set replaces what is known of a member (0 to members-1): all its observations,
// larger being better, and the posterior of the exact surrogate given these. The
// observations are copied. Panics when they are none, or not finite.
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

// now returns what the pool holds at this moment.
func (p *Pool) now() *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.snapshot == nil {
		p.snapshot = newSnapshot(p.spec, slices.Clone(p.members), p.latest)
	}
	return p.snapshot
}

// observations are those of a view, as its agent's surrogate sees them.
func (p *Pool) observations(view strategy.View) surrogate.Observations {
	return view.Observed(task.Objective)
}

// own holds the data of a view about its agent.
func (p *Pool) own(view strategy.View) (*known, error) {
	return newKnown(p.spec, p.observations(view), view.Posterior)
}
