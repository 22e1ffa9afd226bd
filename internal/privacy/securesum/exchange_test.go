package securesum

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// everybodyGot fails unless all living agents have ended the round with one
// sum, of so many contributors.
func (w *world) everybodyGot(round uint64, contributors int) {
	w.t.Helper()
	var first Outcome
	for i, a := range w.agents {
		if !a.alive {
			continue
		}
		k := slices.IndexFunc(a.outcomes, func(o Outcome) bool { return o.Round == round })
		if k < 0 {
			w.t.Fatalf("agent %d has no outcome of round %d: %+v", i, round, a.outcomes)
		}
		o := a.outcomes[k]
		if !w.right(o) || o.Err != nil || len(o.Contributors) != contributors {
			w.t.Fatalf("agent %d: %+v; want the right sum of %d contributors", i, o, contributors)
		}
		if first.Sum == nil {
			first = o
		}
		if !slices.Equal(o.Sum, first.Sum) {
			w.t.Fatalf("agent %d has another sum", i)
		}
	}
}

func TestARoundOfEverybody(t *testing.T) {
	for _, c := range []struct{ n, members, threshold int }{{2, 2, 1}, {3, 3, 1}, {5, 5, 2}, {12, 5, 1}, {20, 20, 9}} {
		t.Run(fmt.Sprintf("%d agents, %d of %d", c.n, c.threshold, c.members), func(t *testing.T) {
			w := newWorld(t, configOf(t, c.n, committeeOf(t, c.members, c.threshold)), 1)
			for round := range uint64(3) {
				for i := range w.agents {
					w.contribute(i)
				}
				// All shares are in, so that nothing waits for a deadline.
				w.pass(time.Second)
				w.everybodyGot(round+1, c.n)
			}
		})
	}
}

func TestAbsentAgentsAreLeftOut(t *testing.T) {
	w := newWorld(t, configOf(t, 12, committeeOf(t, 7, 3)), 2)
	absent := w.elected(1)[0] // the first to propose
	w.crash(absent)
	for i := range w.agents {
		if i != (absent+1)%12 {
			w.contribute(i)
		}
	}
	w.pass(w.length())
	w.everybodyGot(1, 10)
}

func TestTooFewContributors(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 7, 3)), 3)
	for i := range 3 {
		w.contribute(i)
	}
	w.sent = func(_, _ int, data []byte) {
		if data[1] == kindSum {
			t.Error("a sum was sent")
		}
	}
	w.pass(w.length())
	for i, a := range w.agents {
		if len(a.outcomes) != 1 || !errors.Is(a.outcomes[0].Err, ErrTooFewContributors) {
			t.Errorf("agent %d: %+v", i, a.outcomes)
		}
	}
}

func TestTooFewMembers(t *testing.T) {
	w := newWorld(t, configOf(t, 9, committeeOf(t, 7, 3)), 4)
	for _, i := range w.elected(1)[:2] {
		w.crash(i)
	}
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(w.length())
	for i, a := range w.agents {
		if a.alive && (len(a.outcomes) != 1 || !errors.Is(a.outcomes[0].Err, ErrNoCertificate)) {
			t.Errorf("agent %d: %+v", i, a.outcomes)
		}
	}
}

// A member that sends a wrong sum is outvoted and named, although the first answers that
// would do are too few for it and others come late.
func TestAWrongSumIsOutvoted(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 7, 3)), 5)
	liar, late, lied := w.elected(1)[2], w.elected(1)[4], false
	w.crash(w.elected(1)[1])
	held := true
	w.lose = func(from, _ int) bool { return held && from == late && lied }
	w.sent = func(from, _ int, data []byte) {
		if from == liar && data[1] == kindSum && !lied {
			lied = true // all its messages of this kind are the same bytes
			data[len(data)-1] ^= 1
		}
	}
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(w.length() / 2)
	held = false
	w.pass(w.length() / 2)
	for i, a := range w.agents {
		if !a.alive || i == liar {
			continue
		}
		if len(a.outcomes) != 1 || !w.right(a.outcomes[0]) || a.outcomes[0].Err != nil || a.outcomes[0].Answers != 5 ||
			!slices.Equal(a.outcomes[0].Outvoted, []peer.ID{w.cfg.Roster[liar]}) {
			t.Errorf("agent %d: %+v", i, a.outcomes)
		}
	}
}

// A member that sends a wrong sum where nobody can be outvoted spoils the round and nothing
// else.
func TestAWrongSumIsNeverAResult(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 7, 4)), 5)
	w.crash(w.elected(1)[1]) // so that nobody can do without the liar's answer
	liar, lied := w.elected(1)[2], false
	w.sent = func(from, _ int, data []byte) {
		if from == liar && data[1] == kindSum && !lied {
			lied = true // all its messages of this kind are the same bytes
			data[len(data)-1] ^= 1
		}
	}
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(w.length())
	for i, a := range w.agents {
		if a.alive && i != liar && (len(a.outcomes) != 1 || !errors.Is(a.outcomes[0].Err, ErrInconsistent)) {
			t.Errorf("agent %d: %+v", i, a.outcomes)
		}
	}
}

// An agent that lost all its memory in the middle of a round gets the result
// from the others, who have it already.
func TestARestartedAgentCatchesUp(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 2)), 6)
	for i := range w.agents {
		w.contribute(i)
	}
	w.crash(3)
	w.pass(w.length())
	w.everybodyGot(1, 7) // its shares were under way
	w.boot(3)
	if _, ok := w.agents[3].exchange.Next(); ok {
		t.Error("whoever has dealt may deal again after a restart")
	}
	w.pass(10 * time.Second)
	w.everybodyGot(1, 7)
}

// An agent that slept through rounds is told where the others are.
func TestALatecomerJoinsTheCurrentRound(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 2)), 7)
	sleeper := 2
	w.crash(sleeper)
	for range 4 {
		for i := range w.agents {
			w.contribute(i)
		}
		w.pass(w.length())
	}
	w.boot(sleeper)
	w.contribute(sleeper) // to round 1, as far as it knows
	w.pass(10 * time.Second)
	if o := w.agents[sleeper].outcomes; len(o) != 2 || !errors.Is(o[0].Err, ErrLeftBehind) || o[1].Round != 4 || o[1].Err != nil {
		t.Fatalf("%+v", o)
	}
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(w.length())
	w.everybodyGot(5, 7)
}

// One peer cannot make the others skip rounds, nor leave the one they are in.
func TestOnePeerDoesNotMoveTheRest(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 2)), 8)
	e := w.agents[1].exchange
	leap := message{round: 77, kind: kindStatus, status: status{held: newSet(7), sums: newSet(5)}}
	for _, from := range []int{3, 4, 3} {
		w.step(1, strategy.Direct{From: w.cfg.Roster[from], Data: e.shape.encode(leap)})
	}
	if next, ok := e.Next(); !ok || next != 1 {
		t.Errorf("two peers moved the agent to round %d", next)
	}
	w.step(1, strategy.Direct{From: w.cfg.Roster[5], Data: e.shape.encode(leap)})
	if next, ok := e.Next(); !ok || next != 77 {
		t.Errorf("three peers left the agent in round %d", next)
	}
}

// TestALongAbsenceUsesFewRounds lets one agent ask committees that never have a quorum. The waits
// double, so that few rounds pass.
func TestALongAbsenceUsesFewRounds(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 1)), 3)
	e := w.agents[0].exchange
	length := e.cfg.Deadline
	for range 40 * length {
		e.Gather()
		e.Step(strategy.View{}, strategy.Timer{Name: tickTimer})
	}
	// Round k waits 2^(k-1) lengths and takes one more: 1+1, 2+1, 4+1, 8+1, and 16+1 make 36.
	if next, ok := e.Next(); !ok || next != 6 {
		t.Errorf("the next round is %d, expected 6", next)
	}
}

// TestFollowsMany checks which messages open the next round of an agent that follows many: those of
// more peers than may collude, or of one peer if the agent calls the committee itself.
func TestFollowsMany(t *testing.T) {
	cfg := configOf(t, 7, committeeOf(t, 5, 2))
	cfg.FollowsMany = true
	for name, c := range map[string]struct {
		from  []int
		calls bool
		wait  int // ticks after the call
		next  bool
	}{
		"two peers":                {from: []int{3, 4, 3}},
		"three peers":              {from: []int{3, 4, 5}, next: true},
		"one peer, own call":       {from: []int{3}, calls: true, next: true},
		"one peer, fresh own call": {from: []int{3}, calls: true, wait: 3, next: true},
		"one peer, old own call":   {from: []int{3}, calls: true, wait: 4},
	} {
		w := newWorld(t, cfg, 8)
		e := w.agents[1].exchange
		if c.calls {
			w.carry(1, func() []strategy.Output { out, _ := e.Gather(); return out }())
		}
		for range c.wait {
			e.Step(strategy.View{}, strategy.Timer{Name: tickTimer})
		}
		m := message{round: 1, kind: kindStatus, status: status{held: newSet(7), sums: newSet(5)}}
		for _, from := range c.from {
			w.step(1, strategy.Direct{From: w.cfg.Roster[from], Data: e.shape.encode(m)})
		}
		if e.Underway() != c.next {
			t.Errorf("%s: the round has begun: %t, expected %t", name, e.Underway(), c.next)
		}
	}
}

func TestStrangersAndGarbageAreIgnored(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 2)), 9)
	e := w.agents[1].exchange
	d, err := w.agents[2].exchange.split(1, make([]element, 2))
	if err != nil {
		t.Fatal(err)
	}
	share := message{round: 1, kind: kindShare, header: d.header, part: d.parts[0]}
	other := e.shape
	other.digest[0]++
	beyond := share
	beyond.round = w.cfg.Rounds + 1
	for name, in := range map[string]strategy.Direct{
		"stranger":     {From: "nobody", Data: e.shape.encode(share)},
		"itself":       {From: w.cfg.Roster[1], Data: e.shape.encode(share)},
		"other roster": {From: w.cfg.Roster[2], Data: other.encode(share)},
		"empty":        {From: w.cfg.Roster[2]},
		"round 0":      {From: w.cfg.Roster[2], Data: e.shape.encode(message{kind: kindShare, header: share.header, part: share.part})},
		"last round":   {From: w.cfg.Roster[2], Data: e.shape.encode(beyond)},
	} {
		if out := e.Step(strategy.View{}, in); out != nil || e.current != nil {
			t.Errorf("%s: %v", name, out)
		}
	}
}

// What one peer can make an agent send and verify within a tick is bounded.
func TestAFloodIsBounded(t *testing.T) {
	cfg := configOf(t, 7, committeeOf(t, 7, 3))
	checks := 0
	cfg.Verify = func(peer.ID, []byte, []byte) bool { checks++; return false }
	w := newWorld(t, cfg, 10)
	for i := range w.agents {
		w.contribute(i)
	}
	e := w.agents[1].exchange
	sent := 0
	for range 100 {
		for range 1000 {
			s := status{held: newSet(7), sums: newSet(7), vote: &vote{choice{set: fullSet(7)}, make([]byte, 64)}}
			in := strategy.Direct{From: w.cfg.Roster[2], Data: e.shape.encode(message{round: 1, kind: kindStatus, status: s})}
			for _, o := range e.Step(strategy.View{}, in) {
				if send, ok := o.(strategy.Send); ok && send.Data[1] == kindShare {
					sent++
				}
			}
		}
		e.Step(strategy.View{}, strategy.Timer{Name: tickTimer})
	}
	if sent != maxSends-1 || checks > maxMessages*(e.cfg.Deadline+1) {
		t.Errorf("%d shares sent again, %d signatures checked", sent, checks)
	}
}

func TestContributionsThatAreRefused(t *testing.T) {
	w := newWorld(t, configOf(t, 3, committeeOf(t, 3, 1)), 11)
	e := w.agents[0].exchange
	limit := e.cfg.MaxValue()
	for _, c := range []struct {
		round  uint64
		vector []int64
		ok     bool
	}{
		{1, []int64{1}, false},
		{1, []int64{1, 2, 3}, false},
		{1, []int64{limit + 1, 0}, false},
		{1, []int64{0, -limit - 1}, false},
		{1, []int64{0, -1 << 63}, false},
		{0, []int64{1, 2}, false},
		{2, []int64{1, 2}, false},
		{1, []int64{limit, -limit}, true},
		{1, []int64{1, 2}, false},
		{2, []int64{1, 2}, false},
	} {
		out, err := e.Contribute(c.round, c.vector)
		if (err == nil) != c.ok || (out != nil) != c.ok {
			t.Errorf("round %d, %v: %d outputs, %v", c.round, c.vector, len(out), err)
		}
	}
	unstarted, err := New(e.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unstarted.Contribute(1, []int64{1, 2}); err == nil {
		t.Error("a contribution before the journal was replayed")
	}
}

func TestTheLargestSumFits(t *testing.T) {
	cfg := configOf(t, 3, committeeOf(t, 3, 1))
	w := newWorld(t, cfg, 12)
	for i := range w.agents {
		e := w.agents[i].exchange
		out, err := e.Contribute(1, []int64{e.cfg.MaxValue(), -e.cfg.MaxValue()})
		if err != nil {
			t.Fatal(err)
		}
		w.carry(i, out)
	}
	w.pass(time.Second)
	want := 3 * w.agents[0].exchange.cfg.MaxValue()
	if o := w.agents[0].outcomes; len(o) != 1 || o[0].Sum[0] != want || o[0].Sum[1] != -want {
		t.Errorf("%+v", o)
	}
}

// Without its records an agent would vote or contribute twice.
func TestAnUnreadableRecordSilences(t *testing.T) {
	cfg := configOf(t, 3, committeeOf(t, 3, 1))
	cfg.Self, cfg.Sign, cfg.Random = cfg.Roster[0], testSign(cfg.Roster[0]), rand.Reader
	good, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	short := record{kind: recordVoted, round: 1, digest: good.shape.digest, signature: make([]byte, 64)}
	beyond := record{kind: recordDisqualified, round: 1, digest: good.shape.digest, dealer: 3}
	for _, data := range [][]byte{{}, {1, 9, 0, 0, 0, 0, 0, 0, 0, 1}, short.encode(), beyond.encode()} {
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e.Step(strategy.View{}, strategy.Replayed{Data: data})
		out := e.Step(strategy.View{}, strategy.Start{})
		if len(out) != 1 || !errors.Is(out[0].(strategy.Result).Value.(Outcome).Err, ErrJournal) {
			t.Errorf("%v: %v", data, out)
		}
		if _, err := e.Contribute(1, []int64{1, 2}); !errors.Is(err, ErrJournal) {
			t.Errorf("%v: %v", data, err)
		}
		if _, ok := e.Next(); ok {
			t.Errorf("%v: there is a next round", data)
		}
	}
}

func TestSumWithEd25519Keys(t *testing.T) {
	cfg := configOf(t, 4, committeeOf(t, 4, 1))
	keys := withKeys(t, &cfg, 4)
	w := newWorld(t, cfg, 13)
	for i, a := range w.agents {
		a.exchange.cfg.Sign = Signer(keys[cfg.Roster[i]])
		a.exchange.cfg.Random = rand.Reader
	}
	for i := range w.agents {
		w.contribute(i)
	}
	w.pass(time.Second)
	w.everybodyGot(1, 4)
	signature, _ := keys[cfg.Roster[0]].Sign([]byte("this"))
	if !Verify(cfg.Roster[0], []byte("this"), signature) || Verify(cfg.Roster[0], []byte("that"), signature) || Verify(cfg.Roster[1], []byte("this"), signature) || Verify("nobody", nil, nil) {
		t.Error("signatures are not told apart")
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	good := configOf(t, 7, committeeOf(t, 5, 2))
	good.Self, good.Sign, good.Random = good.Roster[0], testSign(good.Roster[0]), rand.Reader
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		complaint string
		change    func(*Config)
	}{
		{"no task", func(c *Config) { c.Task = cid.Undef }},
		{"quorum 3", func(c *Config) { c.Committee.Quorum = 3 }},
		{"itself", func(c *Config) { c.Self = "nobody" }},
		{"twice", func(c *Config) { c.Roster[1] = c.Roster[0] }},
		{"cannot fill", func(c *Config) { c.Roster = c.Roster[:4] }},
		{"roster of 1025", func(c *Config) { c.Roster = rosterOf(1025) }},
		{"at least 2 contributors", func(c *Config) { c.MinContributors = 2 }},
		{"at least 8 contributors", func(c *Config) { c.MinContributors = 8 }},
		{"vectors of 0", func(c *Config) { c.Dimension = 0 }},
		{"vectors of 30001", func(c *Config) { c.Dimension = 30_001 }},
		{"up to 8388608 numbers", func(c *Config) { c.Roster, c.Dimension = rosterOf(1000), 10_000 }},
		{"0 rounds", func(c *Config) { c.Rounds = 0 }},
		{"at least 2 agreeing", func(c *Config) { c.MinAnswers = 2 }},
		{"at least 5 agreeing", func(c *Config) { c.MinAnswers = 5 }},
		{"are needed", func(c *Config) { c.Random = nil }},
		{"are needed", func(c *Config) { c.Sign = nil }},
		{"are needed", func(c *Config) { c.Verify = nil }},
		{"interval", func(c *Config) { c.Interval = -1 }},
		{"turn 1", func(c *Config) { c.Turn = 1 }},
		{"deadline after 11", func(c *Config) { c.Deadline = 11 }},
	} {
		cfg := good
		cfg.Roster = slices.Clone(good.Roster)
		c.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%v, want something about %q", err, c.complaint)
		}
	}
}

func TestNothingIsPublished(t *testing.T) {
	var e Exchange
	if _, err := e.Decode(nil); err == nil || e.Name() != Kind {
		t.Error("the exchange takes shares")
	}
}

// Whether a committee can meet shows without anything being begun: agents that answer do
// not open the round, and too few of them are not enough, nor are answers of long ago.
func TestWhoIsThereShowsBeforeARound(t *testing.T) {
	cfg := configOf(t, 7, committeeOf(t, 5, 1)) // a quorum of four
	w := newWorld(t, cfg, 3)
	committee := w.elected(1)
	asker, far := committee[0], committee[3:]
	cut := true
	w.lose = func(from, to int) bool {
		return cut && (slices.Contains(far, from) || slices.Contains(far, to))
	}
	gather := func() bool {
		out, met := w.agents[asker].exchange.Gather()
		w.carry(asker, out)
		return met
	}
	for range 5 {
		if gather() {
			t.Fatal("three of five are a quorum of four")
		}
		w.pass(cfg.Interval + 2*time.Second)
	}
	cut = false
	gather()
	w.pass(2 * time.Second)
	gather()
	w.pass(time.Second)
	if !gather() {
		t.Fatal("everybody is there, and the committee is not")
	}
	cut = true
	w.pass(time.Minute)
	if gather() {
		t.Error("answers of a minute ago count")
	}
	for i, a := range w.agents {
		if a.exchange.current != nil || len(a.journal) > 0 {
			t.Errorf("agent %d has begun a round", i)
		}
	}
}

// Who was away calls the committees of rounds that are past. Nobody says that it is there for
// these, so that nothing is spent on them: the caller learns of the round that is next.
func TestCallsForPastRoundsAreNotAnswered(t *testing.T) {
	for _, rounds := range []uint64{1, 3} {
		w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 1)), 3)
		const late = 0
		away := true
		w.lose = func(from, to int) bool { return away && (from == late || to == late) }
		for range rounds {
			for i := range w.agents {
				if i != late {
					w.contribute(i)
				}
			}
			w.pass(w.length())
		}
		for i, a := range w.agents {
			if next, _ := a.exchange.Next(); i != late && next != rounds+1 {
				t.Fatalf("agent %d is before round %d", i, next)
			}
		}
		away = false
		a := w.agents[late]
		for range 30 {
			out, met := a.exchange.Gather()
			w.carry(late, out)
			next, _ := a.exchange.Next()
			if met && next <= rounds {
				t.Fatalf("the committee of round %d can meet after %d", next, rounds)
			}
			if met {
				break
			}
			w.pass(2 * time.Second)
		}
		if next, _ := a.exchange.Next(); next != rounds+1 || a.exchange.memory.dealt {
			t.Errorf("after %d rounds without the agent its next is %d", rounds, next)
		}
	}
}

// A peer with another version of the messages is named, once.
func TestUnlikeVersionsAreNamed(t *testing.T) {
	w := newWorld(t, configOf(t, 5, committeeOf(t, 5, 1)), 1)
	data := w.agents[0].exchange.shape.encode(message{round: 1, kind: kindCall})
	data[0] = 1
	for range 3 {
		w.step(0, strategy.Direct{From: w.cfg.Roster[1], Data: data})
		w.step(0, strategy.Direct{From: "a stranger", Data: data})
	}
	if got := w.agents[0].warnings; len(got) != 1 || !strings.Contains(got[0], "of version 1, and this node's are of version 3") {
		t.Errorf("warnings %q", got)
	}
}

// A committee that never meets holds later rounds up for two rounds' time, and costs nothing.
func TestARoundWithoutACommitteeIsPassedOver(t *testing.T) {
	w := newWorld(t, configOf(t, 7, committeeOf(t, 5, 1)), 3)
	for _, i := range w.elected(1)[:2] { // one more than a quorum bears
		w.crash(i)
	}
	for range 2 * (w.agents[w.elected(1)[4]].exchange.cfg.Deadline + 3) {
		for i, a := range w.agents {
			if a.alive && a.exchange.current == nil {
				out, met := a.exchange.Gather()
				if w.carry(i, out); met {
					t.Fatal("the committee has met")
				}
			}
		}
		w.pass(2 * time.Second)
	}
	for i, a := range w.agents {
		if !a.alive {
			continue
		}
		if next, ok := a.exchange.Next(); !ok || next != 2 || a.exchange.memory.dealt || len(a.outcomes) != 1 || a.outcomes[0].Err == nil {
			t.Errorf("agent %d: next round %d, %+v", i, next, a.outcomes)
		}
	}
}
