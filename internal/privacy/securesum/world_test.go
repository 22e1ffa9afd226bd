package securesum

import (
	"bytes"
	"container/heap"
	"crypto/sha512"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// world drives agents over a virtual network: messages take a random time, get
// lost and doubled as told, and agents crash between any two outputs.
type world struct {
	t       testing.TB
	random  *rand.Rand
	cfg     Config
	now     time.Duration
	agents  []*agent // in order of the roster
	events  events
	serial  int
	latency func() time.Duration
	lose    func(from, to int) bool
	double  bool

	sent func(from, to int, data []byte) // sees every message as it leaves
	tune func(*Exchange)                 // may change a new exchange
}

// agent is an exchange with what survives its crashes.
type agent struct {
	index    int
	exchange *Exchange
	alive    bool
	fuse     int // outputs until the next crash; negative: none
	journal  [][]byte
	timer    int // serial of the timer that counts
	outcomes []Outcome
	warnings []string
	received *bytes.Buffer // what it did, unless nil
	bytesOut int
}

type event struct {
	at     time.Duration
	serial int
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].serial < e[j].serial
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// testSign stands for a signature; whoever knows the ID can make one, and the
// adversaries below make only their own.
func testSign(id peer.ID) func([]byte) ([]byte, error) {
	return func(statement []byte) ([]byte, error) {
		sum := sha512.Sum512(append([]byte(id), statement...))
		return sum[:], nil
	}
}

func testVerify(id peer.ID, statement, signature []byte) bool {
	want, _ := testSign(id)(statement)
	return bytes.Equal(want, signature)
}

func configOf(t testing.TB, n int, c Committee) Config {
	return Config{
		Task: taskID(t, "task"), Roster: rosterOf(n), Committee: c, MinContributors: c.Threshold + 1,
		Dimension: 2, Rounds: 100, Verify: testVerify,
	}
}

func committeeOf(t testing.TB, members, threshold int) Committee {
	t.Helper()
	c, err := NewCommittee(members, threshold)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newWorld(t testing.TB, cfg Config, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), cfg: cfg}
	w.latency = func() time.Duration { return time.Duration(1+w.random.IntN(100)) * time.Millisecond }
	w.lose = func(_, _ int) bool { return false }
	w.sent = func(_, _ int, _ []byte) {}
	w.tune = func(*Exchange) {}
	for i := range cfg.Roster {
		w.agents = append(w.agents, &agent{index: i, fuse: -1})
		w.boot(i)
	}
	return w
}

// boot starts an agent, anew or from its journal.
func (w *world) boot(i int) {
	w.t.Helper()
	a, cfg := w.agents[i], w.cfg
	cfg.Self = cfg.Roster[i]
	if cfg.Sign == nil {
		cfg.Sign = testSign(cfg.Self)
	}
	if cfg.Random == nil {
		var key [32]byte
		key[0], key[1], key[2] = byte(i), byte(i>>8), byte(len(a.journal))
		cfg.Random = rand.NewChaCha8(key)
	}
	exchange, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.tune(exchange)
	a.exchange, a.alive, a.fuse = exchange, true, -1
	for _, data := range a.journal {
		w.step(i, strategy.Replayed{Data: data})
	}
	w.step(i, strategy.Start{})
}

func (w *world) crash(i int) {
	a := w.agents[i]
	a.alive, a.exchange = false, nil
	a.timer = 0
}

func (w *world) after(d time.Duration, do func()) int {
	w.serial++
	heap.Push(&w.events, event{w.now + d, w.serial, do})
	return w.serial
}

func (w *world) step(i int, in strategy.Input) {
	a := w.agents[i]
	if a.alive {
		w.carry(i, a.exchange.Step(strategy.View{}, in))
	}
}

// carry carries outputs out, records first, until the fuse has burnt down.
func (w *world) carry(i int, outputs []strategy.Output) {
	a := w.agents[i]
	slices.SortStableFunc(outputs, func(a, b strategy.Output) int { return weight(a) - weight(b) })
	for _, output := range outputs {
		if a.fuse == 0 {
			w.crash(i)
			return
		}
		a.fuse--
		switch output := output.(type) {
		case strategy.Record:
			a.journal = append(a.journal, output.Data)
		case strategy.Send:
			to := slices.Index(w.cfg.Roster, output.To)
			a.bytesOut += len(output.Data)
			w.sent(i, to, output.Data)
			w.deliver(i, to, output.Data)
			if w.double {
				w.deliver(i, to, output.Data)
			}
		case strategy.SetTimer:
			a.timer = w.after(output.After, nil)
			w.events.find(a.timer).do = w.timer(i, a.timer, output.Name)
		case strategy.Result:
			a.outcomes = append(a.outcomes, output.Value.(Outcome))
		case strategy.Warn:
			a.warnings = append(a.warnings, output.Message)
		default:
			w.t.Fatalf("unexpected output %T", output)
		}
	}
}

func weight(o strategy.Output) int {
	if _, ok := o.(strategy.Record); ok {
		return 0
	}
	return 1
}

func (e events) find(serial int) *event {
	return &e[slices.IndexFunc(e, func(x event) bool { return x.serial == serial })]
}

func (w *world) timer(i, serial int, name string) func() {
	return func() {
		if w.agents[i].timer == serial {
			w.step(i, strategy.Timer{Name: name})
		}
	}
}

func (w *world) deliver(from, to int, data []byte) {
	if w.lose(from, to) {
		return
	}
	w.after(w.latency(), func() {
		if a := w.agents[to]; a.alive {
			if a.received != nil {
				a.received.Write(data)
			}
			w.step(to, strategy.Direct{From: w.cfg.Roster[from], Data: data})
		}
	})
}

func (w *world) pass(span time.Duration) {
	end := w.now + span
	for len(w.events) > 0 && w.events[0].at <= end {
		next := heap.Pop(&w.events).(event)
		w.now = next.at
		next.do()
	}
	w.now = end
}

// vectorIn is what an agent contributes to a round: the first number tells in
// every sum, of up to 24 agents, who is in it.
func vectorIn(i int, round uint64) []int64 {
	return []int64{1 << i, int64(i+1) * int64(round) * -1000}
}

func (w *world) vector(i int, round uint64) []int64 {
	v := make([]int64, w.cfg.Dimension)
	copy(v, vectorIn(i, round))
	return v
}

func (w *world) contribute(i int) {
	w.t.Helper()
	a := w.agents[i]
	if !a.alive {
		return
	}
	round, ok := a.exchange.Next()
	if !ok {
		return
	}
	outputs, err := a.exchange.Contribute(round, w.vector(i, round))
	if err != nil {
		w.t.Fatal(err)
	}
	w.carry(i, outputs)
}

// length is the time until any round has ended.
func (w *world) length() time.Duration {
	e := w.agents[0].exchange
	for _, a := range w.agents {
		if a.alive {
			e = a.exchange
		}
	}
	return time.Duration(e.cfg.Deadline+2) * e.cfg.Interval
}

// right tells whether an outcome, if it has a sum, has the right one.
func (w *world) right(o Outcome) bool {
	if o.Err != nil {
		return o.Sum == nil
	}
	want := make([]int64, w.cfg.Dimension)
	for i, id := range w.cfg.Roster {
		if slices.Contains(o.Contributors, id) {
			for k, v := range w.vector(i, o.Round) {
				want[k] += v
			}
		}
	}
	return slices.Equal(o.Sum, want) && len(o.Contributors) >= w.cfg.MinContributors && o.Answers > w.cfg.Committee.Threshold
}

// elected are the committee's roster indices.
func (w *world) elected(round uint64) []int {
	var indices []int
	for _, id := range Elect(w.cfg.Task, round, w.cfg.Roster, w.cfg.Committee.Members) {
		indices = append(indices, slices.Index(w.cfg.Roster, id))
	}
	return indices
}
