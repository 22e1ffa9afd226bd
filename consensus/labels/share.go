package labels

import "github.com/fbo-node/fbo/task"

// What the key share of a strategy may say: Best, that nodes tell where they believe the
// optimum to be, which is the default, and Feasibility, that they only give labels.
const (
	Best        = "best"
	Feasibility = "feasibility"
)

// Reveals is what a node with labels gives away, for people.
const Reveals = "Peers get the designs that this node has tried and which were feasible, never its results; that is not privacy."

// ReadShare reads the key share, and refuses those that go with Best alone where it is
// Feasibility. Without a constraint that is an error.
func ReadShare(s *task.Section, withBest ...string) string {
	share := s.Word("share", Best, Best, Feasibility)
	if share == Best {
		return share
	}
	if !s.Constrained() {
		s.Errorf("share", "share %s applies only to tasks with constraints, or with failures: constraint; accepted is %s", share, Best)
	}
	for _, key := range withBest {
		s.Refuse(key, "share: "+Best)
	}
	return share
}
