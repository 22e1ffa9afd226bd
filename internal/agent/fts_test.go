package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// With peers that are present and share, own-only federated Thompson sampling
// asks the very queries of plain Thompson sampling under the same seed.
func TestOwnOnlyEqualsThompsonSampling(t *testing.T) {
	var designs [2][]string
	for i, keys := range []string{"type: ts, initial_designs: 2", "type: fts, schedule: own-only, initial_designs: 2"} {
		spec := newTask(t, "bowl", keys)
		d, other := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
		for round := range 12 {
			other.run(1, bowl)
			exchange(d, other)
			if round == 6 {
				d.start()
				reconcile(t, d, other)
			}
			d.run(1, bowl)
		}
		if i == 1 && (d.agent.Counts().Received["weights"] == 0 || len(d.agent.Present(d.now).Present) != 2) {
			t.Error("no peer shared anything; the test shows nothing")
		}
		for _, trial := range d.agent.Trials() {
			designs[i] = append(designs[i], trial.Design.String())
		}
	}
	if !slices.Equal(designs[0], designs[1]) {
		t.Errorf("plain    %v\nown-only %v", designs[0], designs[1])
	}
}

const peersOnly = "type: fts, initial_designs: 1, schedule: constant, own_probability: 0"

// A draw is used once, whatever is restarted, returned, failed or run in
// parallel in between.
func TestADrawIsUsedOnce(t *testing.T) {
	spec := newTask(t, "cup", peersOnly)
	d, other := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
	other.run(3, bowl)
	d.run(1, bowl)
	exchange(d, other)
	for round := range 6 {
		d.run(1, bowl)
		running := d.ask()
		if round%2 == 0 {
			if err := d.agent.Fail(d.now, running.ID, "broken"); err != nil {
				t.Fatal(err)
			}
			d.carryOut()
		}
		d.journal = compact(t, d.journal)
		d.start()
		reconcile(t, d, other) // the same draw again
		if round == 3 {
			other.start() // draws anew under its next epoch
			exchange(other, d)
		}
	}
	used := usedDraws(d.agent.Trials())
	if len(used) != 2 || used[0] == used[1] {
		t.Errorf("used %v, want the two draws of the peer once each", used)
	}
}

// In one-shot mode one share per peer and life.
func TestOneShotOverRestarts(t *testing.T) {
	spec := newTask(t, "cup", "type: fts, mode: one-shot, share_after: 2, initial_designs: 1, schedule: constant, own_probability: 0")
	d, gone := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
	sent := map[string]bool{}
	for range 4 {
		gone.run(1, bowl)
		for _, share := range gone.take() {
			if share.Kind == "weights" {
				sent[string(share.Envelope)] = true
			}
		}
		gone.start()
	}
	if len(sent) != 1 {
		t.Fatalf("%d shares in a life", len(sent))
	}
	reconcile(t, d, gone)
	gone.agent.Stop(gone.now)
	gone.carryOut()
	exchange(gone, d)
	if d.agent.Present(d.now).Has(gone.self()) {
		t.Fatal("the peer has not left")
	}
	for range 3 {
		d.run(2, bowl)
		d.start()
		reconcile(t, d, gone)
	}
	var fromPeer int
	for _, trial := range d.agent.Trials() {
		if trial.Why.Peer == gone.self() {
			fromPeer++
		}
	}
	if fromPeer != 1 {
		t.Errorf("the share of the peer that left was used %d times", fromPeer)
	}
}

// Work that fails is reported and does no harm.
func TestFailedWorkIsReported(t *testing.T) {
	d := newBowl(t)
	d.agent.exchanges.queue = append(d.agent.exchanges.queue, exchangeWork{"weights", strategy.Work{
		Name: "draw", Run: failingWork,
	}})
	d.agent.pump(d.now)
	d.carryOut()
	if !slices.ContainsFunc(d.events, func(e Event) bool { return e.Type == Warning && strings.Contains(e.Message, "no memory") }) {
		t.Errorf("events %+v", d.events)
	}
	d.run(3, bowl)
}

// Twenty agents that hear each other end up agreeing, and use each other's
// draws.
func TestTwentyFTSAgentsAgree(t *testing.T) {
	spec := newTask(t, "cup", "type: fts, initial_designs: 1, schedule: constant, own_probability: 0.5")
	var all []*driver
	for i := range 20 {
		all = append(all, newDriver(t, configOf(t, spec, byte(i+1))))
	}
	exchange(all...)
	for range 4 {
		for _, d := range all {
			d.run(1, bowl)
		}
		exchange(all...)
	}
	for _, d := range all { // what a second brings
		d.pass(2e9)
	}
	exchange(all...)
	authors := map[peer.ID]bool{}
	var stamps []string
	for i, d := range all {
		if present := d.agent.Present(d.now); len(present.Present) != len(all) || !present.Agreed {
			t.Errorf("agent %d sees %d, agreed %v", i+1, len(present.Present), present.Agreed)
		}
		for _, trial := range d.agent.Trials() {
			if trial.Why.Stamp != nil {
				authors[trial.Why.Peer] = true
				stamps = append(stamps, fmt.Sprint(i, trial.Why.Peer, *trial.Why.Stamp))
			}
		}
	}
	slices.Sort(stamps)
	if len(slices.Compact(slices.Clone(stamps))) != len(stamps) || len(authors) < 10 {
		t.Errorf("%d draws of %d authors were used", len(stamps), len(authors))
	}
}

// The bytes that a peer sends are bounded by the task: a share of more weights
// is refused, however well it is signed.
func TestForeignFeaturesAreMalformed(t *testing.T) {
	d := newBowl(t)
	for _, features := range []int{0, 15, 17, 4096} {
		payload, err := protocol.Weights{Observations: 1, Values: make([]float64, features)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		share := say(t, d, fbotest.Key(t, 9), "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, 1e9, payload)
		if got := d.receive(share); got != Malformed {
			t.Errorf("%d features: %v", features, got)
		}
	}
}

func failingWork(context.Context, strategy.View, random.Seed) (any, error) {
	return nil, errors.New("no memory")
}

// Hyperparameters are learned at every observation up to 20, at every second
// up to 40, at every fourth up to 60.
func TestRefitSchedule(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", "type: ts"), 1))
	d.run(49, bowl)
	var got []int
	for _, r := range d.records {
		if r.Fit != nil {
			got = append(got, r.Fit.Observations)
		}
	}
	var want []int
	for n := 1; n <= 49; n++ {
		if n <= 20 || n <= 40 && n%2 == 0 || n%4 == 0 {
			want = append(want, n)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("fits at %v, want %v", got, want)
	}
}

// A restarted agent speaks anew, and says something else than before: the same
// draw under a new stamp would be used twice.
func TestARestartDrawsAnew(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	d.run(3, bowl)
	seen := map[string]bool{}
	for range 4 {
		for _, share := range d.take() {
			if share.Kind == "weights" && seen[string(share.Payload)] {
				t.Errorf("the draw in %v was sent before", share.Stamp)
			}
			seen[string(share.Payload)] = true
		}
		d.start()
	}
	if len(seen) < 5 {
		t.Errorf("%d different payloads in four runs", len(seen))
	}
}
