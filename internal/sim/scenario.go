package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Scenario is one run.
type Scenario struct {
	Task    *task.Task
	Members []Member // at least 1
	Network Network
	Seed    random.Seed // of the members' decisions and of the network

	// Strategies must contain the task's strategy. Nil means those of package all.
	Strategies strategy.Set

	// Model is the surrogate of Task; nil makes one. All members share it.
	Model surrogate.Model

	// Receives, if not nil, reports whether a member can receive shares of another at all.
	Receives func(hearer, author int) bool

	// Workers is the maximum number of members that compute at a time, at least 1. Only members
	// that have something to compute at the same virtual instant can do so. 0 means GOMAXPROCS.
	Workers int

	// Recommend lists the numbers of evaluations after which each member recommends a design.
	// Unless the list is empty, it also does so at the end of its budget. If several evaluations
	// end at a time, it does so as soon as its model has at least that number.
	Recommend []int

	// Watch, if not nil, gets a member's view whenever its model includes a new outcome. It is
	// never called concurrently, nor while a member computes.
	Watch func(member int, view strategy.View)

	// Warned, if not nil, gets the warnings of a member's agent, which otherwise end the run with
	// an error; a panic always ends it. It is never called concurrently.
	Warned func(member int, message string)
}

// Member is one agent and its evaluations.
type Member struct {
	// Objective evaluates the design of a trial, in the task's units. It is called once per trial,
	// and may be called concurrently for different members.
	Objective func(d task.Design, trial uint64) float64

	// Constraints measures the task's constraints at the same design, after Objective. It is
	// required if the task has any.
	Constraints func(d task.Design, trial uint64) map[string]task.Reading

	// Space, if not nil, is the part of the task's space that the member can evaluate, from its
	// Within.
	Space *task.Space

	Evaluations int           // budget; a member that has spent it stays, and its shares are still delivered
	Start       time.Duration // when it joins
	Duration    time.Duration // of an evaluation, more than 0
	Parallel    int           // evaluations at a time; 0 means 1

	// InRounds makes the member ask for Parallel trials at once, and for further ones when all of
	// these have ended. Otherwise it asks for one whenever one has ended.
	InRounds bool

	// Lasts, if not nil, returns the duration of the evaluation of a trial, more than 0, in place
	// of Duration.
	Lasts func(trial uint64) time.Duration

	// Offline lists the times at which the member can neither send nor receive, in order and
	// without overlaps. It continues to evaluate.
	Offline []Span

	// Strategy and Exchanges, if not nil, replace those of the task, for this member only.
	Strategy  strategy.Strategy
	Exchanges []strategy.Exchange

	// Wrap, when not nil, alters an exchange of this member.
	Wrap func(strategy.Exchange) strategy.Exchange

	// Forge, if not nil, replaces the payload of the member's messages, other than its presence, as
	// an adversary does. The result is signed as usual.
	Forge func(kind string, payload []byte) []byte
}

// TaskOf returns the task of a member: with its Space, if it has one.
func (s *Scenario) TaskOf(member int) *task.Task {
	space := s.Members[member].Space
	if space == nil {
		return s.Task
	}
	own := *s.Task
	own.Space = space
	return &own
}

// Span is a span of virtual time.
type Span struct{ From, Until time.Duration }

func (s Span) holds(at time.Duration) bool { return s.From <= at && at < s.Until }

// Network defines the delays and losses of shares and direct messages.
type Network struct {
	Delay  time.Duration // of every delivery
	Jitter time.Duration // largest further delay, uniform
	Loss   float64       // probability that a delivery fails, below 1

	// Resync is the maximum time until a failed delivery of a share is tried again, as nodes do
	// when they catch up with a peer; uniform. 0 means 30 s, otherwise at least 1 ms. Messages that
	// failed because a member was offline are tried when it is online again.
	Resync time.Duration

	// Degree is the number of other members, chosen at random, whose shares a member receives. 0,
	// or more than there are, means all. Scenario.Receives then excludes some of them. Direct
	// messages reach all members that Receives does not exclude.
	Degree int

	// Partitions cut the network into parts: members i and j receive each other's messages only
	// when i and j leave the same remainder on division by Parts.
	Partitions []Partition
}

// Partition is one cut.
type Partition struct {
	Span
	Parts int // at least 2
}

const defaultResync = 30 * time.Second

func (s *Scenario) validate() error {
	if s.Task == nil {
		return errors.New("Scenario.Task is missing")
	}
	if len(s.Members) == 0 {
		return errors.New("Scenario.Members is empty, accepted are 1 and more")
	}
	if s.Workers < 0 {
		return fmt.Errorf("Scenario.Workers is %d, accepted are 0 and more", s.Workers)
	}
	for i, m := range s.Members {
		switch {
		case m.Objective == nil:
			return fmt.Errorf("member %d has no Objective", i)
		case len(s.Task.Constraints) > 0 && m.Constraints == nil:
			return fmt.Errorf("member %d has no Constraints, and the task has", i)
		case m.Evaluations < 0 || m.Parallel < 0 || m.Start < 0:
			return fmt.Errorf("member %d: Evaluations, Parallel and Start must be 0 or more", i)
		case m.Space != nil && !s.TaskOf(i).ID().Equals(s.Task.ID()):
			return fmt.Errorf("member %d: Space is no part of the task's, accepted is what its Within returns", i)
		case m.Duration <= 0:
			return fmt.Errorf("member %d: Duration is %v, accepted is more than 0", i, m.Duration)
		}
		for k, span := range m.Offline {
			if span.Until < span.From || k > 0 && span.From < m.Offline[k-1].Until {
				return fmt.Errorf("member %d is Offline from %v to %v; accepted are spans in order, without overlaps", i, span.From, span.Until)
			}
		}
	}
	return s.Network.validate()
}

func (n *Network) validate() error {
	switch {
	case n.Delay < 0 || n.Jitter < 0 || n.Resync < 0 || n.Degree < 0:
		return errors.New("Network.Delay, Jitter, Resync and Degree must be 0 or more")
	case !(n.Loss >= 0 && n.Loss < 1):
		return fmt.Errorf("Network.Loss is %g, accepted is 0 to below 1", n.Loss)
	}
	if n.Resync > 0 && n.Resync < time.Millisecond {
		return fmt.Errorf("Network.Resync is %v, accepted are 0 for the default, and %v and more", n.Resync, time.Millisecond)
	}
	for _, p := range n.Partitions {
		if p.Parts < 2 {
			return fmt.Errorf("a partition into %d parts, accepted are 2 and more", p.Parts)
		}
	}
	if n.Resync == 0 {
		n.Resync = defaultResync
	}
	return nil
}

// Result is the result of a scenario.
type Result struct {
	Members []MemberResult
	Elapsed time.Duration // virtual, until the last evaluation ended
}

// MemberResult is one member's part.
type MemberResult struct {
	Trials             []strategy.Trial    // in order of ID
	Recommended        map[int]task.Design // by the number of evaluations
	PeerInformedTrials int                 // trials whose design depends on peers' shares
	Shares             int                 // sent, without presence
	Bytes              int64               // of these shares, each counted once for any number of receivers

	Direct      int   // messages to one other, sent
	DirectBytes int64 // of their data, each counted once for any number of attempts
	DirectLost  int   // number of them that were given up before the run ended

	// Computing is the real time of its models and choices. It is the only part of a result that
	// another run does not reproduce.
	Computing time.Duration
}
