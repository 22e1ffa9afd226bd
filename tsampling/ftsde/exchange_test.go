package ftsde

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Of a roster of six four must contribute; the first round is due after two
// observations, and the node is one of those present.
func TestWhenARoundIsBegun(t *testing.T) {
	for name, c := range map[string]struct {
		observations, present, told int
		want                        bool
	}{
		"all is there":              {2, 6, 5, true},
		"just enough":               {2, 4, 2, true},
		"most have told":            {2, 6, 3, true},
		"not due":                   {1, 6, 5, false},
		"long due":                  {40, 6, 5, true},
		"too few are present":       {2, 3, 2, false},
		"alone":                     {2, 1, 0, false},
		"too few have told":         {2, 6, 2, false},
		"nobody has told":           {2, 6, 0, false},
		"those who told are absent": {2, 1, 5, false},
	} {
		definition := newTask(t, setting{nodes: 6, privacy: "min_contributors: 4, committee: 4"})
		n := newNode(t, definition, 1)
		n.present(definition.Privacy.Aggregate.Roster[:c.present]...)
		n.step(strategy.Start{})
		n.caughtUp(c.told)
		n.observe(c.observations)
		if got := len(n.works) > 0; got != c.want {
			t.Errorf("%s: begun is %v", name, got)
		}
	}
}

// Whatever is missing, the round is begun once it is there.
func TestARoundIsBegunByWhateverComesLast(t *testing.T) {
	definition := newTask(t, setting{nodes: 6, privacy: "min_contributors: 4, committee: 4"})
	roster := definition.Privacy.Aggregate.Roster
	deeds := map[string]func(n *node){
		"observed": func(n *node) { n.observe(2) },
		"told":     func(n *node) { n.caughtUp(5) },
		"present":  func(n *node) { n.present(roster...); n.step(strategy.Timer{Name: "tick"}) },
	}
	for last := range deeds {
		n := newNode(t, definition, 1)
		n.present(roster[0])
		n.step(strategy.Start{})
		for name, do := range deeds {
			if name != last {
				do(n)
			}
		}
		if len(n.works) > 0 {
			t.Fatalf("begun although %s is missing", last)
		}
		deeds[last](n)
		if len(n.works) != 1 {
			t.Errorf("%d vectors are drawn once %s is there", len(n.works), last)
		}
	}
}

// Who is not on the roster contributes to nothing: that one is present is no help,
// and neither does it count that one has told nothing, or that one says so.
func TestStrangersNeitherHelpNorHinder(t *testing.T) {
	definition := newTask(t, setting{nodes: 6, privacy: "min_contributors: 4, committee: 4"})
	roster := definition.Privacy.Aggregate.Roster
	var strangers []peer.ID
	for _, name := range []string{"p", "q", "r", "s", "t", "u", "v"} {
		strangers = append(strangers, peer.ID(name))
	}
	for name, c := range map[string]struct {
		present, told int
		lies          bool
		want          bool
	}{
		"they are no contributors":  {3, 2, true, false},
		"they cannot block a round": {4, 3, false, true},
		"they cannot vouch":         {4, 1, true, false},
	} {
		n := newNode(t, definition, 1)
		n.present(slices.Concat(roster[:c.present], strangers)...)
		n.caughtUp(c.told)
		if c.lies {
			for _, id := range strangers {
				n.step(strategy.CaughtUp{Peer: id})
			}
		}
		n.observe(5)
		if got := len(n.works) > 0; got != c.want {
			t.Errorf("%s: begun is %v", name, got)
		}
	}
}

// However many strangers say that they have told all, the node still hears those of
// the roster.
func TestStrangersDoNotFillTheLedger(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	for i := range 5000 {
		n.exchange.Step(n.view, strategy.CaughtUp{Peer: peer.ID(fmt.Sprint("stranger ", i))})
	}
	n.caughtUp(3)
	if n.observe(2); n.pending() != 1 {
		t.Error("no round is begun")
	}
}

// Round r is due after 2 + 3(r-1) observations. The sum says so and not how many a
// node has.
func TestRoundsFollowThePlan(t *testing.T) {
	n := newNode(t, newTask(t, setting{strategy: "share_every: 3", privacy: "releases: 3"}), 1)
	n.caughtUp(3)
	var begun []int
	for n.view.Observations < 20 {
		n.observe(1)
		if n.pending() > 0 {
			begun = append(begun, n.view.Observations)
			n.finish()
			n.sum.closed = false
			n.sum.round++
		}
	}
	if !slices.Equal(begun, []int{2, 5, 8}) {
		t.Errorf("rounds were begun after %v observations", begun)
	}
	want := []protocol.Contribution{{Release: 1, Round: 1}, {Release: 2, Round: 2}, {Release: 3, Round: 3}}
	if !slices.Equal(n.shares, want) || n.result.Released != 3 || n.result.Planned != 3 {
		t.Errorf("shares %v, state %+v", n.shares, n.result.State)
	}
}

// Imported trials make several rounds due at once; the node begins one for each
// observation, and joins those of others as ever.
func TestRoundsThatAreDueTogether(t *testing.T) {
	n := newNode(t, newTask(t, setting{strategy: "share_every: 1"}), 1)
	n.view.Observations = 40
	n.caughtUp(3)
	n.finish()
	next := func() {
		n.sum.closed = false
		n.sum.round++
		n.step(strategy.Timer{Name: "tick"})
		n.finish()
	}
	if next(); len(n.sum.given) != 1 {
		t.Fatalf("gave %v at 40 observations", n.sum.given)
	}
	n.observe(1)
	if n.finish(); len(n.sum.given) != 2 {
		t.Fatalf("gave %v at 41 observations", n.sum.given)
	}
	if next(); len(n.sum.given) != 2 {
		t.Fatalf("gave %v at 41 observations", n.sum.given)
	}
	n.sum.underway = true
	if n.step(strategy.Timer{Name: "tick"}); n.pending() != 1 {
		t.Error("did not join")
	}
}

// Rounds that others begin, a node joins however little it knows: with zeros and
// noise while it has no model. The share tells how many vectors it has given, which
// is fewer than rounds where it missed some.
func TestOthersRoundsAreJoined(t *testing.T) {
	definition := newTask(t, setting{strategy: "share_every: 3, cells: 2"})
	n := newNode(t, definition, 1)
	n.caughtUp(3)
	n.sum.round = 4
	if n.step(strategy.Direct{From: "b", Data: []byte("ours")}); len(n.works) != 0 {
		t.Fatal("a vector for a round that nobody has begun")
	}
	n.sum.underway = true
	n.step(strategy.Direct{From: "b", Data: []byte("ours")})
	n.finish()
	if len(n.sum.given) != 1 || n.sum.given[0].round != 4 || !slices.Equal(n.shares, []protocol.Contribution{{Release: 1, Round: 4}}) {
		t.Fatalf("gave %v, shares %v", n.sum.given, n.shares)
	}
	if v := n.vector(n.view, [32]byte{}, 4, 0); norm(v) != 0 {
		t.Errorf("without a model the vector is %v", v)
	}
	terms, vector := n.exchange.ledger.Terms, n.sum.given[0].vector
	for i, w := range terms.Weights(vector) {
		// Beyond six deviations once in 10^8 draws of four, and exactly zero never.
		if w == 0 || w > 6*terms.Sigma || w < -6*terms.Sigma {
			t.Errorf("number %d is %g, the noise has deviation %g", i, w, terms.Sigma)
		}
	}
}

func TestOneVectorAtATime(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.caughtUp(3)
	n.observe(9)
	if n.pending() != 1 {
		t.Fatalf("%d vectors are being drawn", n.pending())
	}
	n.finish()
	n.observe(9)
	if len(n.works) != 1 || len(n.sum.given) != 1 {
		t.Errorf("%d vectors drawn, %d given to one round", len(n.works), len(n.sum.given))
	}
}

// The order of a step is that of its safety: the debit, then the share that tells
// it, then what the sum records and sends.
func TestTheDebitIsFirst(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.caughtUp(3)
	n.observe(2)
	n.finish()
	if len(n.outputs) < 4 {
		t.Fatalf("outputs %v", n.outputs)
	}
	debit, dealt := recordAt(n.outputs, 0), recordAt(n.outputs, 2)
	if !bytes.HasPrefix(Debit(debit), []byte(`{"release":1,`)) {
		t.Errorf("the first output is %q", debit)
	}
	publish, _ := n.outputs[1].(strategy.Publish)
	if publish.Ephemeral || publish.Slot != 0 || publish.TTL != protocol.MaxTTL {
		t.Errorf("the share is %+v: a restart, however late, must find it with peers", publish)
	}
	if string(dealt) != "sdealt" || Debit(dealt) != nil {
		t.Errorf("the record of the sum is %q", dealt)
	}
	if _, ok := n.outputs[3].(strategy.Send); !ok {
		t.Errorf("output 4 is %T", n.outputs[3])
	}
	receipt, _ := n.outputs[4].(strategy.Receipt)
	if r, err := protocol.DecodeReceipt(receipt.Payload, 10); err != nil || len(r.Releases) != 1 || !bytes.Contains(debit, fmt.Appendf(nil, "%x", r.Releases[0])) {
		t.Errorf("the receipt says %v, %v; the debit is %s", r, err, debit)
	}
}

func TestAResultThatComesTooLateSpendsNothing(t *testing.T) {
	for name, late := range map[string]func(n *node){
		"the next round has begun": func(n *node) { n.sum.round = 2 },
		"there is no round":        func(n *node) { n.sum.closed = true },
		"there is no result": func(n *node) {
			n.done = len(n.works)
			n.step(strategy.WorkDone{Name: "vector", Err: errors.New("interrupted")})
		},
		"the ledger has refused": func(n *node) {
			n.step(strategy.Echo{Share: strategy.Share{Value: protocol.Contribution{Release: 7, Round: 7}}})
		},
	} {
		n := newNode(t, newTask(t, setting{}), 1)
		n.caughtUp(3)
		n.observe(2)
		late(n)
		n.done = max(n.done, 1)
		if name != "there is no result" {
			n.step(strategy.WorkDone{Name: "vector", Result: drawn{1, make([]float64, 2)}})
		}
		if state := n.exchange.ledger.State(); state.Released != map[bool]int{true: 7}[name == "the ledger has refused"] || len(n.sum.given) != 0 || len(n.shares) != 0 {
			t.Errorf("%s: state %+v, given %v", name, state, n.sum.given)
		}
		if want := map[bool]int{true: 1}[name == "the ledger has refused"]; len(n.warnings) != want {
			t.Errorf("%s: warnings %q", name, n.warnings)
		}
	}
}

// After a result that came too late the next round is drawn for as ever.
func TestTheNextVectorIsDrawnAfterALateOne(t *testing.T) {
	n := newNode(t, newTask(t, setting{strategy: "share_every: 1"}), 1)
	n.caughtUp(3)
	n.observe(4)
	n.sum.round = 2
	n.finish()
	if len(n.works) != 2 || len(n.sum.given) != 1 || n.sum.given[0].round != 2 || n.shares[0] != (protocol.Contribution{Release: 1, Round: 2}) {
		t.Errorf("%d works, given %v, shares %v", len(n.works), n.sum.given, n.shares)
	}
}

// A vector that cannot be drawn, as in a round that others have begun, is drawn again
// when something happens and not because it failed.
func TestAVectorThatFailsIsNotDrawnAgainAtOnce(t *testing.T) {
	for name, happens := range map[string]strategy.Input{
		"an observation": strategy.TrialsEnded{},
		"a tick":         strategy.Timer{Name: "tick"},
		"a message":      strategy.Direct{From: "b", Data: []byte("ours")},
	} {
		n := newNode(t, newTask(t, setting{}), 1)
		n.caughtUp(3)
		n.sum.underway = true
		n.step(strategy.Timer{Name: "tick"})
		n.done = len(n.works)
		n.step(strategy.WorkDone{Name: "vector", Err: errors.New("out of memory")})
		if len(n.works) != 1 {
			t.Fatalf("%d works after a failure, wanted the one that failed", len(n.works))
		}
		n.step(happens)
		n.finish()
		if len(n.works) != 2 || len(n.sum.given) != 1 {
			t.Errorf("%s: %d works, given %v", name, len(n.works), n.sum.given)
		}
	}
}

// A vector that the sum refuses is spent, for it may have been seen; further ones
// would fare no better.
func TestAContributionThatFailsIsTheLast(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.caughtUp(3)
	n.sum.fails = true
	n.observe(2)
	n.finish()
	n.sum.fails = false
	n.observe(20)
	if len(n.works) != 1 || n.result.Released != 1 || Debit(n.records[0]) == nil {
		t.Errorf("%d works, state %+v, records %q", len(n.works), n.result.State, n.records)
	}
	if len(n.warnings) != 1 || !strings.Contains(n.warnings[0], "too large a number") {
		t.Errorf("warnings %q", n.warnings)
	}
}

func TestNoMoreThanPlanned(t *testing.T) {
	n := newNode(t, newTask(t, setting{strategy: "share_every: 1", privacy: "releases: 2"}), 1)
	n.caughtUp(3)
	for n.sum.round < 30 {
		n.observe(1)
		n.finish()
		if n.sum.closed || n.exchange.ledger.State().Released == 2 {
			n.sum.closed = false
			n.sum.round++
		}
	}
	if len(n.sum.given) != 2 || len(n.shares) != 2 || len(n.works) != 2 {
		t.Errorf("%d vectors drawn, %d given, %d shares of 2 planned", len(n.works), len(n.sum.given), len(n.shares))
	}
}

// A failed round counts as such, and what is shown tells why.
func TestARoundThatFails(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.step(strategy.Start{})
	n.sum.says = []strategy.Output{strategy.Result{Value: securesum.Outcome{Round: 1, Err: securesum.ErrTooFewContributors}}}
	n.step(strategy.Timer{Name: "tick"})
	if n.result.Failed != 1 || n.result.Reason != securesum.ErrTooFewContributors.Error() || len(n.result.Sums) != 0 || len(n.records) != 0 {
		t.Errorf("result %+v, records %q", n.result, n.records)
	}
}

// What a sum asks for is carried out; its records are told from the ledger's.
func TestTheSumSpeaksThroughTheExchange(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.sum.says = []strategy.Output{
		strategy.Record{Data: []byte(`{"release":9,"name":"0000000000000009"}`)}, strategy.Send{To: "b", Data: []byte("x")}, strategy.SetTimer{Name: "tick"},
	}
	n.step(strategy.Start{})
	if len(n.outputs) != 6 || string(n.records[0]) != `s{"release":9,"name":"0000000000000009"}` {
		t.Fatalf("outputs %v, records %q", n.outputs, n.records)
	}
	again := newNode(t, n.view.Task, 1)
	again.step(strategy.Replayed{Data: n.records[0]})
	if got := again.sum.seen; len(got) != 1 || string(got[0].(strategy.Replayed).Data) != `{"release":9,"name":"0000000000000009"}` {
		t.Errorf("the sum was told %v", got)
	}
	if state := again.exchange.ledger.State(); state.Released != 0 || !again.exchange.ledger.Open() {
		t.Errorf("the ledger stands at %+v", state)
	}
}

func TestContributionsThatTheTaskDoesNotPlan(t *testing.T) {
	e := newNode(t, newTask(t, setting{privacy: "releases: 3"}), 1).exchange
	for round, want := range map[int]bool{1: true, 3: true, 4: false} {
		payload, err := protocol.Contribution{Release: 1, Round: round}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decode(payload); (err == nil) != want || !want && !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("round %d of 3: %v", round, err)
		}
	}
	if _, err := e.Decode([]byte{0xff}); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("bytes that are none: %v", err)
	}
}

func TestWhoMayTakePart(t *testing.T) {
	definition := newTask(t, setting{})
	stranger := fbotest.RosterKeys(t, 9)[8]
	for _, key := range fbotest.RosterKeys(t, 9) {
		if !slices.Contains(definition.Privacy.Aggregate.Roster, fbotest.PeerID(t, key)) {
			stranger = key
		}
	}
	if _, err := NewExchange(definition, stranger, entropy(1)); err == nil || !strings.Contains(err.Error(), "is not on the task's roster") {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := NewExchange(definition, fbotest.RosterKeys(t, 4)[0], nil); err == nil {
		t.Error("an exchange without a source of noise")
	}
	definition.Privacy.Epsilon, definition.Privacy.Delta, definition.Privacy.Releases = 0.01, privacy.MinDelta, 1000
	if _, err := NewExchange(definition, fbotest.RosterKeys(t, 4)[0], entropy(1)); err == nil {
		t.Error("a promise that cannot be kept")
	}
	e, err := NewExchange(newTask(t, setting{}), fbotest.RosterKeys(t, 4)[0], entropy(1))
	if err != nil || e.Name() != protocol.AggregateKind {
		t.Errorf("the exchange %v, %v", e, err)
	}
}

// Without a committee nothing is spent, also when it goes while the vector is computed; the
// round is begun once it is there, without another observation.
func TestNothingIsSpentWithoutACommittee(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	n.caughtUp(3)
	n.sum.deserted = true
	n.observe(2)
	for range 5 {
		n.step(strategy.Timer{Name: beatTimer})
	}
	if n.pending() != 0 || len(n.warnings) != 1 || !strings.Contains(n.warnings[0], "spends nothing") {
		t.Fatalf("%d vectors, warnings %q", n.pending(), n.warnings)
	}
	n.sum.deserted = false
	n.step(strategy.Timer{Name: "tick"})
	if n.pending() != 1 {
		t.Fatal("the round is not begun")
	}
	n.sum.deserted = true
	n.finish()
	if state := n.exchange.ledger.State(); len(n.sum.given) != 0 || state.Released != 0 {
		t.Fatalf("given %v, %+v", n.sum.given, state)
	}
	n.sum.deserted = false
	n.step(strategy.Timer{Name: "tick"})
	n.finish()
	if state := n.exchange.ledger.State(); len(n.sum.given) != 1 || state.Released != 1 {
		t.Errorf("given %v, %+v", n.sum.given, state)
	}
}

// Dealers of wrong parts are named once, also where a round has no sum, and a node that is
// one itself says so.
func TestTheDisqualifiedAreNamedOnce(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	roster := n.view.Task.Privacy.Aggregate.Roster
	self := slices.Index(roster, n.view.Self)
	other := roster[(self+1)%len(roster)]
	for _, o := range []securesum.Outcome{
		{Round: 1, Err: securesum.ErrNoCertificate, Disqualified: []peer.ID{other}},
		{Round: 2, Sum: make([]int64, n.exchange.numbers()), Contributors: roster, Disqualified: []peer.ID{other, n.view.Self}},
	} {
		n.sum.says = []strategy.Output{strategy.Result{Value: o}}
		n.step(strategy.Timer{Name: "tick"})
	}
	if len(n.warnings) != 2 || !strings.Contains(n.warnings[0], "node "+other.String()) || !strings.Contains(n.warnings[1], "this node") || len(n.result.Sums) != 1 {
		t.Errorf("warnings %q, %d sums", n.warnings, len(n.result.Sums))
	}
}

// Whose answers were outvoted is said once, and the sum counts.
func TestTheOutvotedAreNamedOnce(t *testing.T) {
	n := newNode(t, newTask(t, setting{}), 1)
	roster := n.view.Task.Privacy.Aggregate.Roster
	for round := uint64(1); round <= 2; round++ {
		n.sum.says = []strategy.Output{strategy.Result{Value: securesum.Outcome{
			Round: round, Sum: make([]int64, n.exchange.numbers()), Contributors: roster, Outvoted: roster[2:3],
		}}}
		n.step(strategy.Timer{Name: "tick"})
	}
	if len(n.warnings) != 1 || !strings.Contains(n.warnings[0], roster[2].String()) || len(n.result.Sums) != 2 {
		t.Errorf("warnings %q, %d sums", n.warnings, len(n.result.Sums))
	}
}
