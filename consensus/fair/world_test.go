package fair

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// keysOf returns the keys of so many parties, always the same, in order of their IDs.
func keysOf(n int) []crypto.PrivKey {
	var keys []crypto.PrivKey
	for i := range n {
		key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(random.SeedOf(uint64(i))))
		if err != nil {
			panic(err)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b crypto.PrivKey) int { return strings.Compare(string(idOf(a)), string(idOf(b))) })
	return keys
}

func idOf(key crypto.PrivKey) peer.ID {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		panic(err)
	}
	return id
}

// noMediator is a task's mediator where there is none.
const noMediator = -1

// newTask has so many parties, of whom one may be the mediator.
func newTask(t testing.TB, n, mediator int, keys string) *task.Task {
	t.Helper()
	var names []string
	all := keysOf(n)
	for _, key := range all {
		names = append(names, idOf(key).String())
	}
	if mediator >= 0 {
		keys = ", mediator: " + names[mediator] + keys
	}
	return strategytest.Task(t, strategy.Set{Register()}, `
name: fair
goal: maximize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1}
surrogate: {features: 32}
strategy: {type: fair, initial_designs: 2, round_timeout: 100, roster: [%s]%s}`, strings.Join(names, ", "), keys)
}

// hill is what all parties evaluate.
func hill(d task.Design) float64 {
	x, y := d.Values()[0].Float(), d.Values()[1].Float()
	return 10 - 20*((x-0.3)*(x-0.3)+(y-0.6)*(y-0.6))
}

// world drives the exchanges and strategies of several parties in virtual time, over a
// network that delays and loses.
type world struct {
	t       rapid.TB
	task    *task.Task
	keys    []crypto.PrivKey
	rng     *rand.Rand
	now     time.Duration
	members []*member
	events  []event
	loss    float64
	cut     func(from, to int) bool // nil: nobody is cut off
	bytes   int                     // of all direct messages
	sent    int
}

type event struct {
	at time.Duration
	do func()
}

// member is a party with what survives its crashes: journal and trials.
type member struct {
	index    int
	id       peer.ID
	exchange *Exchange
	strategy Strategy
	alive    bool
	run      int
	budget   int
	duration time.Duration
	report   func(d task.Design, value float64) float64 // what it says of a result
	tamper   func(o strategy.Output) []strategy.Output
	stops    func(trial uint64) bool // whether an evaluation is stopped early; nil: none

	trials   []strategy.Trial
	believed surrogate.Posterior
	known    int // results that it rests on
	journal  [][]byte
	timers   map[string]time.Duration
	result   Round
	waiting  bool
	since    time.Duration
	warnings []string
	waits    int
}

func newWorld(t rapid.TB, definition *task.Task, budget int) *world {
	t.Helper()
	w := &world{t: t, task: definition, rng: rand.New(rand.NewPCG(1, 2)), keys: keysOf(len(settingsOf(definition).Roster))}
	for i, id := range settingsOf(definition).Roster {
		w.members = append(w.members, &member{
			index: i, id: id, budget: budget, duration: 10 * time.Second, strategy: New(definition),
			report: func(_ task.Design, value float64) float64 { return value },
			tamper: func(o strategy.Output) []strategy.Output { return []strategy.Output{o} },
		})
	}
	return w
}

// lies has a member alter what it signs of a kind, which has a slot of its own, before it is
// sent: to some, or to all.
func (w *world) lies(liar *member, kind string, alter func(payload []byte) (slot int, changed []byte), some ...peer.ID) {
	liar.tamper = func(o strategy.Output) []strategy.Output {
		send, ok := o.(strategy.Send)
		if !ok || len(some) > 0 && !slices.Contains(some, send.To) {
			return []strategy.Output{o}
		}
		m, err := protocol.DecodeFairMessage(send.Data, len(w.members))
		if err != nil {
			w.t.Fatal(err)
		}
		for i, envelope := range m.Shares {
			share, _, _ := liar.exchange.open(envelope)
			if share.Kind != kind || share.Author != liar.id {
				continue
			}
			slot, changed := alter(share.Payload)
			forged, _ := liar.exchange.seal(kind, slot, changed)
			m.Shares[i] = forged.Envelope
		}
		if send.Data, err = m.Encode(); err != nil {
			w.t.Fatal(err)
		}
		return []strategy.Output{send}
	}
}

func (w *world) liesInBatches(liar *member, alter func(b *protocol.Batch)) {
	w.lies(liar, batchKind, func(payload []byte) (int, []byte) {
		b, err := protocol.DecodeBatch(payload, w.task.Space, len(w.members))
		if err != nil {
			w.t.Fatal(err)
		}
		alter(&b)
		changed, err := b.Encode(w.task.Space)
		if err != nil {
			w.t.Fatal(err)
		}
		return b.Round, changed
	})
}

func (w *world) after(span time.Duration, do func()) {
	w.events = append(w.events, event{w.now + span, do})
}

// play lets time pass until all who are alive have spent their budgets, or until the limit.
func (w *world) play(limit time.Duration) {
	for len(w.events) > 0 && !w.over() {
		i := 0
		for j, e := range w.events {
			if e.at < w.events[i].at {
				i = j
			}
		}
		e := w.events[i]
		if e.at > limit {
			w.now = limit
			return
		}
		w.events = slices.Delete(w.events, i, i+1)
		w.now = e.at
		e.do()
	}
}

func (w *world) over() bool {
	for _, m := range w.members {
		if m.alive && m.ended() < m.budget {
			return false
		}
	}
	return true
}

func (m *member) ended() (n int) {
	for _, trial := range m.trials {
		if trial.State.Ended() {
			n++
		}
	}
	return n
}

// boot starts a member, anew or from its journal. A trial that was cut off is evaluated
// again.
func (w *world) boot(i int) {
	w.t.Helper()
	m := w.members[i]
	exchange, err := NewExchange(w.task, w.keys[i])
	if err != nil {
		w.t.Fatal(err)
	}
	m.run++
	m.exchange, m.alive, m.result, m.timers, m.waiting = exchange, true, Round{}, map[string]time.Duration{}, false
	for _, data := range m.journal {
		if out := m.exchange.Step(w.view(m), strategy.Replayed{Data: data}); len(out) > 0 {
			w.t.Fatalf("a replay says %v", out)
		}
	}
	w.step(m, strategy.Start{})
	if n := len(m.trials); n > 0 && m.trials[n-1].State == strategy.Running {
		w.evaluate(m, n-1)
		return
	}
	w.suggest(m, "")
}

func (w *world) bootAll() {
	for i := range w.members {
		w.boot(i)
	}
}

func (w *world) crash(i int) { w.members[i].alive = false }

func (w *world) view(m *member) strategy.View {
	seen := presence.Result{}
	for _, other := range w.members {
		if other.alive && !w.apart(m.index, other.index) || other == m {
			seen.Present = append(seen.Present, other.id)
		}
	}
	view := strategy.View{
		Task: w.task, Self: m.id, Trials: slices.Clone(m.trials),
		Results: map[string]any{presence.Kind: seen, protocol.FairKind: m.result},
	}
	view.Posterior = w.posterior(m)
	for _, trial := range m.trials {
		if trial.State == strategy.Done {
			view.Observations++
		}
	}
	return view
}

// posterior is a stand-in that only says that there is one.
func (w *world) posterior(m *member) surrogate.Posterior {
	obs := surrogate.Observations{}
	for _, trial := range m.trials {
		if trial.State == strategy.Done {
			obs.X = append(obs.X, w.task.Space.Encode(trial.Design))
			obs.Y = append(obs.Y, trial.Outcome.Value)
		}
	}
	if len(obs.Y) == m.known {
		return m.believed
	}
	model, err := surrogate.New(w.task)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{0.3, 0.3}, Noise: 0.01}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	m.believed, m.known = p, len(obs.Y)
	return p
}

func (w *world) apart(a, b int) bool { return w.cut != nil && w.cut(a, b) }

func (w *world) step(m *member, in strategy.Input) {
	if !m.alive {
		return
	}
	outputs := m.exchange.Step(w.view(m), in)
	for _, output := range outputs {
		if record, ok := output.(strategy.Record); ok {
			m.journal = append(m.journal, record.Data)
		}
	}
	news := false
	for _, output := range outputs {
		for _, output := range m.tamper(output) {
			news = w.effect(m, output) || news
		}
	}
	if news && m.waiting {
		w.suggest(m, "")
	}
}

func (w *world) effect(m *member, output strategy.Output) (news bool) {
	run := m.run
	switch output := output.(type) {
	case strategy.Send:
		w.bytes += len(output.Data)
		w.sent++
		to := slices.IndexFunc(w.members, func(other *member) bool { return other.id == output.To })
		if w.rng.Float64() < w.loss || w.apart(m.index, to) {
			return false
		}
		w.after(time.Duration(1+w.rng.IntN(200))*time.Millisecond, func() {
			w.step(w.members[to], strategy.Direct{From: m.id, Data: output.Data})
		})
	case strategy.Work:
		view := w.view(m)
		w.after(time.Second, func() {
			if m.run != run || !m.alive {
				return
			}
			result, err := output.Run(context.Background(), view, random.SeedOf(uint64(m.index)))
			w.step(m, strategy.WorkDone{Name: output.Name, Result: result, Err: err})
		})
	case strategy.SetTimer:
		at := w.now + output.After
		m.timers[output.Name] = at
		w.after(output.After, func() {
			if m.run == run && m.timers[output.Name] == at {
				w.step(m, strategy.Timer{Name: output.Name})
			}
		})
	case strategy.Warn:
		m.warnings = append(m.warnings, output.Message)
	case strategy.Result:
		m.result = output.Value.(Round)
		return true
	}
	return false
}

// suggest asks the strategy for the next trial.
func (w *world) suggest(m *member, waited string) {
	id := len(m.trials) + 1
	if !m.alive || id > m.budget {
		return
	}
	view := w.view(m)
	view.Waited = waited
	s, err := m.strategy.Suggest(context.Background(), view, uint64(id), random.SeedOf(uint64(2000+m.index)))
	if err != nil {
		w.t.Fatal(err)
	}
	if s.Wait.Exchange != "" {
		if !m.waiting {
			m.waiting, m.since = true, w.now
			m.waits++
		}
		run, wait := m.run, m.waits
		w.after(max(m.since+s.Wait.For-w.now, 0), func() {
			if m.run == run && m.waiting && m.waits == wait && w.now >= m.since+s.Wait.For {
				w.suggest(m, protocol.FairKind)
			}
		})
		return
	}
	m.waiting = false
	m.trials = append(m.trials, strategy.Trial{ID: uint64(id), Design: s.Design, Why: s.Why, State: strategy.Running})
	w.evaluate(m, id-1)
}

func (w *world) evaluate(m *member, i int) {
	run := m.run
	w.after(m.duration, func() {
		if m.run != run || !m.alive {
			return
		}
		trial := &m.trials[i]
		value := m.report(trial.Design, hill(trial.Design))
		if m.stops != nil && m.stops(trial.ID) {
			trial.State, trial.Steps = strategy.StoppedEarly, curves.Curve{{Step: 1, Value: value}}
			trial.Stop = &curves.Stop{Rule: "median", Step: 1}
		} else {
			trial.State, trial.Outcome = strategy.Done, &strategy.Outcome{Value: value}
		}
		w.step(m, strategy.TrialsEnded{})
		w.suggest(m, "")
	})
}

// assigned counts a member's trials that batches had for it.
func (m *member) assigned() (n int) {
	for _, trial := range m.trials {
		if trial.Why.Source == source {
			n++
		}
	}
	return n
}

// checkBooks fails unless everybody who chooses holds all evaluations that have ended.
func (w *world) checkBooks() {
	w.t.Helper()
	for _, m := range w.members {
		if !m.alive || !m.exchange.chooses() {
			continue
		}
		for _, other := range w.members {
			if got := len(m.exchange.book.entries[other.index]); got != other.ended() {
				w.t.Errorf("member %d holds %d evaluations of member %d, which has ended %d", m.index, got, other.index, other.ended())
			}
		}
	}
}

func (w *world) checkNoWarnings() {
	w.t.Helper()
	for _, m := range w.members {
		if len(m.warnings) > 0 {
			w.t.Errorf("member %d warns: %q", m.index, m.warnings)
		}
	}
}

// settle lets what is under way arrive.
func (w *world) settle(span time.Duration) {
	end := w.now + span
	for len(w.events) > 0 {
		i := 0
		for j, e := range w.events {
			if e.at < w.events[i].at {
				i = j
			}
		}
		e := w.events[i]
		if e.at > end {
			break
		}
		w.events = slices.Delete(w.events, i, i+1)
		w.now = e.at
		e.do()
	}
	w.now = end
}
