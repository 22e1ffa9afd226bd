// Package presence is the exchange by which the agents of a task agree on the set of present
// agents. Each agent publishes its presence every few seconds, with the set of agents that it
// sees. An agent is absent if its presence has expired or it has left. Once no agent joins or
// leaves, all sets become equal and Agreed is true in every [Result].
//
// In a large topic (strategy.View.Large) an agent announces its newest shares by its presence messages.
// These become so rare that their rate does not depend on the number of agents, and contain no set:
// agents then agree on none.
//
// A presence message is an unverified claim by its author. Nothing that needs trust may depend on
// it.
package presence

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Kind names the exchange and its shares.
const Kind = "presence"

// Times of the exchange. An agent counts as absent after three of its presence messages in a row
// were lost.
const (
	Interval = 10 * time.Second
	TTL      = missed * Interval
	missed   = 3

	// After a change an agent waits before it announces the new set: a second, or longer with many
	// agents. Otherwise a hundred agents that join one after the other would cause a hundred
	// announcements by each agent.
	settle        = time.Second
	settleForEach = 50 * time.Millisecond

	// LargeForEach is the pause between presence messages of an agent in a large topic, for each
	// present agent: all agents together send two messages a second.
	LargeForEach = 500 * time.Millisecond
)

const (
	beatTimer   = "beat"
	settleTimer = "settle"
)

// Result is the value of the exchange's Result in View.Results, under the name Kind.
type Result struct {
	Present []peer.ID // sorted, including the agent itself
	Agreed  bool      // all present agents see the same set
}

// Of returns the latest Result in a view. Before the first one, only the agent itself is present.
func Of(view strategy.View) Result {
	if result, ok := strategy.ResultOf[Result](view, Kind); ok {
		return result
	}
	return Result{Present: []peer.ID{view.Self}}
}

// Has reports whether the agent is present.
func (r Result) Has(id peer.ID) bool {
	_, found := slices.BinarySearch(r.Present, id)
	return found
}

// Exchange implements strategy.Exchange. It holds the state of one agent.
type Exchange struct {
	last  Result
	large bool // the latest beat was that of a large topic
}

var _ strategy.Exchange = (*Exchange)(nil)

// New returns the exchange of one agent.
func New() *Exchange { return &Exchange{} }

// Name implements strategy.Exchange.
func (*Exchange) Name() string { return Kind }

// Decode implements strategy.Exchange; the value is a protocol.Presence.
func (*Exchange) Decode(payload []byte) (any, error) {
	return protocol.DecodePresence(payload)
}

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start:
		e.last = see(view)
		return append(e.announce(view, false), strategy.Result{Value: e.last}, strategy.SetTimer{Name: beatTimer, After: Interval})
	case strategy.Received:
		said, _ := in.Share.Value.(protocol.Presence)
		if view.Large && !said.Leaving && e.last.Has(in.Share.Author) {
			return nil // the next beat notices who is absent
		}
		return e.look(view)
	case strategy.Timer:
		outputs := append(e.look(view), e.announce(view, false)...)
		if in.Name == beatTimer {
			outputs = append(outputs, strategy.SetTimer{Name: beatTimer, After: e.pause(view)})
		}
		return outputs
	case strategy.Stop:
		return e.announce(view, true)
	}
	return nil
}

// look updates the Result from the presence messages of the view, and schedules an announcement if
// the set of present agents has changed.
func (e *Exchange) look(view strategy.View) []strategy.Output {
	now := see(view)
	moved := !slices.Equal(now.Present, e.last.Present)
	if !moved && now.Agreed == e.last.Agreed {
		return nil
	}
	e.last = now
	outputs := []strategy.Output{strategy.Result{Value: now}}
	if moved && !view.Large {
		outputs = append(outputs, strategy.SetTimer{Name: settleTimer, After: settling(len(now.Present))})
	}
	return outputs
}

func settling(present int) time.Duration {
	return min(max(settle, time.Duration(present)*settleForEach), Interval)
}

// pause returns the time until the next beat. The first one in a large topic comes at a time that
// depends on the agent's ID, so that agents which found the topic large together send at different times.
func (e *Exchange) pause(view strategy.View) time.Duration {
	first := view.Large && !e.large
	if e.large = view.Large; first {
		return FirstPause(view.Self, len(e.last.Present))
	}
	return Pause(view.Large, len(e.last.Present))
}

// Pause returns the time between the beats of an agent that sees this many present agents, itself included.
func Pause(large bool, present int) time.Duration {
	if !large {
		return Interval
	}
	return max(Interval, time.Duration(present)*LargeForEach)
}

// FirstPause returns the time between the last beat in a small topic and the first in a large one.
func FirstPause(self peer.ID, present int) time.Duration {
	sum := sha256.Sum256([]byte(self))
	part := float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
	return max(Interval, time.Duration(part*float64(Pause(true, present))))
}

// Lifetime returns the time to live of the presence messages of an agent.
func Lifetime(large bool, present int) time.Duration {
	return missed * Pause(large, present).Truncate(time.Second)
}

func (e *Exchange) announce(view strategy.View, leaving bool) []strategy.Output {
	said := protocol.Presence{Members: protocol.MembersOf(e.last.Present), Leaving: leaving}
	if view.Large {
		said.Members = protocol.Members{Count: len(e.last.Present)}
		said.Newest = newest(view.Own)
	}
	payload, err := said.Encode()
	if err != nil {
		return nil // cannot happen: kinds are valid UTF-8, and protobuf rejects nothing else
	}
	return []strategy.Output{strategy.Publish{Payload: payload, TTL: Lifetime(view.Large, len(e.last.Present)), Ephemeral: true}}
}

// newest returns the announcements of an agent's shares, the newest ones if there are too many.
func newest(own []protocol.Share) (list []protocol.Announcement) {
	for _, share := range own {
		list = append(list, protocol.AnnouncementOf(share))
	}
	slices.SortFunc(list, func(a, b protocol.Announcement) int { return b.Stamp.Compare(a.Stamp) })
	return list[:min(len(list), protocol.MaxAnnouncements)]
}

// Others returns the agents that are present by their own messages. It is for an agent that does
// not take part in the task itself, such as a keeper.
func Others(view strategy.View) Result { return read(view, nil) }

// see returns the present agents by the valid shares of a view, and the agent itself.
func see(view strategy.View) Result { return read(view, []peer.ID{view.Self}) }

// read returns the given agents and the authors of presence messages, unless these have announced
// that they leave.
func read(view strategy.View, present []peer.ID) Result {
	result := Result{Present: present, Agreed: true}
	var words []protocol.Presence
	for share, word := range strategy.Shares[protocol.Presence](view) {
		if !word.Leaving {
			words = append(words, word)
			result.Present = append(result.Present, share.Author)
		}
	}
	slices.Sort(result.Present)
	if view.Large {
		result.Agreed = false
		return result
	}
	own := protocol.MembersOf(result.Present)
	for _, word := range words {
		result.Agreed = result.Agreed && word.Members == own
	}
	return result
}
