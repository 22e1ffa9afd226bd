package constrainedgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/privacy/compare"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// hall is agents that compare in private. Messages wait until they are carried.
type hall struct {
	*lab
	members map[peer.ID]*visitor
	names   []peer.ID
	mail    []letter
	tampers func(*letter) bool // false: it is lost
}

type letter struct {
	from, to peer.ID
	data     []byte
}

type visitor struct {
	hall     *hall
	id       peer.ID
	exchange *Private
	view     strategy.View
	records  [][]byte
	works    []strategy.Work
	sent     map[string]int // by step
}

// hallOf returns agents without observations, each by another name.
func hallOf(t testing.TB, count, comparisons int) *hall {
	t.Helper()
	l := newLab(t, "maximize", plane, "exact", private)
	s, d := l.task.Strategy.Settings.(Settings), designsOf(l.task)
	d.ComparisonsPerHour = comparisons
	s.Choice.Settings = d
	spec := *l.task
	spec.Strategy.Settings = s
	l.task = &spec
	h := &hall{lab: l, members: map[peer.ID]*visitor{}}
	for i := range count {
		h.names = append(h.names, peerID(i))
	}
	for i := range count {
		v := &visitor{hall: h, id: peerID(i), view: strategy.View{Task: l.task, Self: peerID(i)}, sent: map[string]int{}}
		h.members[v.id] = v
		v.join(byte(i))
	}
	return h
}

// join makes the agent anew, with the records that it has.
func (v *visitor) join(seed byte) {
	v.hall.t.Helper()
	var err error
	if v.exchange, err = NewPrivate(v.hall.task, rand.NewChaCha8([32]byte{seed})); err != nil {
		v.hall.t.Fatal(err)
	}
	v.works = nil
	v.view.Results = map[string]any{presence.Kind: presence.Result{Present: v.hall.names}}
	for _, r := range v.records {
		if out := v.exchange.Step(v.view, strategy.Replayed{Data: r}); len(out) > 0 {
			v.hall.t.Fatalf("a record makes %v", out)
		}
	}
	v.step(strategy.Start{})
}

// learn makes an agent know these designs, whose values are those of f.
func (v *visitor) learn(x [][]float64, f func([]float64) float64) {
	view := v.hall.view(x, f)
	view.Self, view.Results = v.id, v.view.Results
	v.view = view
	v.step(strategy.TrialsEnded{})
	v.work()
}

func (v *visitor) step(in strategy.Input) {
	v.hall.t.Helper()
	recorded := false
	for _, output := range v.exchange.Step(v.view, in) {
		switch output := output.(type) {
		case strategy.Record:
			v.records = append(v.records, output.Data)
			recorded = true
		case strategy.Work:
			if !recorded && (output.Name == "offer" || output.Name == "answer") {
				v.hall.t.Errorf("%s: %s without a record", v.id, output.Name)
			}
			v.works = append(v.works, output)
		case strategy.Send:
			c, err := protocol.DecodeComparison(output.Data, v.hall.task.Space)
			if err != nil {
				v.hall.t.Fatal(err)
			}
			v.sent[stepOf(c)]++
			v.hall.mail = append(v.hall.mail, letter{v.id, output.To, output.Data})
		case strategy.Result:
			results := map[string]any{protocol.NearOptimalKind: output.Value, presence.Kind: v.view.Results[presence.Kind]}
			v.view.Results = results
		case strategy.SetTimer:
		default:
			v.hall.t.Fatalf("%T", output)
		}
	}
}

func stepOf(c protocol.Comparison) string {
	switch {
	case c.Offer != nil:
		return "offer"
	case c.Answer != nil:
		return "answer"
	case c.Refusal != 0:
		return fmt.Sprintf("refusal %d", c.Refusal)
	case c.Verdict.Design != nil:
		return "design"
	}
	return "nothing"
}

// work does what the agent has asked for.
func (v *visitor) work() {
	for len(v.works) > 0 {
		work := v.works[0]
		v.works = v.works[1:]
		result, err := work.Run(v.hall.t.Context(), v.view, random.SeedOf(3))
		if err != nil {
			v.hall.t.Errorf("%s: %s: %v", v.id, work.Name, err)
		}
		v.step(strategy.WorkDone{Name: work.Name, Result: result, Err: err})
	}
}

// carry delivers all messages, and those that these lead to.
func (h *hall) carry() {
	for len(h.mail) > 0 {
		l := h.mail[0]
		h.mail = h.mail[1:]
		if h.tampers != nil && !h.tampers(&l) {
			continue
		}
		if to, ok := h.members[l.to]; ok {
			to.step(strategy.Direct{From: l.from, Data: l.data})
			to.work()
		}
	}
}

// pass lets so many ticks pass, and what is due then.
func (h *hall) pass(ticks int) {
	for range ticks {
		for _, id := range h.names {
			v := h.members[id]
			v.step(strategy.Timer{Name: tickTimer})
			v.work()
		}
		h.carry()
	}
}

func (v *visitor) has() []int {
	designs, _ := strategy.ResultOf[received](v.view, protocol.NearOptimalKind)
	var observations []int
	for _, n := range designs {
		if n.Bound != nil {
			v.hall.t.Errorf("%s has been told the bound %g", v.id, *n.Bound)
		}
		observations = append(observations, n.Observations)
	}
	return observations
}

// good and bad are agents' objectives: what is best for the one is far above all that the
// other has seen.
func good(x []float64) float64 { return 500 + 20*bump(0.3)(x) }
func bad(x []float64) float64  { return 400 + 20*bump(0.3)(x) }

// A design goes to those whose threshold its bound exceeds, and to nobody else. Who gets it
// is who would listen to it in the open.
func TestDesignsGoToThoseWhomTheyExceed(t *testing.T) {
	h := hallOf(t, 3, 60)
	x := h.designs(8, 2)
	for i, f := range []func([]float64) float64{good, bad, bad} {
		h.members[peerID(i)].learn(x[:4+i], f)
	}
	h.carry()
	h.pass(2)
	for i, want := range [][]int{nil, {4}, {4}} {
		if got := h.members[peerID(i)].has(); !slices.Equal(got, want) {
			t.Errorf("agent %d has designs behind %v observations, want %v", i, got, want)
		}
	}
	if sent := h.members[peerID(0)].sent; sent["design"] != 2 || sent["offer"] != 2 || sent["nothing"] != 0 {
		t.Errorf("the best agent sent %v", sent)
	}
	if sent := h.members[peerID(1)].sent; sent["design"] != 0 || sent["nothing"] != 2 {
		t.Errorf("another agent sent %v", sent)
	}
	for i := range 3 {
		v := h.members[peerID(i)]
		informed := len(claimsOf(h.task, v.view))
		if informed != len(v.has()) {
			t.Errorf("agent %d has %d claims of %d designs", i, informed, len(v.has()))
		}
		if f, claims := h.considered(v.view, 1); len(claims) != informed || (f != nil) != (informed > 0) {
			t.Errorf("agent %d considers %d of %d claims", i, len(claims), informed)
		}
	}
	for range 3 {
		h.pass(1)
	}
	if sent := h.members[peerID(0)].sent; sent["offer"] != 2 {
		t.Errorf("the same design is compared again: %v", sent)
	}
	// The next observation makes a new design, of which the newest counts.
	h.members[peerID(0)].learn(x[:7], good)
	h.carry()
	if got := h.members[peerID(1)].has(); !slices.Equal(got, []int{7}) {
		t.Errorf("agent 1 has designs behind %v observations, want 7", got)
	}
	// One that does not exceed any more takes the place of the one that did.
	h.members[peerID(0)].learn(h.designs(9, 5), bad)
	h.carry()
	h.members[peerID(1)].learn(h.designs(8, 7), good)
	h.members[peerID(0)].learn(h.designs(10, 5), bad)
	h.carry()
	if got := h.members[peerID(1)].has(); len(got) != 0 {
		t.Errorf("agent 1 has designs behind %v observations, want none", got)
	}
}

// The comparison has the outcome of the open one, bound against threshold, whatever the
// units are; equal ones do not exceed.
func TestPrivateIsOpen(t *testing.T) {
	h := hallOf(t, 1, 60)
	for seed := range uint64(4) {
		for _, f := range []func([]float64) float64{good, func(x []float64) float64 { return -1e-9 * bump(0.6)(x) }, func([]float64) float64 { return -3 }} {
			view := h.view(h.designs(6, seed), f)
			result, err := find(t.Context(), h.task, h.strategy.search, view, random.SeedOf(seed))
			if err != nil {
				t.Fatal(err)
			}
			private := result.(found)
			threshold, err := largestMean(t.Context(), h.task, h.strategy.search, view, random.SeedOf(seed))
			if err != nil {
				t.Fatal(err)
			}
			n, ok, err := nearOptimal(t.Context(), h.task, h.strategy.search, view, random.SeedOf(seed))
			if err != nil || ok != (private.design != nil) {
				t.Fatalf("%t, %v", ok, err)
			}
			if ok && (private.bound > private.threshold) != (*n.Bound > threshold) {
				t.Errorf("bound %g, threshold %g, and in private %t", *n.Bound, threshold, private.bound > private.threshold)
			}
		}
	}
}

// Before anything feasible is known every design exceeds, as in the open none is compared.
func TestNothingFeasibleIsExceededByAll(t *testing.T) {
	plain := newLab(t, "maximize", plane, "exact", private)
	for low, all := range map[float64]bool{0.5: false, 1.5: true} {
		l, view := plain.constrained(plain.view(plain.designs(8, 2), bump(0.4)), low)
		result, err := find(t.Context(), l.task, l.strategy.search, view, random.SeedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		lowest, err := compare.Ordered(math.Inf(-1))
		if err != nil {
			t.Fatal(err)
		}
		if got := result.(found); (got.threshold == lowest) != all || all && got.design != nil {
			t.Errorf("from %g: %+v", low, got)
		}
	}
}

// Who has no threshold yet is asked again, and who is not there costs nothing but a few
// tries.
func TestThoseWhoAreEarlyLateOrAbsent(t *testing.T) {
	h := hallOf(t, 3, 60)
	absent := peerID(2)
	delete(h.members, absent)
	h.names = h.names[:2]
	x := h.designs(8, 2)
	first, second := h.members[peerID(0)], h.members[peerID(1)]
	first.view.Results = map[string]any{presence.Kind: presence.Result{Present: []peer.ID{peerID(0), peerID(1), absent}}}
	first.learn(x[:4], good)
	h.carry()
	if second.sent["refusal 1"] != 1 || len(second.has()) != 0 {
		t.Errorf("an agent without a threshold sent %v", second.sent)
	}
	second.learn(x[:5], bad)
	h.pass(earlyPause + 1)
	if got := second.has(); !slices.Equal(got, []int{4}) {
		t.Errorf("has designs behind %v observations, want 4", got)
	}
	h.pass(6 * (patience + 1))
	if want := attempts + 2; first.sent["offer"] != want {
		t.Errorf("%d offers, want %d", first.sent["offer"], want)
	}
	if n := first.exchange.peers[absent]; n.conversation != nil || !n.finished {
		t.Errorf("%+v", n)
	}
}

// Messages that are lost, come twice or are wrong in any way end no comparison but their
// own, and without a design. With each a new design is compared as ever.
func TestPrivateComparisonSurvivesWrongMessages(t *testing.T) {
	for name, tamper := range map[string]func(c *protocol.Comparison) bool{
		"lost offers":    func(c *protocol.Comparison) bool { return c.Offer == nil },
		"lost answers":   func(c *protocol.Comparison) bool { return c.Answer == nil },
		"lost verdicts":  func(c *protocol.Comparison) bool { return c.Verdict == nil },
		"wrong offers":   func(c *protocol.Comparison) bool { flip(c.Offer); return true },
		"wrong answers":  func(c *protocol.Comparison) bool { flip(c.Answer); return true },
		"other sessions": func(c *protocol.Comparison) bool { c.Session[0] ^= 1; return true },
	} {
		h := hallOf(t, 2, 60)
		x := h.designs(8, 2)
		h.members[peerID(1)].learn(x[:5], bad)
		h.carry()
		h.tampers = func(l *letter) bool {
			c, err := protocol.DecodeComparison(l.data, h.task.Space)
			if err != nil {
				t.Fatal(err)
			}
			if !tamper(&c) {
				return false
			}
			if l.data, err = c.Encode(h.task.Space); err != nil {
				t.Fatal(err)
			}
			return true
		}
		h.members[peerID(0)].learn(x[:4], good)
		h.carry()
		h.pass(1)
		if got := h.members[peerID(1)].has(); len(got) != 0 {
			t.Errorf("%s: has designs behind %v observations", name, got)
		}
		h.tampers = nil
		h.members[peerID(0)].learn(x[:6], good)
		h.carry()
		h.pass(patience + 2)
		if got := h.members[peerID(1)].has(); !slices.Equal(got, []int{6}) {
			t.Errorf("%s: afterwards has designs behind %v observations, want 6", name, got)
		}
	}
}

func flip(data []byte) {
	if len(data) > 0 {
		data[0] ^= 0x80
	}
}

// Without a comparison no design is taken, and one that comes twice counts once.
func TestDesignsWithoutAComparison(t *testing.T) {
	h := hallOf(t, 2, 60)
	x := h.designs(8, 2)
	var verdict letter
	h.tampers = func(l *letter) bool {
		if c, _ := protocol.DecodeComparison(l.data, h.task.Space); c.Verdict != nil {
			verdict = *l
		}
		return true
	}
	first, second := h.members[peerID(0)], h.members[peerID(1)]
	second.learn(x[:5], bad)
	h.carry()
	first.learn(x[:4], good)
	h.carry()
	records := len(second.records)
	second.step(strategy.Direct{From: first.id, Data: verdict.data})
	second.step(strategy.Direct{From: "somebody else", Data: verdict.data})
	second.step(strategy.Direct{From: first.id, Data: []byte("garbage")})
	if len(second.records) != records || !slices.Equal(second.has(), []int{4}) {
		t.Errorf("%d records, want %d; designs %v", len(second.records), records, second.has())
	}
	if _, err := second.exchange.Decode(verdict.data); err == nil {
		t.Error("a design is taken from gossip")
	}
}

// A peer is answered as often as the task says within an hour, over restarts too.
func TestComparisonsAreCounted(t *testing.T) {
	h := hallOf(t, 2, 2)
	x := h.designs(12, 2)
	first, second := h.members[peerID(0)], h.members[peerID(1)]
	second.learn(x[:5], bad)
	h.carry()
	next := func(observations int) {
		first.learn(x[:observations], good)
		h.carry()
		h.pass(1)
	}
	next(4)
	next(5)
	second.join(9)
	second.work()
	next(6)
	if second.sent["answer"] != 2 || second.sent["refusal 2"] != 1 || !slices.Equal(second.has(), []int{5}) {
		t.Errorf("sent %v, has designs behind %v observations", second.sent, second.has())
	}
	next(7)
	if second.sent["refusal 2"] != 1 {
		t.Errorf("who has been refused asks at once again: %v", second.sent)
	}
	second.step(strategy.Timer{Name: hourTimer})
	second.join(10)
	second.work()
	h.pass(frequentPause)
	if second.sent["answer"] != 3 || !slices.Equal(second.has(), []int{7}) {
		t.Errorf("in the next hour: sent %v, has designs behind %v observations", second.sent, second.has())
	}
}

// After a restart an agent has what it had, and does not compare the same design again.
// What was under way is given up.
func TestPrivateComparisonAfterRestart(t *testing.T) {
	h := hallOf(t, 3, 60)
	x := h.designs(8, 2)
	for i, f := range []func([]float64) float64{good, bad, bad} {
		h.members[peerID(i)].learn(x[:4], f)
	}
	h.tampers = func(l *letter) bool { // agent 2 does not hear the verdict
		c, _ := protocol.DecodeComparison(l.data, h.task.Space)
		return l.to != peerID(2) || c.Verdict == nil
	}
	h.carry()
	h.pass(1)
	h.tampers = nil
	before := h.members[peerID(1)].has()
	for i, id := range h.names {
		v := h.members[id]
		clear(v.sent)
		v.join(byte(20 + i))
		v.work()
	}
	h.pass(patience + 2)
	if got := h.members[peerID(1)].has(); !slices.Equal(got, before) || len(got) != 1 {
		t.Errorf("has designs behind %v observations, before the restart %v", got, before)
	}
	if got := h.members[peerID(2)].has(); len(got) != 0 {
		t.Errorf("has designs behind %v observations of a comparison that was under way", got)
	}
	if sent := h.members[peerID(0)].sent; sent["offer"] != 0 {
		t.Errorf("the same design is compared again: %v", sent)
	}
	h.members[peerID(0)].learn(x[:6], good)
	h.carry()
	if got := h.members[peerID(2)].has(); !slices.Equal(got, []int{6}) {
		t.Errorf("the next design: has those behind %v observations", got)
	}
}

// What the journal holds beside that is left out.
func FuzzReplay(f *testing.F) {
	h := hallOf(f, 2, 60)
	x := h.designs(8, 2)
	h.members[peerID(0)].learn(x[:4], good)
	h.members[peerID(1)].learn(x[:4], bad)
	h.carry()
	for _, v := range h.members {
		for _, r := range v.records {
			f.Add(r)
		}
	}
	f.Add([]byte{receivedRecord, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := NewPrivate(h.task, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Step(strategy.View{Task: h.task}, strategy.Replayed{Data: data})
		for _, n := range e.received {
			if _, err := n.Encode(h.task.Space); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The wire's sizes are those of package compare.
func TestSizesOfMessages(t *testing.T) {
	if protocol.OfferBytes != compare.OfferBytes || protocol.AnswerBytes != compare.AnswerBytes {
		t.Errorf("on the wire %d and %d bytes, compared are %d and %d", protocol.OfferBytes, protocol.AnswerBytes, compare.OfferBytes, compare.AnswerBytes)
	}
}

// Without peers, and without designs of them, it is expected improvement.
func TestPrivateWithoutPeers(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", private)
	view := l.view(l.designs(5, 2), bump(0.3))
	l.checkAlone(view, 9, 1)
	view.Results = map[string]any{protocol.NearOptimalKind: received(nil)}
	l.checkAlone(view, 9, 1)
}
