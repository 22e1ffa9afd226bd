package feasibility

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// MaxShareEvery bounds the key share_every.
const MaxShareEvery = 10_000

// Values of a strategy's key share. With Best, the default, nodes publish their estimates of
// the optimum's location; with Coarse, coarse estimates; with Feasibility, only labels.
const (
	Best        = "best"
	Coarse      = coarsen.Share
	Feasibility = "feasibility"
)

// Reveals is what a node with labels gives away, for people.
const Reveals = "Peers get the designs that this node has tried and which were feasible, never its results; that is not privacy."

// ReadShare reads the key share, and refuses those that go with designs where it is
// Feasibility. Without a constraint that is an error.
func ReadShare(s *task.Section, withDesigns ...string) string {
	share := s.Word("share", Best, Best, Coarse, Feasibility)
	if share != Feasibility {
		return share
	}
	if !s.Constrained() {
		s.Errorf("share", "share %s applies only to tasks with constraints, or with failures: constraint; accepted are %s and %s", share, Best, Coarse)
	}
	for _, key := range withDesigns {
		s.Refuse(key, "share: "+Best)
	}
	return share
}

// ReadShareEvery reads the key share_every: how many observations lie between two shares of
// Best. With another share it is an error, and 1.
func ReadShareEvery(s *task.Section, share string) int {
	if share != Best {
		s.Refuse("share_every", "share: "+Best)
		return 1
	}
	return s.Whole("share_every", 1, 1, MaxShareEvery)
}

// Due is after how many observations a private release of a design is due, the first being 1:
// every so many from the last starting design but one on. So the first comes later where they
// are far apart, when its author knows more of where to look.
func Due(t *task.Task, every, release int) int { return t.Strategy.InitialDesigns - 1 + release*every }

// After says in words when shares come that are so many observations apart.
func After(every int) string {
	if every == 1 {
		return "after every observation"
	}
	return "after every " + sanitize.Count(every, "observation")
}

// NoisyReveals is what a node gives away that shares designs under the task's promise, for
// people.
func NoisyReveals(p *task.Privacy) string {
	return fmt.Sprintf("Peers get designs that this node holds for good, with noise that promises (ε = %g, δ = %g) over %s; never its results.",
		p.Epsilon, p.Delta, sanitize.Count(p.Releases, "share"))
}
