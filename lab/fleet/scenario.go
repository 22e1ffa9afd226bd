package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/random"
)

// Scenario defines one simulation.
type Scenario struct {
	Agents     int
	Seed       random.Seed
	Starts     time.Duration // agents start evenly within this time
	From, Till time.Duration // time in which traffic and delivery are measured; the run ends at Till
	ShareEvery time.Duration // time between shares of an agent

	// Working lets the agents of the beginning make their first share at a random time within ShareEvery. Otherwise it
	// takes as long as the others.
	Working bool

	// Newcomers enter evenly in the measured time, beside those that replace others.
	Newcomers int

	Churn   float64 // part of the agents that leave without notice in an hour; each is replaced
	Hostile float64 // part of the agents that are hostile: a third serves nothing, a third garbage, a third floods and serves nothing
	NoFlood bool    // agents that would flood serve nothing only
	Split   Span    // the time of a partition into two halves

	Message Sizes
}

// Span is an interval of virtual time, without its end.
type Span struct{ From, Until time.Duration }

func (s Span) holds(at time.Duration) bool { return s.From <= at && at < s.Until }

// Result has means over the honest agents in the measured time.
type Result struct {
	Agents  int // at the end, hostile ones included
	Known   float64
	Present float64

	// Chosen is the number of chosen authors. HostileKnown and HostileChosen are parts of the known and chosen ones.
	Chosen                      float64
	HostileKnown, HostileChosen float64

	// Delivered is the part of the chosen honest authors that run whose share the agent has that they announced to it a
	// minute ago or earlier. Any is the part of which it has some share, and Age the mean age of these in seconds.
	Delivered, Any, Age float64

	// Reach is the part of the agents that accept a presence message of an honest author.
	Reach float64

	// Per agent and minute: messages by gossip and their bytes, each once; bytes of all copies; fetches that
	// the agent began, those without a share, and bytes of fetches; bytes of comparisons without peer records.
	Messages, Gossip, Copies, Fetches, Failed, Fetched, Compared float64

	// NewcomerBytes is the size of the answers to a newcomer's first requests.
	NewcomerBytes float64

	// First has the times from the start of honest newcomers to their first share of an honest author, sorted.
	// Without counts newcomers that got none in at least a minute.
	First   []time.Duration
	Without int

	Sent     int64 // presence messages of all agents in the whole run, without those of floods
	Accepted int64 // how often an agent accepted one of them
	Evicted  int64 // authors that lost their places, in the whole run
}

// Quantile returns the time within which this part of the newcomers got a share; negative if they did not.
func (r Result) Quantile(part float64) time.Duration {
	i := int(part * float64(len(r.First)+r.Without))
	if i >= len(r.First) {
		return -1
	}
	return r.First[i]
}

func (r Result) String() string {
	return fmt.Sprintf("%d agents: known %.0f (hostile %.3f), present %.0f, chosen %.1f (hostile %.3f); delivered %.3f, any %.3f, age %.0f s, reach %.3f; "+
		"per agent and minute %.1f messages, %.0f B gossip, %.0f B with copies, %.1f fetches (%.1f failed), %.0f B fetched, %.0f B compared; "+
		"newcomer %.0f B, first share after %v (median), %v (95 %%), %d of %d without; %d evicted",
		r.Agents, r.Known, r.HostileKnown, r.Present, r.Chosen, r.HostileChosen, r.Delivered, r.Any, r.Age, r.Reach,
		r.Messages, r.Gossip, r.Copies, r.Fetches, r.Failed, r.Fetched, r.Compared,
		r.NewcomerBytes, r.Quantile(0.5).Round(time.Millisecond), r.Quantile(0.95).Round(time.Millisecond), r.Without, len(r.First)+r.Without, r.Evicted)
}

func (s *Scenario) validate() error {
	switch {
	case s.Agents < 2:
		return fmt.Errorf("Scenario.Agents is %d, expected 2 or more", s.Agents)
	case s.From < 0 || s.Till <= s.From || s.Starts < 0 || s.ShareEvery <= 0:
		return fmt.Errorf("Scenario has times %v, %v, %v and %v, expected From before Till and ShareEvery above 0", s.From, s.Till, s.Starts, s.ShareEvery)
	case !(s.Hostile >= 0 && s.Hostile < 1) || !(s.Churn >= 0) || s.Newcomers < 0:
		return fmt.Errorf("Scenario has %g hostile, churn %g and %d newcomers, expected 0 or more and fewer than all hostile", s.Hostile, s.Churn, s.Newcomers)
	case s.Message.Presence == 0:
		return errors.New("Scenario.Message is empty, expected what SizesOf returns")
	}
	return nil
}
