package leader_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/examples/strategy/leader"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func strategies() strategy.Set { return append(all.Strategies(), leader.Register()) }

func parse(t testing.TB) *task.Task {
	t.Helper()
	parsed, err := strategies().Parse("task.yaml", []byte(`
name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -1, high: 1}
  - {name: kind, type: categorical, choices: [a, b]}
strategy: {type: leader, reach: 0.1}`))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// A strategy that the core has never heard of runs, shares and is listened to.
func TestNodesFollowTheLeader(t *testing.T) {
	member := sim.Member{
		Objective:   func(d task.Design, _ uint64) float64 { return math.Abs(d.Float("x") - 0.3) },
		Evaluations: 12,
		Duration:    10 * time.Second,
	}
	result, err := sim.Run(t.Context(), sim.Scenario{
		Task: parse(t), Strategies: strategies(), Members: []sim.Member{member, member, member},
		Network: sim.Network{Delay: time.Second}, Seed: random.SeedOf(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	followed := 0
	for _, m := range result.Members {
		for _, trial := range m.Trials {
			if trial.Why.Source == "leader" && trial.Why.FromPeers() {
				followed++
			}
		}
	}
	if followed < 3 {
		t.Errorf("%d of 36 designs follow a peer", followed)
	}
}

// Where steps are short and designs few, no step leads to a design that was tried.
// Sampling alone may repeat one, and says so.
func TestStepsRepeatNoDesign(t *testing.T) {
	few, err := strategies().Parse("task.yaml", []byte(`
name: few
goal: minimize
parameters:
  - {name: n, type: int, low: 1, high: 8}
  - {name: kind, type: categorical, choices: [a, b]}
strategy: {type: leader, reach: 0.05}`))
	if err != nil {
		t.Fatal(err)
	}
	member := func(offset float64) sim.Member {
		return sim.Member{
			Objective:   func(d task.Design, _ uint64) float64 { return math.Abs(float64(d.Int("n"))-3) + offset },
			Evaluations: 14,
			Duration:    10 * time.Second,
		}
	}
	result, err := sim.Run(t.Context(), sim.Scenario{
		Task: few, Strategies: strategies(), Members: []sim.Member{member(0), member(3)}, // the second one follows
		Network: sim.Network{Delay: time.Second}, Seed: random.SeedOf(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	followed := 0
	for i, m := range result.Members {
		tried := map[string]bool{}
		for _, trial := range m.Trials {
			if trial.Why.Source == "leader" {
				followed++
				if tried[trial.Design.Key()] {
					t.Errorf("trial %d of member %d repeats %v", trial.ID, i, trial.Design)
				}
			}
			tried[trial.Design.Key()] = true
		}
	}
	if followed == 0 {
		t.Error("no design follows a peer")
	}
}

// The keys of the task file are the package's own, and errors name them.
func TestTaskFile(t *testing.T) {
	parsed := parse(t)
	again, err := strategies().Parse("again", parsed.Canonical())
	if err != nil || again.ID() != parsed.ID() {
		t.Errorf("%s became %v, %v", parsed.Canonical(), again, err)
	}
	_, err = strategies().Parse("t", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: leader, reach: 7}"))
	if err == nil || err.Error() != "t:4:33: strategy: reach 7 must be from 0.001 to 1" {
		t.Error(err)
	}
	if _, err := all.Strategies().Parse("t", parsed.Canonical()); err == nil {
		t.Error("a program without the strategy accepts its task")
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"design":{"x":0.5,"kind":"a"},"value":1}`, `{"design":{"x":7,"kind":"a"},"value":1}`, `{"value":1e999}`, `null`, ``} {
		f.Add([]byte(seed))
	}
	definition := parse(f)
	key, _, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		f.Fatal(err)
	}
	exchanges, err := leader.Register().Disclosure(definition).Exchanges(strategy.Env{Task: definition, Key: key})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if value, err := exchanges[0].Decode(payload); err != nil && (value != nil || !errors.Is(err, protocol.ErrMalformed)) {
			t.Fatalf("%v, %v", value, err)
		}
	})
}
