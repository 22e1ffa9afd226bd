package ftsde

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// world connects the exchanges of a roster, with signatures. Messages arrive in the order in which
// they were sent; members crash when their fuses end.
type world struct {
	t       testing.TB
	task    *task.Task
	keys    []crypto.PrivKey
	members []*member // in order of the roster
	queue   strategytest.Queue
	tamper  func(i int, sum summer) summer
}

// member is an exchange with the data that survives its crashes.
type member struct {
	index    int
	id       peer.ID
	exchange *Exchange
	alive    bool
	runs     int
	view     strategy.View
	result   Result
	warnings []string

	journal [][]byte
	steps   []int             // how long the journal was after each step
	fuse    strategytest.Fuse // outputs until the next crash
	torn    bool              // a crash may come between two records of one step

	// Stored by the others:
	published []protocol.Contribution
	receipt   *protocol.Receipt // the latest
	dealt     strategytest.Deals
}

// newWorld boots all but those absent.
func newWorld(t testing.TB, definition *task.Task, absent ...int) *world {
	t.Helper()
	w := &world{t: t, task: definition, keys: fbotest.RosterKeys(t, len(definition.Privacy.Aggregate.Roster))}
	w.tamper = func(_ int, sum summer) summer { return sum }
	for i, id := range definition.Privacy.Aggregate.Roster {
		w.members = append(w.members, &member{
			index: i, id: id, fuse: -1, dealt: strategytest.Deals{},
			view: strategy.View{Task: definition, Self: id},
		})
	}
	for i := range w.members {
		if !slices.Contains(absent, i) {
			w.boot(i)
		}
	}
	return w
}

// boot starts a member, anew or from its journal, and lets it and the others exchange what they
// store.
func (w *world) boot(i int) {
	w.t.Helper()
	m := w.members[i]
	m.runs++
	exchange, err := NewExchange(w.task, w.keys[i], entropy(byte(i), byte(m.runs)))
	if err != nil {
		w.t.Fatal(err)
	}
	exchange.sum = w.tamper(i, exchange.sum)
	m.exchange, m.alive, m.result, m.steps = exchange, true, Result{}, nil
	w.meet()
	for _, data := range m.journal {
		w.step(i, strategy.Replayed{Data: data})
	}
	w.step(i, strategy.Start{})
	for j, other := range w.members {
		if j == i || !other.alive {
			continue
		}
		if n := len(m.published); n > 0 {
			w.step(i, strategy.Echo{Share: strategy.Share{Value: m.published[n-1]}})
		}
		for _, k := range []int{i, j} {
			if r := w.members[k].receipt; r != nil {
				w.step(k, strategy.Echo{Share: strategy.Share{Value: *r}})
			}
		}
		w.step(i, strategy.CaughtUp{Peer: other.id})
		w.step(j, strategy.CaughtUp{Peer: m.id})
	}
	w.queue.Drain()
}

// meet sets which members are present in all views.
func (w *world) meet() {
	var present []peer.ID
	for _, m := range w.members {
		if m.alive {
			present = append(present, m.id)
		}
	}
	for _, m := range w.members {
		m.view.Results = map[string]any{presence.Kind: presence.Result{Present: present}}
	}
}

func (w *world) crash(i int) {
	w.members[i].alive, w.members[i].fuse = false, -1
	w.meet()
}

func (w *world) step(i int, in strategy.Input) {
	if m := w.members[i]; m.alive {
		w.carry(m, m.exchange.Step(m.view, in))
	}
}

// carry carries out outputs, records first, until the fuse ends.
func (w *world) carry(m *member, outputs []strategy.Output) {
	for i, record := range strategytest.Records(outputs) {
		if m.fuse.Burnt() && (m.torn || i == 0) {
			w.crash(m.index)
			return
		}
		m.journal = append(m.journal, record)
	}
	m.steps = append(m.steps, len(m.journal))
	for _, output := range outputs {
		if _, ok := output.(strategy.Record); !ok && m.fuse.Burnt() {
			w.crash(m.index)
			return
		}
		w.effect(m, output)
	}
}

func (w *world) effect(m *member, output strategy.Output) {
	switch output := output.(type) {
	case strategy.Send:
		m.dealt.Add(w.t, m.index, output.To, output.Data)
		w.queue.Add(func() {
			w.step(w.indexOf(output.To), strategy.Direct{From: m.id, Data: output.Data})
		})
	case strategy.Publish:
		value, err := m.exchange.Decode(output.Payload)
		if err != nil {
			w.t.Fatal(err)
		}
		m.published = append(m.published, value.(protocol.Contribution))
	case strategy.Receipt:
		r, err := protocol.DecodeReceipt(output.Payload, w.task.Privacy.Releases)
		if err != nil {
			w.t.Fatal(err)
		}
		m.receipt = &r
	case strategy.Work:
		run := m.runs
		w.queue.Add(func() {
			if result, err := output.Run(context.Background(), m.view, random.SeedOf(uint64(m.index))); run == m.runs {
				w.step(m.index, strategy.WorkDone{Name: output.Name, Result: result, Err: err})
			}
		})
	case strategy.Warn:
		m.warnings = append(m.warnings, output.Message)
	case strategy.Result:
		m.result = output.Value.(Result)
	}
}

// seen returns the rounds to which the member has contributed according to its messages.
func (m *member) seen() map[uint64]bool {
	rounds := map[uint64]bool{}
	for d := range m.dealt {
		rounds[d.Round] = true
	}
	for _, c := range m.published {
		rounds[uint64(c.Round)] = true
	}
	return rounds
}

// spent returns the budget that the journal counts.
func (m *member) spent(t *task.Task) ledger.State {
	var debits [][]byte
	for _, record := range m.journal {
		if debit := Debit(record); debit != nil {
			debits = append(debits, debit)
		}
	}
	return ledger.ReadState(t, debits)
}

func (w *world) indexOf(id peer.ID) int {
	return slices.IndexFunc(w.members, func(m *member) bool { return m.id == id })
}

// tick lets time pass.
func (w *world) tick(times int) {
	for range times {
		for i := range w.members {
			w.step(i, strategy.Timer{Name: "tick"})
		}
		w.queue.Drain()
	}
}

// observe lets members evaluate once each.
func (w *world) observe(members ...int) {
	for _, i := range members {
		w.members[i].view.Observations++
		w.step(i, strategy.TrialsEnded{})
		w.queue.Drain()
	}
}

func (w *world) all() []int {
	var indices []int
	for i := range w.members {
		indices = append(indices, i)
	}
	return indices
}

// play lets all members evaluate until a round is due, and the round end.
func (w *world) play(rounds int) {
	initial, every := w.task.Strategy.InitialDesigns, settingsOf(w.task).ShareEvery
	for round := range rounds {
		times := every
		if round == 0 {
			times = initial
		}
		for range times {
			w.observe(w.all()...)
		}
		w.tick(longest)
	}
}

// longest is more ticks than a round takes with the committees of these tests.
const longest = 40

func (m *member) describe() string {
	return fmt.Sprintf("state %+v, %d failed, %s, published %v, warnings %q", m.result.State, m.result.Failed, m.result.Reason, m.published, m.warnings)
}
