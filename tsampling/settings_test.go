package tsampling

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const someID = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"

func TestSettings(t *testing.T) {
	some, err := peer.Decode(someID)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*Settings)) task.Strategy {
		f := Settings{Mode: Concurrent, Schedule: Schedule{Name: InverseSqrt}, Message: WeightDraw, Peers: PeerDistribution{Kind: Uniform}, ShareEvery: 1}
		change(&f)
		return task.Strategy{Type: "fts", InitialDesigns: 3, Settings: f}
	}
	oneShot := func(f *Settings) { f.Mode, f.ShareAfter, f.ShareEvery = OneShot, 50, 0 }
	strategytest.CheckSettings(t, strategy.Set{RegisterFTS()}, map[string]task.Strategy{
		"{type: fts}":                 with(func(*Settings) {}),
		"{type: fts, mode: one-shot}": with(oneShot),
		"{type: fts, mode: one-shot, share_after: 2e1, schedule: own-only}": with(func(f *Settings) {
			oneShot(f)
			f.ShareAfter, f.Schedule = 20, Schedule{Name: OwnOnly}
		}),
		"{type: fts, schedule: constant, own_probability: 0.25, share_every: 5}": with(func(f *Settings) {
			f.Schedule, f.ShareEvery = Schedule{Name: Constant, OwnProbability: 0.25}, 5
		}),
		"{type: fts, schedule: inverse-square}":                             with(func(f *Settings) { f.Schedule.Name = InverseSquare }),
		"{type: fts, message: projection}":                                  with(func(f *Settings) { f.Message = Projection }),
		"{type: fts, peers: evidence}":                                      with(func(f *Settings) { f.Peers.Kind = Evidence }),
		"{type: fts, peers: weighted, peer_weights: {" + someID + ": 2.5}}": with(func(f *Settings) { f.Peers = PeerDistribution{Weighted, map[peer.ID]float64{some: 2.5}} }),
	})
}

// TestDefaultsOfNewKeysKeepTheID writes the defaults of keys that the canonical form omits.
func TestDefaultsOfNewKeysKeepTheID(t *testing.T) {
	plain := newTask(t, floats, "type: fts")
	if written := newTask(t, floats, "type: fts, message: weight-draw, peers: uniform"); written.ID() != plain.ID() {
		t.Errorf("%s\nwant\n%s", written.Canonical(), plain.Canonical())
	}
	for _, keys := range []string{"message: projection", "peers: evidence", "peers: weighted, peer_weights: {" + someID + ": 1}"} {
		if newTask(t, floats, "type: fts, "+keys).ID() == plain.ID() {
			t.Errorf("%s has the ID of a task without it", keys)
		}
	}
}

func TestMistakesInPeerWeights(t *testing.T) {
	for keys, want := range map[string]string{
		"peers: weighted":                                     `missing key "peer_weights"`,
		"peers: weighted, peer_weights: 3":                    "peer_weights must be a mapping (key: value), not the number 3",
		"peers: weighted, peer_weights: {}":                   "peer_weights must have at least one entry, PEER-ID: WEIGHT",
		"peers: weighted, peer_weights: {ada: 1}":             "peer_weights: a key must be a peer ID, as `fbo-node peer-id` prints it",
		"peers: weighted, peer_weights: {" + someID + ": -1}": "-1 must be from 0 to 1000000",
		"peers: evidence, peer_weights: {" + someID + ": 1}":  "peer_weights applies only with peers: weighted",
		"peers: equal":    "peers must be one of uniform, weighted, evidence",
		"message: sample": "message must be one of weight-draw, projection",
	} {
		_, err := (strategy.Set{RegisterFTS()}).Parse("task.yaml", []byte("name: a\ngoal: minimize\nparameters: ["+floats+"]\nstrategy: {type: fts, "+keys+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: %v\nwant one line with %q", keys, err, want)
		}
	}
}
