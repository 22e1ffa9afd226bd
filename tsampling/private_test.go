package tsampling

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

func privateTask(t testing.TB, keys, privacy string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{RegisterFTS(), alone.RegisterTS()}, `
name: secret
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 2}
strategy: {type: fts, initial_designs: 2%s}
privacy: {mechanism: local, %s}`, keys, privacy)
}

// teller drives an exchange whose draws the test sets.
type teller struct{ strategytest.Releaser }

func newTeller(t testing.TB, definition *task.Task, seed byte) *teller {
	t.Helper()
	exchange := strategytest.PrivateExchange(t, RegisterFTS(), definition, rand.NewChaCha8([32]byte{seed}))
	return &teller{strategytest.Releaser{T: t, Exchange: exchange, View: strategy.View{
		Task: definition, Self: "a",
		Results: map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"a", "b", "c"}, Agreed: true}},
	}}}
}

func (p *teller) drawn(values ...float64) {
	p.T.Helper()
	p.Step(strategy.WorkDone{Name: "draw", Result: values})
}

func TestNothingIsReleasedBeforePeersHaveTold(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
	p.Step(strategy.Start{})
	p.Observe(5)
	if len(p.Works) != 0 {
		t.Fatal("a draw before anybody has told what it holds")
	}
	p.Step(strategy.CaughtUp{Peer: "b"})
	if len(p.Works) != 0 {
		t.Fatal("a draw after one of two peers has told")
	}
	p.Step(strategy.CaughtUp{Peer: "c"})
	if len(p.Works) != 1 {
		t.Fatal("no draw although both have told")
	}
}

// Release r is due after 2 + 3(r-1) observations and says so, however late it is.
func TestReleasesFollowThePlan(t *testing.T) {
	p := newTeller(t, privateTask(t, ", share_every: 3", "epsilon: 4, releases: 2"), 1)
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.Step(strategy.CaughtUp{Peer: "c"})
	p.Observe(1)
	if len(p.Works) != 0 {
		t.Error("a draw after one observation")
	}
	p.Observe(1)
	p.drawn(1, 1)
	p.Observe(2)
	if len(p.Works) != 1 {
		t.Errorf("%d draws after four observations", len(p.Works))
	}
	p.Observe(4)
	p.drawn(1, 1)
	p.Observe(9)
	if len(p.Works) != 2 || len(p.Sent) != 2 || len(p.Records) != 2 {
		t.Fatalf("%d draws, %d shares and %d records of two releases", len(p.Works), len(p.Sent), len(p.Records))
	}
	for i, w := range p.Sent {
		if w.Release != i+1 || w.Observations != 2+3*i {
			t.Errorf("share %d is release %d on %d observations", i, w.Release, w.Observations)
		}
	}
}

// Imported trials make several releases due at once; each still waits for an
// observation of its own.
func TestReleasesThatAreDueTogether(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4, releases: 5"), 1)
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.View.Observations = 40
	p.Step(strategy.CaughtUp{Peer: "c"})
	p.drawn(1, 1)
	p.Step(strategy.Received{})
	if len(p.Sent) != 1 || len(p.Works) != 1 {
		t.Fatalf("%d shares and %d draws after one look at 40 observations", len(p.Sent), len(p.Works))
	}
	p.Observe(1)
	p.drawn(1, 1)
	if len(p.Sent) != 2 || p.Sent[1].Release != 2 {
		t.Errorf("after one more: %+v", p.Sent)
	}
}

// To say nothing would tell that the surrogate could not be fitted.
func TestNoDrawIsReleasedAsNoise(t *testing.T) {
	for name, result := range map[string]strategy.WorkDone{
		"nothing": {Name: "draw"}, "an error": {Name: "draw", Err: errors.New("singular")},
	} {
		p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
		p.Step(strategy.CaughtUp{Peer: "b"})
		p.Step(strategy.CaughtUp{Peer: "c"})
		p.Observe(2)
		p.Step(result)
		if len(p.Sent) != 1 || len(p.Records) != 1 || p.Sent[0].Values[0] == 0 {
			t.Errorf("%s: sent %+v, records %s", name, p.Sent, p.Records)
		}
	}
}

func TestARestartGoesOnWhereItWas(t *testing.T) {
	definition := privateTask(t, "", "epsilon: 4, releases: 2")
	p := newTeller(t, definition, 1)
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.Step(strategy.CaughtUp{Peer: "c"})
	p.Observe(2)
	p.drawn(1, 1)
	again := newTeller(t, definition, 2)
	for _, record := range p.Records {
		again.Step(strategy.Replayed{Data: record})
	}
	again.View.Observations = 9
	again.Step(strategy.Start{})
	again.Step(strategy.Echo{Share: strategy.Share{Value: p.Receipts[len(p.Receipts)-1]}})
	again.Step(strategy.CaughtUp{Peer: "b"})
	again.Step(strategy.CaughtUp{Peer: "c"})
	again.drawn(1, 1)
	again.Observe(5)
	if len(again.Sent) != 1 || again.Sent[0].Release != 2 || len(again.Works) != 1 {
		t.Errorf("after the restart %d shares, %d draws: %+v", len(again.Sent), len(again.Works), again.Sent)
	}
}

func TestARestoredJournalEndsSharing(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
	p.Step(strategy.Start{})
	p.View.Observations = 7
	p.Step(strategy.Echo{Share: strategy.Share{Value: protocol.Weights{Release: 3, Observations: 2, Values: []float64{1, 1}}}})
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.Step(strategy.CaughtUp{Peer: "c"})
	p.Observe(4)
	if len(p.Works) != 0 || len(p.Records) != 1 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "release 3") {
		t.Errorf("%d draws, records %s, warnings %q", len(p.Works), p.Records, p.Warnings)
	}
}

// A share of a task that promises nothing is not taken for a private one, nor the
// other way round, nor one beyond the plan.
func TestReleasesThatDoNotFitTheTask(t *testing.T) {
	private := newTeller(t, privateTask(t, "", "epsilon: 4, releases: 2"), 1).Exchange
	open := NewSharing(newTask(t, floats, "type: fts"))
	open.features = 2
	for release, want := range map[int][2]bool{0: {false, true}, 1: {true, false}, 2: {true, false}, 3: {false, false}} {
		payload, err := protocol.Weights{Observations: 1, Values: []float64{1, 2}, Release: release}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for i, exchange := range []strategy.Exchange{private, open} {
			if _, err := exchange.Decode(payload); (err == nil) != want[i] {
				t.Errorf("release %d, exchange %d: %v", release, i, err)
			}
		}
	}
}

// fault is a wrong release in place of clipped + noise; first is the noise of the first release.
type fault func(clipped, noise, first float64) float64

// shownBy returns the bound on ε of a task with the keys, by an audit of the published bytes of all
// releases. In the two worlds the draws are at opposite points beyond the clip norm, again in each
// release. The attacker adds up the released weights along the difference, which is the best test
// under Gaussian noise, and guesses by the sign. A fault, if not nil, changes the releases.
func shownBy(t *testing.T, runs int, keys string, wrong fault) float64 {
	t.Helper()
	const releases = 3
	definition := privateTask(t, "", fmt.Sprintf("epsilon: %g, delta: %g, releases: %d, clip: 1%s", strategytest.Guarantee().Epsilon, strategytest.Guarantee().Delta, releases, keys))
	return strategytest.Shown(t, RegisterFTS(), definition, runs, func(exchange strategy.Exchange, world int) int {
		p := &teller{strategytest.Releaser{T: t, Exchange: exchange}}
		sign, total, first, clipped := float64(1-2*world), 0.0, 0.0, 1.0
		for number := range releases {
			p.drawn(sign*clipped*40, 0)
			got := sign * p.Sent[number].Values[0]
			if wrong != nil {
				noise := got - clipped
				if number == 0 {
					first = noise
				}
				got = wrong(clipped, noise, first)
			}
			total += clipped * got
			clipped = -clipped
		}
		if total > 0 {
			return world
		}
		return 1 - world
	})
}

// 300 runs find half of the due noise, or less, in each of 4,000 simulated audits, and two thirds
// of it in 85 %.
func TestAuditOfReleases(t *testing.T) { checkAudit(t, 300, 0.3) }

// checkAudit audits the releases of a correct node.
func checkAudit(t *testing.T, runs int, power float64) {
	strategytest.Guarantee().Check(t, "releases", shownBy(t, runs, "", nil), true, power)
}

// TestAuditFindsFaults has one fault that breaks the guarantee by far.
func TestAuditFindsFaults(t *testing.T) {
	strategytest.Guarantee().Check(t, "no clip", shownBy(t, 300, "", noClip), false, 0)
}

func noClip(clipped, noise, _ float64) float64 { return 40*clipped + noise }
