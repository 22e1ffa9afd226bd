package labels

import (
	"github.com/fbo-node/fbo/privacy/guard"
	"github.com/fbo-node/fbo/task"
)

// What the key share of a strategy may say: Best, that nodes tell where they believe the
// optimum to be, which is the default, Guarded, that they tell it coarsely, and Feasibility,
// that they only give labels.
const (
	Best        = "best"
	Guarded     = guard.Share
	Feasibility = "feasibility"
)

// Reveals is what a node with labels gives away, for people.
const Reveals = "Peers get the designs that this node has tried and which were feasible, never its results; that is not privacy."

// ReadShare reads the key share, and refuses those that go with designs where it is
// Feasibility. Without a constraint that is an error.
func ReadShare(s *task.Section, withDesigns ...string) string {
	share := s.Word("share", Best, Best, Guarded, Feasibility)
	if share != Feasibility {
		return share
	}
	if !s.Constrained() {
		s.Errorf("share", "share %s applies only to tasks with constraints, or with failures: constraint; accepted are %s and %s", share, Best, Guarded)
	}
	for _, key := range withDesigns {
		s.Refuse(key, "share: "+Best)
	}
	return share
}
