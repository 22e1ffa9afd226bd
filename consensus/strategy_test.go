package consensus_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

var seed = random.SeedOf(5)

func parse(t testing.TB, settings string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), `
name: valley
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1}
surrogate: {features: 32}
strategy: {%s}`, settings)
}

const evaluation = 20 * time.Second

// valley has its minimum 0 at x = y = a.
func valley(a float64) func(task.Design, uint64) float64 {
	return func(d task.Design, _ uint64) float64 {
		return math.Pow(d.Float("x")-a, 2) + math.Pow(d.Float("y")-a, 2)
	}
}

func federation(t testing.TB, settings string, members, evaluations int) sim.Scenario {
	s := sim.Scenario{Task: parse(t, settings), Seed: seed, Network: sim.Network{Delay: 50 * time.Millisecond}}
	for i := range members {
		s.Members = append(s.Members, sim.Member{Objective: valley(0.3 + 0.05*float64(i)), Evaluations: evaluations, Duration: evaluation})
	}
	return s
}

func play(t testing.TB, s sim.Scenario) sim.Result {
	t.Helper()
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func modes() []string {
	return []string{
		"weights: uniform", "weights: leader", "weights: metropolis",
		"average: median", "average: trimmed", "weights: similarity", "weights: similarity, average: median",
		"mode: asynchronous", "mode: asynchronous, weights: metropolis", "mode: asynchronous, average: median", "mode: asynchronous, weights: similarity",
	}
}

// scattered is a strategy whose starting designs are all random.
type scattered struct {
	strategy.Strategy
	search search.Search
}

func (s scattered) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	return s.Strategy.Suggest(ctx, view, trial, seed)
}

// An agent without answers of peers chooses as its acquisition alone does, after starting designs
// of which none is the centre.
func TestAloneItIsTheLoneAcquisition(t *testing.T) {
	for _, acquisition := range []string{"logei", "ucb", "ts"} {
		alone := federation(t, "type: "+acquisition, 1, 9)
		registered, err := all.Strategies().Of(alone.Task)
		if err != nil {
			t.Fatal(err)
		}
		own, err := registered.New(alone.Task)
		if err != nil {
			t.Fatal(err)
		}
		alone.Members[0].Strategy = scattered{own, search.New(alone.Task).WithoutCentre()}
		want := play(t, alone).Members[0].Trials
		for _, mode := range modes() {
			got := play(t, federation(t, "type: consensus, acquisition: "+acquisition+", "+mode, 1, 9)).Members[0].Trials
			for i := range want {
				if !got[i].Design.Equal(want[i].Design) || got[i].Why.Source != want[i].Why.Source {
					t.Fatalf("%s, %s: trial %d is %v (%s), alone it is %v (%s)", acquisition, mode, i+1, got[i].Design, got[i].Why, want[i].Design, want[i].Why)
				}
			}
		}
	}
}

// Without faults all agents are in every round, and all of one round see the
// same members.
func TestEverybodyIsInEveryRound(t *testing.T) {
	const agents, evaluations = 5, 9
	for _, mode := range modes()[:7] {
		s := federation(t, "type: consensus, rounds: 20, "+mode, agents, evaluations)
		s.Watch = func(_ int, view strategy.View) {
			if p := presence.Of(view); view.Observations > 3 && (len(p.Present) != agents || !p.Agreed) {
				t.Errorf("%s: present are %d, agreed %v", mode, len(p.Present), p.Agreed)
			}
		}
		for i, m := range play(t, s).Members {
			for _, trial := range m.Trials[3:] {
				if why := trial.Why; why.Source != "consensus" || why.PeerCount != agents-1 || why.Round != int(trial.ID)-3 {
					t.Errorf("%s: trial %d of agent %d: %s", mode, trial.ID, i, why)
				}
			}
		}
	}
}

// In round 1 all weigh the same, so all evaluate one design; later each goes its
// own way.
func TestFirstTogetherThenApart(t *testing.T) {
	result := play(t, federation(t, "type: consensus, rounds: 6", 4, 10))
	first := result.Members[0].Trials[3].Design
	for _, m := range result.Members[1:] {
		for _, axis := range []string{"x", "y"} {
			if math.Abs(m.Trials[3].Design.Float(axis)-first.Float(axis)) > 1e-6 {
				t.Errorf("round 1: %v and %v", m.Trials[3].Design, first)
			}
		}
	}
	for i, m := range result.Members {
		if why := m.Trials[9].Why; why.Source == "consensus" {
			t.Errorf("agent %d after the last round: %s", i, why)
		}
	}
}

// From round T+1 on an agent goes alone in every mode. Without rounds it also may in
// round 1, when it has not heard anybody yet.
func TestAfterTheLastRoundAllGoAlone(t *testing.T) {
	const rounds = 2
	for _, mode := range modes() {
		s := federation(t, fmt.Sprintf("type: consensus, initial_designs: 1, rounds: %d, %s", rounds, mode), 2, 5)
		for i, m := range play(t, s).Members {
			if last := m.Trials[rounds].Why; last.Source != "consensus" {
				t.Errorf("%s: agent %d in the last round: %s", mode, i, last)
			}
			for _, trial := range m.Trials[1+rounds:] {
				if trial.Why.Source == "consensus" {
					t.Errorf("%s: trial %d of agent %d: %s", mode, trial.ID, i, trial.Why)
				}
			}
		}
	}
}

func TestNoFaultHangsARound(t *testing.T) { checkFaults(t, modes()[:1]) }

// checkFaults runs agents with lost candidates, a slow agent, a partition, one that leaves and one
// that joins late. All finish, and no round waits without limit.
func checkFaults(t *testing.T, modes []string) {
	for _, mode := range modes {
		s := federation(t, "type: consensus, rounds: 12, "+mode, 6, 15)
		s.Network.Loss, s.Network.Jitter, s.Network.Resync = 0.3, 2*time.Second, time.Minute
		s.Network.Partitions = []sim.Partition{{Span: sim.Span{From: 2 * time.Minute, Until: 5 * time.Minute}, Parts: 2}}
		s.Members[0].Duration *= 10
		s.Members[1].Offline = []sim.Span{{From: time.Minute, Until: time.Hour}}
		s.Members[2].Start = 3 * time.Minute
		s.Members[3].Evaluations = 6
		s.Members[4].Parallel = 3
		result := play(t, s)
		for i, m := range result.Members {
			if len(m.Trials) != s.Members[i].Evaluations {
				t.Errorf("%s: agent %d made %d of %d evaluations", mode, i, len(m.Trials), s.Members[i].Evaluations)
			}
		}
		// The slow agent alone takes 15 × 200 s. The others wait at most a deadline of 60 s per round.
		if limit := 15*10*evaluation + 15*time.Minute; result.Elapsed > limit {
			t.Errorf("%s: it took %v of virtual time, more than %v", mode, result.Elapsed, limit)
		}
	}
}

// Deadlines bound what one silent agent costs the others: it is waited for once.
func TestASlowAgentIsWaitedForOnce(t *testing.T) {
	s := federation(t, "type: consensus, rounds: 20, round_timeout: 30", 3, 12)
	s.Members[0].Duration *= 100
	s.Members[0].Evaluations = 5
	fast := federation(t, "type: consensus, rounds: 20, round_timeout: 30", 2, 12)
	took := func(r sim.Result, member int) time.Duration {
		trials := r.Members[member].Trials
		return trials[len(trials)-1].Started.Sub(trials[0].Started)
	}
	if slow, alone := took(play(t, s), 1), took(play(t, fast), 1); slow > alone+40*time.Second {
		t.Errorf("beside a slow agent %v, without it %v", slow, alone)
	}
}
