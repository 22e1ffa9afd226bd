package presence

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// world simulates agents that hear all of what is said, unless it is lost.
type world struct {
	t      testing.TB
	now    time.Time
	agents map[peer.ID]*member
	lose   func(from, to peer.ID) bool
	words  int // that were published
}

type member struct {
	id       peer.ID
	exchange *Exchange
	received map[peer.ID]word
	timers   map[string]time.Time
	result   Result
}

type word struct {
	value   protocol.Presence
	expires time.Time
}

func newWorld(t testing.TB, n int) *world {
	w := &world{t: t, now: time.Unix(0, 0), agents: map[peer.ID]*member{}, lose: func(_, _ peer.ID) bool { return false }}
	for i := range n {
		w.join(name(i))
	}
	return w
}

func name(i int) peer.ID { return peer.ID(fmt.Sprintf("agent %02d", i)) }

func (w *world) join(id peer.ID) {
	m := &member{id: id, exchange: New(), received: map[peer.ID]word{}, timers: map[string]time.Time{}}
	w.agents[id] = m
	w.step(m, strategy.Start{})
}

// ids keeps the simulation in one order.
func (w *world) ids() []peer.ID {
	var ids []peer.ID
	for id := range w.agents {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) view(m *member) strategy.View {
	v := strategy.View{Self: m.id}
	var authors []peer.ID
	for id, received := range m.received {
		if received.expires.After(w.now) {
			authors = append(authors, id)
		}
	}
	slices.Sort(authors)
	for _, id := range authors {
		v.Shares = append(v.Shares, &strategy.Share{
			Share: protocol.Share{Key: protocol.Key{Author: id, Kind: Kind}}, Value: m.received[id].value,
		})
	}
	return v
}

func (w *world) step(m *member, in strategy.Input) {
	w.t.Helper()
	for _, output := range m.exchange.Step(w.view(m), in) {
		switch output := output.(type) {
		case strategy.Result:
			m.result = output.Value.(Result)
		case strategy.SetTimer:
			m.timers[output.Name] = w.now.Add(output.After)
		case strategy.Publish:
			w.words++
			if !output.Ephemeral || output.TTL != TTL || output.Slot != 0 {
				w.t.Errorf("published %+v", output)
			}
			value, err := m.exchange.Decode(output.Payload)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, id := range w.ids() {
				if other := w.agents[id]; id != m.id && !w.lose(m.id, id) {
					other.received[m.id] = word{value.(protocol.Presence), w.now.Add(output.TTL)}
					w.step(other, strategy.Received{})
				}
			}
		default:
			w.t.Errorf("unexpected output %T", output)
		}
	}
}

func (w *world) pass(span time.Duration) {
	end := w.now.Add(span)
	for {
		var first *member
		var timer string
		for _, id := range w.ids() {
			for name, at := range w.agents[id].timers {
				if first == nil || at.Before(first.timers[timer]) || at.Equal(first.timers[timer]) && first == w.agents[id] && name < timer {
					first, timer = w.agents[id], name
				}
			}
		}
		if first == nil || first.timers[timer].After(end) {
			w.now = end
			return
		}
		w.now = first.timers[timer]
		delete(first.timers, timer)
		w.step(first, strategy.Timer{Name: timer})
	}
}

func (w *world) expect(when string, present []peer.ID, agreed bool) {
	w.t.Helper()
	for _, id := range w.ids() {
		r := w.agents[id].result
		if !slices.Equal(r.Present, present) || r.Agreed != agreed {
			w.t.Errorf("%s: %s sees %v, agreed %v; want %v, agreed %v", when, id, r.Present, r.Agreed, present, agreed)
		}
	}
}

func TestOneAgentAgreesWithItself(t *testing.T) {
	w := newWorld(t, 1)
	w.expect("alone", []peer.ID{name(0)}, true)
	w.pass(time.Hour)
	w.expect("an hour later", []peer.ID{name(0)}, true)
}

func TestAgentsAgreeSoonAfterTheLastOneCame(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		w := newWorld(t, n)
		w.pass(Interval + 2*settle)
		w.expect(fmt.Sprintf("%d agents", n), w.ids(), true)

		w.join(name(n))
		for _, id := range w.ids() {
			if w.agents[id].result.Agreed && len(w.agents[id].result.Present) > n {
				t.Errorf("%s says that all agree before it can know", id)
			}
		}
		w.pass(Interval + 2*settle)
		w.expect("after one more", w.ids(), true)
	}
}

func TestGoodbyeCountsAtOnce(t *testing.T) {
	w := newWorld(t, 3)
	w.pass(Interval)
	w.step(w.agents[name(1)], strategy.Stop{})
	delete(w.agents, name(1))
	for _, id := range w.ids() {
		if Of(strategy.View{Results: map[string]any{Kind: w.agents[id].result}}).Has(name(1)) {
			t.Errorf("%s still sees the agent that left", id)
		}
	}
	w.pass(2 * settle)
	w.expect("after the goodbye", w.ids(), true)

	w.join(name(1))
	w.pass(Interval + 2*settle)
	w.expect("after the return", []peer.ID{name(0), name(1), name(2)}, true)
}

func TestSilenceEndsPresence(t *testing.T) {
	w := newWorld(t, 3)
	w.pass(Interval)
	everybody := w.ids()
	delete(w.agents, name(2)) // without a word, right after one
	w.pass(TTL - Interval - time.Second)
	w.expect("while its last word counts", everybody, true)
	w.pass(2*Interval + 2*settle + time.Second)
	w.expect("afterwards", w.ids(), true)
}

// Two lost words in a row do not make an agent absent.
func TestSomeLossIsBorne(t *testing.T) {
	w := newWorld(t, 2)
	w.pass(Interval + time.Second)
	w.lose = func(from, _ peer.ID) bool { return from == name(0) }
	w.pass(2*Interval - 2*time.Second)
	w.lose = func(_, _ peer.ID) bool { return false }
	w.pass(Interval)
	w.expect("after two lost words", w.ids(), true)
}

// One agent hears nobody: it sees itself alone, and the others, who hear it,
// know that not all agree.
func TestADeafAgentPreventsAgreement(t *testing.T) {
	w := newWorld(t, 3)
	w.pass(Interval + 2*settle)
	w.lose = func(_, to peer.ID) bool { return to == name(2) }
	w.pass(TTL + 2*Interval)
	if r := w.agents[name(2)].result; len(r.Present) != 1 {
		t.Errorf("the deaf agent sees %v", r.Present)
	}
	for _, id := range []peer.ID{name(0), name(1)} {
		if r := w.agents[id].result; len(r.Present) != 3 || r.Agreed {
			t.Errorf("%s sees %v, agreed %v", id, r.Present, r.Agreed)
		}
	}
	w.lose = func(_, _ peer.ID) bool { return false }
	w.pass(2*Interval + 2*settle)
	w.expect("when it hears again", w.ids(), true)
}

// After any coming, going and loss, quiet brings agreement on who is there.
// Whoever says Agreed has heard from everyone present that it sees this set.
func TestQuietBringsAgreement(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, 1)
		for range rapid.IntRange(1, 15).Draw(rt, "events") {
			id := name(rapid.IntRange(0, 5).Draw(rt, "agent"))
			m, there := w.agents[id]
			switch {
			case !there:
				w.join(id)
			case len(w.agents) == 1:
			case rapid.Bool().Draw(rt, "goodbye"):
				w.step(m, strategy.Stop{})
				delete(w.agents, id)
			default:
				delete(w.agents, id)
			}
			lost := name(rapid.IntRange(0, 8).Draw(rt, "loser"))
			w.lose = func(from, to peer.ID) bool { return from == lost || to == lost }
			w.pass(time.Duration(rapid.IntRange(0, 15000).Draw(rt, "ms")) * time.Millisecond)
			for _, id := range w.ids() {
				m := w.agents[id]
				own := protocol.MembersOf(m.result.Present)
				for _, other := range m.result.Present {
					if m.result.Agreed && other != id && m.received[other].value.Members != own {
						rt.Fatalf("%s says that all agree, %s said something else", id, other)
					}
				}
			}
		}
		w.lose = func(_, _ peer.ID) bool { return false }
		w.pass(TTL + 2*Interval)
		for _, id := range w.ids() {
			if r := w.agents[id].result; !slices.Equal(r.Present, w.ids()) || !r.Agreed {
				rt.Fatalf("%s sees %v, agreed %v; there are %v", id, r.Present, r.Agreed, w.ids())
			}
		}
	})
}

// A word in ten seconds is what a settled agent costs.
func TestWordsAreFew(t *testing.T) {
	w := newWorld(t, 10)
	w.pass(Interval)
	before := w.words
	w.pass(100 * Interval)
	if said := w.words - before; said != 1000 {
		t.Errorf("ten agents said %d words in a hundred intervals", said)
	}
	w = newWorld(t, 40) // all at once
	w.pass(Interval - 1)
	if w.words > 4*40 {
		t.Errorf("forty agents that start together say %d words within %v", w.words, Interval)
	}
}

func TestBeforeThereIsAResultAnAgentIsAlone(t *testing.T) {
	r := Of(strategy.View{Self: "me"})
	if !r.Has("me") || r.Has("you") || len(r.Present) != 1 {
		t.Errorf("%+v", r)
	}
}
