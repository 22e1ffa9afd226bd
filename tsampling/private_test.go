package tsampling

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/audit"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/exchange/presence"
	"github.com/fbo-node/fbo/task"
)

func privateTask(t testing.TB, keys, privacy string) *task.Task {
	t.Helper()
	parsed, err := strategy.Set{RegisterFTS(), RegisterTS()}.Parse("task", fmt.Appendf(nil, `
name: secret
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 2}
strategy: {type: fts, initial_designs: 2%s}
privacy: {mechanism: local, %s}`, keys, privacy))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// teller drives an exchange under a promise, with views that the test sets.
type teller struct {
	t        testing.TB
	exchange strategy.Exchange
	view     strategy.View
	records  [][]byte
	sent     []protocol.Weights
	receipts []protocol.Receipt
	warnings []string
	works    int
}

func newTeller(t testing.TB, definition *task.Task, seed byte) *teller {
	t.Helper()
	exchange, err := NewSharing(definition, rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return &teller{t: t, exchange: exchange, view: strategy.View{
		Task: definition, Self: "a",
		Results: map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"a", "b", "c"}, Agreed: true}},
	}}
}

// step fails when a share leaves without its record before it.
func (p *teller) step(in strategy.Input) {
	p.t.Helper()
	recorded := false
	for _, output := range p.exchange.Step(p.view, in) {
		switch output := output.(type) {
		case strategy.Record:
			p.records = append(p.records, output.Data)
			recorded = true
		case strategy.Publish:
			if !recorded {
				p.t.Error("a share without a record before it")
			}
			if output.Ephemeral {
				p.t.Error("a share that the journal does not keep")
			}
			value, err := p.exchange.Decode(output.Payload)
			if err != nil {
				p.t.Fatal(err)
			}
			p.sent = append(p.sent, value.(protocol.Weights))
		case strategy.Receipt:
			r, err := protocol.DecodeReceipt(output.Payload, protocol.MaxReceipted)
			if err != nil {
				p.t.Fatal(err)
			}
			p.receipts = append(p.receipts, r)
		case strategy.Warn:
			p.warnings = append(p.warnings, output.Message)
		case strategy.Work:
			p.works++
		}
	}
}

func (p *teller) drawn(values ...float64) {
	p.t.Helper()
	p.step(strategy.WorkDone{Name: "draw", Result: values})
}

func (p *teller) observe(count int) {
	for range count {
		p.view.Observations++
		p.step(strategy.Told{})
	}
}

func TestNothingIsReleasedBeforePeersHaveTold(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
	p.step(strategy.Start{})
	p.observe(5)
	if p.works != 0 {
		t.Fatal("a draw before anybody has told what it holds")
	}
	p.step(strategy.CaughtUp{Peer: "b"})
	if p.works != 0 {
		t.Fatal("a draw after one of two peers has told")
	}
	p.step(strategy.CaughtUp{Peer: "c"})
	if p.works != 1 {
		t.Fatal("no draw although both have told")
	}
}

// Release r is due after 2 + 3(r-1) observations and says so, however late it is.
func TestReleasesFollowThePlan(t *testing.T) {
	p := newTeller(t, privateTask(t, ", share_every: 3", "epsilon: 4, releases: 2"), 1)
	p.step(strategy.CaughtUp{Peer: "b"})
	p.step(strategy.CaughtUp{Peer: "c"})
	p.observe(1)
	if p.works != 0 {
		t.Error("a draw after one observation")
	}
	p.observe(1)
	p.drawn(1, 1)
	p.observe(2)
	if p.works != 1 {
		t.Errorf("%d draws after four observations", p.works)
	}
	p.observe(4)
	p.drawn(1, 1)
	p.observe(9)
	if p.works != 2 || len(p.sent) != 2 || len(p.records) != 2 {
		t.Fatalf("%d draws, %d shares and %d records of two releases", p.works, len(p.sent), len(p.records))
	}
	for i, w := range p.sent {
		if w.Release != i+1 || w.Observations != 2+3*i {
			t.Errorf("share %d is release %d on %d observations", i, w.Release, w.Observations)
		}
	}
}

// Imported trials make several releases due at once; each still waits for an
// observation of its own.
func TestReleasesThatAreDueTogether(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4, releases: 5"), 1)
	p.step(strategy.CaughtUp{Peer: "b"})
	p.view.Observations = 40
	p.step(strategy.CaughtUp{Peer: "c"})
	p.drawn(1, 1)
	p.step(strategy.Received{})
	if len(p.sent) != 1 || p.works != 1 {
		t.Fatalf("%d shares and %d draws after one look at 40 observations", len(p.sent), p.works)
	}
	p.observe(1)
	p.drawn(1, 1)
	if len(p.sent) != 2 || p.sent[1].Release != 2 {
		t.Errorf("after one more: %+v", p.sent)
	}
}

// To say nothing would tell that the surrogate could not be fitted.
func TestNoDrawIsReleasedAsNoise(t *testing.T) {
	for name, result := range map[string]strategy.WorkDone{
		"nothing": {Name: "draw"}, "an error": {Name: "draw", Err: errors.New("singular")},
	} {
		p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
		p.step(strategy.CaughtUp{Peer: "b"})
		p.step(strategy.CaughtUp{Peer: "c"})
		p.observe(2)
		p.step(result)
		if len(p.sent) != 1 || len(p.records) != 1 || p.sent[0].Values[0] == 0 {
			t.Errorf("%s: sent %+v, records %s", name, p.sent, p.records)
		}
	}
}

func TestARestartGoesOnWhereItWas(t *testing.T) {
	definition := privateTask(t, "", "epsilon: 4, releases: 2")
	p := newTeller(t, definition, 1)
	p.step(strategy.CaughtUp{Peer: "b"})
	p.step(strategy.CaughtUp{Peer: "c"})
	p.observe(2)
	p.drawn(1, 1)
	again := newTeller(t, definition, 2)
	for _, record := range p.records {
		again.step(strategy.Replayed{Data: record})
	}
	again.view.Observations = 9
	again.step(strategy.Start{})
	again.step(strategy.Echo{Share: strategy.Share{Value: p.receipts[len(p.receipts)-1]}})
	again.step(strategy.CaughtUp{Peer: "b"})
	again.step(strategy.CaughtUp{Peer: "c"})
	again.drawn(1, 1)
	again.observe(5)
	if len(again.sent) != 1 || again.sent[0].Release != 2 || again.works != 1 {
		t.Errorf("after the restart %d shares, %d draws: %+v", len(again.sent), again.works, again.sent)
	}
}

func TestARestoredJournalEndsSharing(t *testing.T) {
	p := newTeller(t, privateTask(t, "", "epsilon: 4"), 1)
	p.step(strategy.Start{})
	p.view.Observations = 7
	p.step(strategy.Echo{Share: strategy.Share{Value: protocol.Weights{Release: 3, Observations: 2, Values: []float64{1, 1}}}})
	p.step(strategy.CaughtUp{Peer: "b"})
	p.step(strategy.CaughtUp{Peer: "c"})
	p.observe(4)
	if p.works != 0 || len(p.records) != 1 || len(p.warnings) != 1 || !strings.Contains(p.warnings[0], "release 3") {
		t.Errorf("%d draws, records %s, warnings %q", p.works, p.records, p.warnings)
	}
}

// A share of a task that promises nothing is not taken for a private one, nor the
// other way round, nor one beyond the plan.
func TestReleasesThatDoNotFitTheTask(t *testing.T) {
	private := newTeller(t, privateTask(t, "", "epsilon: 4, releases: 2"), 1).exchange
	open, err := NewSharing(newTask(t, floats, "type: fts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	open.(*Sharing).features = 2
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

// guarantee is the privacy that the audited tasks claim.
var guarantee = audit.Guarantee{Epsilon: 4, Delta: 0.005}

// fault is a wrong release in place of clipped + noise; first is the noise of the first release.
type fault func(clipped, noise, first float64) float64

// shownBy returns the bound on ε of a task with the keys, by an audit of the published bytes of all
// releases. In the two worlds the draws are at opposite points beyond the clip norm, again in each
// release. The attacker adds up the released weights along the difference, which is the best test
// under Gaussian noise, and guesses by the sign. A fault, if not nil, changes the releases.
func shownBy(t *testing.T, runs int, keys string, wrong fault) float64 {
	t.Helper()
	const releases = 3
	definition := privateTask(t, "", fmt.Sprintf("epsilon: %g, delta: %g, releases: %d, clip: 1%s", guarantee.Epsilon, guarantee.Delta, releases, keys))
	source := rand.NewChaCha8([32]byte{3})
	return guarantee.Shown(runs, func(world int) int {
		exchange, err := NewSharing(definition, source)
		if err != nil {
			t.Fatal(err)
		}
		p := &teller{t: t, exchange: exchange}
		sign, total, first, clipped := float64(1-2*world), 0.0, 0.0, 1.0
		for number := range releases {
			p.drawn(sign*clipped*40, 0)
			got := sign * p.sent[number].Values[0]
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
	guarantee.Check(t, "releases", shownBy(t, runs, "", nil), true, power)
}

// TestAuditFindsFaults has one fault that breaks the guarantee by far.
func TestAuditFindsFaults(t *testing.T) {
	guarantee.Check(t, "no clip", shownBy(t, 300, "", noClip), false, 0)
}

func noClip(clipped, noise, _ float64) float64 { return 40*clipped + noise }
