package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Scenario defines one simulation.
type Scenario struct {
	Task    *task.Task
	Members []Member // at least 1
	Network Network
	Seed    random.Seed // seed of the members' decisions and of the network

	// Strategies must contain the task's strategy. Nil means all.Strategies().
	Strategies strategy.Set

	// Model is the surrogate of Task, which all members share. Nil means a new one.
	Model surrogate.Model

	// Receives, if not nil, reports whether the member hearer can receive shares of the member
	// author.
	Receives func(hearer, author int) bool

	// Workers is the maximum number of members that compute at the same time; 0 means GOMAXPROCS.
	// Only computations at the same virtual time run in parallel.
	Workers int

	// Recommend lists numbers of evaluations after which each member recommends a design. If the
	// list is not empty, each member also recommends one at the end of its budget. If several
	// evaluations end at the same time, the member recommends once its model includes at least that
	// number.
	Recommend []int

	// Watch, if not nil, gets a member's view whenever its model includes a new outcome. It is
	// never called concurrently or while a member computes.
	Watch func(member int, view strategy.View)

	// Warned, if not nil, gets the warnings of members' agents. If it is nil, a warning ends the
	// run with an error; a panic always does. It is never called concurrently.
	Warned func(member int, message string)
}

// Member is one agent with its evaluations.
type Member struct {
	// Objective evaluates the design of a trial, in the task's units. It is called once per trial,
	// and may be called concurrently for different members.
	Objective func(d task.Design, trial uint64) float64

	// Curve, if not nil, returns the values of the evaluation by step, at least one. They are reported
	// at equal intervals of its duration, the last one together with the outcome. An evaluation that
	// is to stop ends at once.
	Curve func(d task.Design) []curves.Step

	// Steps, with Curve, is the number of values of a full evaluation. The budget is then Evaluations
	// times Steps values, whatever the number of trials. The trial that uses up the budget runs to its
	// end.
	Steps int

	// Metrics returns the metrics of the outcome at the same design, such as the further objectives of a
	// task with several. It is called after Objective. Nil means that there are none.
	Metrics func(d task.Design, trial uint64) map[string]float64

	// Constraints measures the task's constraints at the same design. It is called after Objective,
	// and required if the task has constraints.
	Constraints func(d task.Design, trial uint64) map[string]task.Reading

	// Space, if not nil, restricts the member to some designs of the task's space. It must come
	// from the Within of that space.
	Space *task.Space

	// Enqueue has the first designs that the member evaluates, in place of starting designs.
	Enqueue []task.Design

	// Past and Former are what the member carries over from a former task when it joins: its own
	// evaluations and peers' shares.
	Past   []agent.Past
	Former []agent.FormerShare

	Evaluations int           // budget; a member that has used it remains, and its shares are still delivered
	Start       time.Duration // time at which it joins
	Duration    time.Duration // duration of an evaluation, more than 0
	Parallel    int           // number of evaluations at the same time; 0 means 1

	// InRounds makes the member ask for Parallel trials at once, and for further ones only when all
	// of these have ended. Otherwise it asks for one trial whenever one has ended.
	InRounds bool

	// Lasts, if not nil, replaces Duration: it returns the duration of the evaluation of a trial,
	// more than 0.
	Lasts func(trial uint64) time.Duration

	// Offline lists the times at which the member can neither send nor receive, in order and
	// without overlaps. The member continues to evaluate.
	Offline []Span

	// Strategy and Exchanges, if not nil, replace those of the task, for this member only.
	Strategy  strategy.Strategy
	Exchanges []strategy.Exchange

	// Wrap, if not nil, returns a replacement for an exchange of this member.
	Wrap func(strategy.Exchange) strategy.Exchange

	// Forge, if not nil, replaces the payloads of the member's messages, as an adversary does,
	// except those of presence. The result is signed as usual.
	Forge func(kind string, payload []byte) []byte
}

// TaskOf returns the task of a member. It has the member's Space, if that is set.
func (s *Scenario) TaskOf(member int) *task.Task {
	space := s.Members[member].Space
	if space == nil {
		return s.Task
	}
	own := *s.Task
	own.Space = space
	return &own
}

// Span is an interval of virtual time, without its end.
type Span struct{ From, Until time.Duration }

func (s Span) holds(at time.Duration) bool { return s.From <= at && at < s.Until }

// Network defines the delays and losses of shares and direct messages.
type Network struct {
	Delay  time.Duration // delay of every delivery
	Jitter time.Duration // maximum additional delay; the actual one is uniform
	Loss   float64       // probability that a delivery fails, less than 1

	// Resync is the maximum time until a failed delivery of a share is repeated; the actual one is
	// uniform. It represents sync requests. 0 means 30 s; otherwise it is at least 1 ms. Deliveries
	// that failed because a member was offline are repeated when it is online again.
	Resync time.Duration

	// Degree is the number of other members, chosen at random, whose shares a member receives. 0,
	// or a number that is too large, means all. Scenario.Receives may exclude some of the chosen
	// ones. Direct messages reach all members that Receives does not exclude.
	Degree int

	// Authors, if it is not 0, makes the topic large as soon as half of the members, or more than 128, are
	// present: members announce their shares, and each fetches those of at most this many authors (agent.LargeTopic).
	// 0 means that all shares are gossiped, whatever the number of members.
	Authors int `json:",omitempty"`

	// Partitions cut the network into parts. Members i and j can exchange messages only if i and j
	// leave the same remainder on division by Parts.
	Partitions []Partition
}

// Partition is one cut of the network, for the time of its Span.
type Partition struct {
	Span
	Parts int // number of parts, at least 2
}

const defaultResync = 30 * time.Second

func (s *Scenario) validate() error {
	if s.Task == nil {
		return errors.New("Scenario.Task is missing")
	}
	if len(s.Members) == 0 {
		return errors.New("Scenario.Members is empty, expected 1 or more")
	}
	if s.Workers < 0 {
		return fmt.Errorf("Scenario.Workers is %d, expected 0 or more", s.Workers)
	}
	for i, m := range s.Members {
		switch {
		case (m.Curve == nil) != (m.Steps == 0) || m.Steps < 0:
			return fmt.Errorf("member %d: Curve and Steps %d; expected both or neither", i, m.Steps)
		case m.Objective == nil:
			return fmt.Errorf("member %d has no Objective", i)
		case s.Task.Several() && m.Metrics == nil:
			return fmt.Errorf("member %d has no Metrics, and the task has several objectives", i)
		case len(s.Task.Constraints) > 0 && m.Constraints == nil:
			return fmt.Errorf("member %d has no Constraints, and the task has", i)
		case m.Evaluations < 0 || m.Parallel < 0 || m.Start < 0:
			return fmt.Errorf("member %d: Evaluations, Parallel and Start must be 0 or more", i)
		case m.Space != nil && !s.TaskOf(i).ID().Equals(s.Task.ID()):
			return fmt.Errorf("member %d: Space is no part of the task's, expected what its Within returns", i)
		case m.Duration <= 0:
			return fmt.Errorf("member %d: Duration is %v, expected more than 0", i, m.Duration)
		}
		for k, span := range m.Offline {
			if span.Until < span.From || k > 0 && span.From < m.Offline[k-1].Until {
				return fmt.Errorf("member %d is Offline from %v to %v; expected spans in order, without overlaps", i, span.From, span.Until)
			}
		}
	}
	return s.Network.validate()
}

func (n *Network) validate() error {
	switch {
	case n.Delay < 0 || n.Jitter < 0 || n.Resync < 0 || n.Degree < 0 || n.Authors < 0:
		return errors.New("Network.Delay, Jitter, Resync, Degree and Authors must be 0 or more")
	case !(n.Loss >= 0 && n.Loss < 1):
		return fmt.Errorf("Network.Loss is %g, expected 0 to below 1", n.Loss)
	}
	if n.Resync > 0 && n.Resync < time.Millisecond {
		return fmt.Errorf("Network.Resync is %v, expected 0 for the default, and %v and more", n.Resync, time.Millisecond)
	}
	for _, p := range n.Partitions {
		if p.Parts < 2 {
			return fmt.Errorf("a partition into %d parts, expected 2 or more", p.Parts)
		}
	}
	if n.Resync == 0 {
		n.Resync = defaultResync
	}
	return nil
}

// Result is the result of a simulation.
type Result struct {
	Members []MemberResult
	Elapsed time.Duration // virtual time until the last evaluation ended
}

// MemberResult is the result of one member.
type MemberResult struct {
	Trials             []strategy.Trial    // sorted by ID
	Recommended        map[int]task.Design // recommended designs, by number of evaluations
	PeerInformedTrials int                 // number of trials whose designs depend on peers' shares
	Shares             int                 // number of shares sent, without presence
	Bytes              int64               // bytes of these shares; each counts once, whatever the number of receivers

	Direct      int   // number of direct messages sent
	DirectBytes int64 // bytes of their data; each counts once, whatever the number of attempts
	DirectLost  int   // number of direct messages that were given up before the run ended

	// Gossiped is the number of messages that arrived at the member by gossip, presence included, and
	// GossipedBytes their size. Each counts once, although gossip delivers copies. FetchedBytes is the
	// size of the member's requests for announced shares, and of the responses.
	Gossiped      int
	GossipedBytes int64
	FetchedBytes  int64

	// Computing is the real time of the member's models and choices. It is the only part of the
	// result that differs between runs.
	Computing time.Duration
}
