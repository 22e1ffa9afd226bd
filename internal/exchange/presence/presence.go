// Package presence is the exchange by which the agents of a task agree on the set of present
// agents. Each agent publishes its presence every few seconds, with the set of agents that it
// sees. An agent is absent if its presence has expired or it has left. Once no agent joins or
// leaves, all sets become equal and Agreed is true in every [Result].
//
// Presence is a claim by its author and nothing to build trust on.
package presence

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Kind names the exchange and its shares.
const Kind = "presence"

// Times of the exchange. An agent is absent if three of its presence messages in a row were lost.
const (
	Interval = 10 * time.Second
	TTL      = 3 * Interval

	// Delay between a change and the announcement of the new set: a second, or longer with many
	// agents. Otherwise a hundred agents that join one after the other would cause a hundred
	// announcements by each.
	settle        = time.Second
	settleForEach = 50 * time.Millisecond
)

const (
	beatTimer   = "beat"
	settleTimer = "settle"
)

// Result is the value that the view has under Kind.
type Result struct {
	Present []peer.ID // sorted, including the agent itself
	Agreed  bool      // all present agents see the same set
}

// Of returns the latest result in a view; before the first, only the agent itself is present.
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

// Exchange is the state machine.
type Exchange struct {
	last Result
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
		return append(e.announce(false), strategy.Result{Value: e.last}, strategy.SetTimer{Name: beatTimer, After: Interval})
	case strategy.Received:
		return e.look(view)
	case strategy.Timer:
		outputs := append(e.look(view), e.announce(false)...)
		if in.Name == beatTimer {
			outputs = append(outputs, strategy.SetTimer{Name: beatTimer, After: Interval})
		}
		return outputs
	case strategy.Stop:
		return e.announce(true)
	}
	return nil
}

// look compares the presence messages of the view with the last result.
func (e *Exchange) look(view strategy.View) []strategy.Output {
	now := see(view)
	moved := !slices.Equal(now.Present, e.last.Present)
	if !moved && now.Agreed == e.last.Agreed {
		return nil
	}
	e.last = now
	outputs := []strategy.Output{strategy.Result{Value: now}}
	if moved {
		outputs = append(outputs, strategy.SetTimer{Name: settleTimer, After: settling(len(now.Present))})
	}
	return outputs
}

func settling(present int) time.Duration {
	return min(max(settle, time.Duration(present)*settleForEach), Interval)
}

func (e *Exchange) announce(leaving bool) []strategy.Output {
	payload, err := protocol.Presence{Members: protocol.MembersOf(e.last.Present), Leaving: leaving}.Encode()
	if err != nil {
		return nil // protobuf refuses only invalid UTF-8, and there is no text in it
	}
	return []strategy.Output{strategy.Publish{Payload: payload, TTL: TTL, Ephemeral: true}}
}

// Others returns the agents that are present by their own messages, for an agent that does not take
// part in the task itself.
func Others(view strategy.View) Result { return read(view, nil) }

// see returns the present agents according to the valid shares of a view.
func see(view strategy.View) Result { return read(view, []peer.ID{view.Self}) }

// read adds the authors of presence messages to the agents that are present in any case.
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
	own := protocol.MembersOf(result.Present)
	for _, word := range words {
		result.Agreed = result.Agreed && word.Members == own
	}
	return result
}
