package sums

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// trialsEach is the number of designs of each member in a world.
const trialsEach = 24

// histogram counts how often each design was observed. In a world every observation has a design of
// its own, so a sum shows which observations are in it.
type histogram struct {
	space   *task.Space
	designs int
}

func (h histogram) Numbers() int   { return h.designs }
func (h histogram) Limit() float64 { return 1 }
func (h histogram) Add(vector []float64, x []float64, _ float64) {
	vector[h.space.Decode(x).Int("x")]++
}

func register() strategy.Registration {
	disclosures := []strategy.Disclosure{Disclosure()}
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "summing", Settings: func(s *task.Section) task.StrategySettings { return strategy.ReadChoice(s, disclosures) }},
		New:          func(*task.Task) (strategy.Strategy, error) { return nil, nil },
		Describe:     func(*task.Task) string { return "" },
		Disclosures:  disclosures,
	}
}

func newTask(t testing.TB, members int, keys string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{register()}, `
name: summed
goal: maximize
parameters: [{name: x, type: int, low: 0, high: %d}]
strategy: {type: summing, share: sum, initial_designs: 3%s, roster: [%s]}`, members*trialsEach-1, keys, fbotest.Roster(t, members))
}

// world connects the exchanges of a roster. Messages arrive in the order in which they were sent.
type world struct {
	t       testing.TB
	task    *task.Task
	keys    []crypto.PrivKey
	members []*member // in order of the roster
	queue   strategytest.Queue
	every   int
}

// member is an exchange with the data that survives its crashes.
type member struct {
	index    int
	id       peer.ID
	exchange *Exchange
	alive    bool
	runs     int
	trials   []strategy.Trial
	result   Result
	warnings []string

	journal [][]byte
	fuse    strategytest.Fuse // outputs until the next crash

	published *State // the latest that peers hold
	deals     strategytest.Deals
	sent      int // outputs so far
}

func newWorld(t testing.TB, members int, keys string, absent ...int) *world {
	t.Helper()
	definition := newTask(t, members, keys)
	w := &world{t: t, task: definition, keys: fbotest.RosterKeys(t, members), every: strategy.ChoiceOf(definition).ShareEvery}
	for i, key := range w.keys {
		w.members = append(w.members, &member{index: i, id: fbotest.PeerID(t, key), fuse: -1, deals: strategytest.Deals{}})
	}
	for i := range w.members {
		if !slices.Contains(absent, i) {
			w.boot(i)
		}
	}
	return w
}

// boot starts a member, anew or from its journal, and lets it and the others exchange shares.
func (w *world) boot(i int) {
	w.t.Helper()
	m := w.members[i]
	m.runs++
	var seed [32]byte
	seed[0], seed[1] = byte(i), byte(m.runs)
	e, err := NewExchange(strategy.Env{Task: w.task, Key: w.keys[i], Entropy: rand.NewChaCha8(seed)}, histogram{w.task.Space, len(w.keys) * trialsEach})
	if err != nil {
		w.t.Fatal(err)
	}
	m.exchange, m.alive, m.result = e.(*Exchange), true, Result{}
	for _, data := range m.journal {
		w.step(i, strategy.Replayed{Data: data})
	}
	w.step(i, strategy.Start{})
	for j, other := range w.members {
		if j == i || !other.alive {
			continue
		}
		if m.published != nil {
			w.step(i, strategy.Echo{Share: strategy.Share{Value: *m.published}})
		}
		w.step(i, strategy.CaughtUp{Peer: other.id})
		w.step(j, strategy.CaughtUp{Peer: m.id})
	}
	w.queue.Drain()
}

func (w *world) view(m *member) strategy.View {
	v := strategy.View{Task: w.task, Self: m.id, Trials: m.trials, Observations: len(m.trials)}
	var present []peer.ID
	for _, other := range w.members {
		if other.alive {
			present = append(present, other.id)
		}
		if other != m && other.published != nil {
			v.Shares = append(v.Shares, &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: other.id, Kind: Kind}}, Value: *other.published})
		}
	}
	v.Results = map[string]any{presence.Kind: presence.Result{Present: present}}
	return v
}

func (w *world) crash(i int) { w.members[i].alive, w.members[i].fuse = false, -1 }

func (w *world) step(i int, in strategy.Input) {
	if m := w.members[i]; m.alive {
		w.carry(m, m.exchange.Step(w.view(m), in))
	}
}

// carry carries out outputs. The records of a step are written together, before all else.
func (w *world) carry(m *member, outputs []strategy.Output) {
	records := strategytest.Records(outputs)
	if len(records) > 0 && m.burnt() {
		w.crash(m.index)
		return
	}
	m.journal = append(m.journal, records...)
	for _, output := range outputs {
		if _, ok := output.(strategy.Record); ok {
			continue
		}
		if m.burnt() {
			w.crash(m.index)
			return
		}
		w.effect(m, output)
	}
}

func (m *member) burnt() bool {
	m.sent++
	return m.fuse.Burnt()
}

func (w *world) effect(m *member, output strategy.Output) {
	switch output := output.(type) {
	case strategy.Send:
		w.inspect(m, output)
		w.queue.Add(func() {
			i, _ := m.exchange.index(output.To)
			w.step(i, strategy.Direct{From: m.id, Data: output.Data})
		})
	case strategy.Publish:
		if !output.Ephemeral {
			w.t.Fatal("a State in the journal, expected none: an old one would replace the newer one that peers store")
		}
		value, err := m.exchange.Decode(output.Payload)
		if err != nil {
			w.t.Fatal(err)
		}
		state := value.(State)
		m.published = &state
		for j := range w.members {
			if j != m.index {
				w.queue.Add(func() { w.step(j, strategy.Received{Share: strategy.Share{Value: state}}) })
			}
		}
	case strategy.Warn:
		m.warnings = append(m.warnings, output.Message)
	case strategy.Result:
		m.result = output.Value.(Result)
	}
}

// inspect fails if a message contains a vector in clear, or if a member deals two different vectors
// in one round.
func (w *world) inspect(m *member, send strategy.Send) {
	for round, vector := range m.exchange.own {
		var clear []byte
		for _, v := range vector[m.index*trialsEach : (m.index+1)*trialsEach] {
			clear = binary.BigEndian.AppendUint64(clear, uint64(v))
		}
		if send.Data[0] != ofTotal && bytes.Contains(send.Data, clear) {
			w.t.Fatalf("a message of member %d contains its vector of round %d", m.index, round)
		}
	}
	if send.Data[0] == ofRound {
		m.deals.Add(w.t, m.index, send.To, send.Data[1:])
	}
}

// tick lets time pass: 2 s each.
func (w *world) tick(times int) {
	for n := range times {
		for i := range w.members {
			w.step(i, strategy.Timer{Name: "tick"})
			if n%5 == 4 {
				w.step(i, strategy.Timer{Name: beatTimer})
			}
		}
		w.queue.Drain()
	}
}

// observe lets members evaluate a number of designs each.
func (w *world) observe(times int, members ...int) {
	for range times {
		for _, i := range members {
			m := w.members[i]
			n := len(m.trials)
			if n == trialsEach {
				w.t.Fatal("a member has no design left")
			}
			design := designAt(w.task.Space, i*trialsEach+n, len(w.members)*trialsEach)
			m.trials = append(slices.Clone(m.trials), strategy.Trial{ID: uint64(n + 1), Design: design, State: strategy.Done, Outcome: &strategy.Outcome{Value: math.Sin(float64(7*n + i))}})
			w.step(i, strategy.TrialsEnded{})
		}
		w.queue.Drain()
	}
}

// designAt returns the design with the value i of a parameter from 0 to n-1.
func designAt(space *task.Space, i, n int) task.Design {
	return space.Decode([]float64{(float64(i) + 0.5) / float64(n)})
}

func (w *world) all() (indices []int) {
	for i := range w.members {
		indices = append(indices, i)
	}
	return indices
}

// longest is more ticks than a round takes.
const longest = 40

// summed returns for each round the observations in its sum, as indices of designs. It checks
// the invariants of all sums that any member knows.
func (w *world) summed(name string) map[int][]int {
	w.t.Helper()
	rounds := map[int]total{}
	for _, m := range w.members {
		if m.exchange == nil {
			continue
		}
		spent := m.journalled(w.t)
		for round, t := range m.exchange.totals {
			if before, ok := rounds[round]; ok && (!slices.Equal(before.Vector, t.Vector) || !slices.Equal(before.Contributors, t.Contributors)) {
				w.t.Errorf("%s: round %d has two sums", name, round)
			}
			rounds[round] = t
		}
		last := 0
		for _, s := range m.result.Sums {
			own := s.Values[m.index*trialsEach : (m.index+1)*trialsEach]
			if slices.ContainsFunc(own, func(v float64) bool { return v != 0 }) {
				w.t.Errorf("%s: member %d sees its own observations in round %d", name, m.index, s.Round)
			}
			if s.Round <= last || s.Observations != s.Contributors*w.every {
				w.t.Errorf("%s: member %d: sum %d after %d, %d observations of %d", name, m.index, s.Round, last, s.Observations, s.Contributors)
			}
			last = s.Round
		}
		for trial, times := range spent {
			if times > 1 {
				w.t.Errorf("%s: member %d has spent trial %d %d times", name, m.index, trial, times)
			}
		}
	}
	settings, _ := SettingsOf(w.task)
	contents, seen := map[int][]int{}, map[int]bool{}
	for round, t := range rounds {
		of := map[int]int{}
		for i, v := range t.Vector {
			switch {
			case v == 0:
				continue
			case v != int64(1/step) || seen[i]:
				w.t.Errorf("%s: observation %d is in sums more than once", name, i)
			}
			seen[i] = true
			of[i/trialsEach]++
			contents[round] = append(contents[round], i)
		}
		if len(t.Contributors) < settings.MinContributors || len(of) != len(t.Contributors) {
			w.t.Errorf("%s: round %d has %d contributors, its sum holds observations of %d, expected at least %d", name, round, len(t.Contributors), len(of), settings.MinContributors)
		}
		for _, i := range t.Contributors {
			if of[i] != w.every {
				w.t.Errorf("%s: round %d has %d observations of member %d, expected %d", name, round, of[i], i, w.every)
			}
		}
	}
	return contents
}

// journalled returns how often the journal counts each trial as contributed.
func (m *member) journalled(t testing.TB) map[uint64]int {
	spent := map[uint64]int{}
	for _, data := range m.journal {
		if data[0] != ofDealt {
			continue
		}
		var d dealt
		if err := json.Unmarshal(data[1:], &d); err != nil {
			t.Fatal(err)
		}
		for _, trial := range d.Trials {
			spent[trial]++
		}
	}
	return spent
}
