package dprelease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// pair is the strategy of the tests: it releases two numbers.
type pair struct{}

func (pair) Keys() map[string]any            { return nil }
func (pair) Release(*task.Task) task.Release { return task.Release{Numbers: 2, Norm: 1} }

// driver drives an exchange and does its work at once.
type driver struct{ strategytest.Releaser }

func newDriver(t testing.TB, planned int) *driver {
	t.Helper()
	read := func(*task.Section) task.StrategySettings { return pair{} }
	parsed, err := task.Parse("task", fmt.Appendf(nil, "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"+
		"strategy: {type: pair}\nprivacy: {mechanism: local, epsilon: 4, releases: %d}\n", planned),
		[]task.StrategyType{{Name: "pair", Settings: read, Mechanism: task.MechanismLocal}})
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := New(parsed, rand.NewChaCha8([32]byte{1}), func(ledger.Terms) Spec {
		due := func(release int) int { return 3 + 2*(release-1) }
		return Spec{
			Kind:   "pair",
			TTL:    protocol.MaxTTL,
			Due:    due,
			Decode: func(payload []byte) (any, error) { return protocol.DecodeWeights(payload, 2) },
			Number: func(value any) int { w, _ := value.(protocol.Weights); return w.Release },
			Vector: func(_ context.Context, view strategy.View, _ random.Seed) ([]float64, error) {
				return []float64{float64(view.Observations), 0}, nil
			},
			Payload: func(noisy []float64, release int) ([]byte, error) {
				return protocol.Weights{Observations: due(release), Values: noisy, Release: release}.Encode()
			},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &driver{strategytest.Releaser{T: t, Exchange: exchange, View: strategy.View{Task: parsed, Self: "a",
		Results: map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"a", "b"}, Agreed: true}}}}}
}

// observe adds count observations and does the work that they ask for.
func (p *driver) observe(count int) {
	p.T.Helper()
	for range count {
		p.Observe(1)
		for len(p.Works) > 0 {
			work := p.Works[0]
			p.Works = p.Works[1:]
			result, err := work.Run(p.T.Context(), p.View, random.SeedOf(1))
			p.Step(strategy.WorkDone{Name: work.Name, Result: result, Err: err})
		}
	}
}

// Releases come when they are due, say so, and end when the plan is spent.
func TestThePlanIsKeptAndEnds(t *testing.T) {
	p := newDriver(t, 2)
	p.Step(strategy.Start{})
	p.observe(4)
	if len(p.Sent) != 0 {
		t.Fatal("a release before a peer has published what it holds")
	}
	p.View.Observations = 0
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.observe(2)
	if len(p.Sent) != 0 {
		t.Fatal("a release before it is due")
	}
	p.observe(1)
	p.observe(1)
	if len(p.Sent) != 1 {
		t.Fatalf("%d releases after four observations", len(p.Sent))
	}
	p.observe(20)
	if len(p.Sent) != 2 || p.Sent[0].Observations != 3 || p.Sent[1].Observations != 5 || p.Sent[1].Release != 2 {
		t.Fatalf("%+v", p.Sent)
	}
	if last := p.Receipts[len(p.Receipts)-1]; len(last.Releases) != 2 || len(p.Warnings) != 0 {
		t.Errorf("receipt %+v, warnings %q", last, p.Warnings)
	}
	again := newDriver(t, 2)
	for _, record := range p.Records {
		again.Step(strategy.Replayed{Data: record})
	}
	again.Step(strategy.Start{})
	again.Step(strategy.Echo{Share: strategy.Share{Value: p.Receipts[len(p.Receipts)-1]}})
	again.Step(strategy.CaughtUp{Peer: "b"})
	again.observe(20)
	if len(again.Sent) != 0 || len(again.Works) != 0 {
		t.Errorf("after a restart: %+v", again.Sent)
	}
}

// Silence would tell that there was nothing to say, so noise goes out.
func TestNothingToSayIsReleasedAsNoise(t *testing.T) {
	for name, done := range map[string]strategy.WorkDone{"nothing": {}, "an error": {Err: errors.New("singular")}} {
		p := newDriver(t, 1)
		p.Step(strategy.CaughtUp{Peer: "b"})
		p.View.Observations = 3
		p.Step(strategy.TrialsEnded{})
		p.Step(done)
		if len(p.Sent) != 1 || p.Sent[0].Values[0] == 0 {
			t.Errorf("%s: %+v", name, p.Sent)
		}
	}
}

func TestOwnReleasesThatTheJournalDoesNotKnowEndSharing(t *testing.T) {
	p := newDriver(t, 5)
	p.Step(strategy.Start{})
	p.Step(strategy.Echo{Share: strategy.Share{Value: protocol.Weights{Release: 2}}})
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.observe(9)
	if len(p.Sent) != 0 || len(p.Records) != 1 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "shares nothing more") {
		t.Errorf("sent %+v, records %s, warnings %q", p.Sent, p.Records, p.Warnings)
	}
}

// Only shares with the number of a planned release are decoded.
func TestNumbersOfReleases(t *testing.T) {
	p := newDriver(t, 2)
	for release, want := range map[int]bool{0: false, 1: true, 2: true, 3: false} {
		payload, err := protocol.Weights{Observations: 1, Values: []float64{1, 2}, Release: release}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Exchange.Decode(payload); (err == nil) != want || err != nil && !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("release %d: %v", release, err)
		}
	}
	if _, err := p.Exchange.Decode([]byte{0xff}); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("garbage: %v", err)
	}
}

// Ten who are present in name only hold a release up for five minutes, and a warning says
// that they are not waited for any more.
func TestGhostsDoNotKeepReleasesForEver(t *testing.T) {
	p := newDriver(t, 3)
	p.Step(strategy.Start{})
	present := []peer.ID{"a", "b"}
	for i := range 10 {
		present = append(present, peer.ID(fmt.Sprint("ghost", i)))
	}
	p.View.Results = map[string]any{presence.Kind: presence.Result{Present: present}}
	p.Step(strategy.CaughtUp{Peer: "b"})
	p.View.Observations = 3
	beats := 0
	for ; len(p.Works) == 0 && beats < 50; beats++ {
		p.Step(strategy.TrialsEnded{})
		p.Step(strategy.Timer{Name: beatTimer})
	}
	if beats != int(ledger.Patience/ledger.Beat) || len(p.Warnings) != 1 {
		t.Errorf("after %d beats, warnings %q", beats, p.Warnings)
	}
}
