package consensus_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// witness notes what its agent averaged in each round.
type witness struct {
	consensus.Strategy
	task   *task.Task
	self   peer.ID
	rounds map[int]used
}

type used struct {
	round   consensus.Round
	weights map[peer.ID]float64
	design  task.Design
}

func (w *witness) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	suggestion, err := w.Strategy.Suggest(ctx, view, trial, seed)
	round, ok := view.Results[protocol.CandidateKind].(consensus.Round)
	if ok && suggestion.Why.Source == "consensus" {
		w.self = view.Self
		w.rounds[round.Number] = used{round, round.Weights(view, w.task.Strategy.Settings.(consensus.Settings)), suggestion.Design}
	}
	return suggestion, err
}

func witnesses(t testing.TB, s *sim.Scenario) []*witness {
	t.Helper()
	var all []*witness
	for i := range s.Members {
		own, err := consensus.New(s.Task)
		if err != nil {
			t.Fatal(err)
		}
		w := &witness{Strategy: own, task: s.Task, rounds: map[int]used{}}
		s.Members[i].Strategy = w
		all = append(all, w)
	}
	return all
}

// When presence agrees and nothing is lost, the weights that the agents use in a
// round form a symmetric, doubly stochastic matrix, and each evaluates its row's
// average of the candidates that the others made.
func TestWeightsInUseAreDoublyStochastic(t *testing.T) {
	const agents, rounds = 4, 6 // few rounds for so many: a leader has no weight of its own at first
	for _, mode := range modes()[:3] {
		s := federation(t, fmt.Sprintf("type: consensus, rounds: %d, %s", rounds, mode), agents, 3+rounds)
		for i := range s.Members {
			s.Members[i].Duration += time.Duration(i) * time.Second
		}
		all := witnesses(t, &s)
		play(t, s)
		leaders := map[float64]int{}
		for number := 1; number <= rounds; number++ {
			checkRound(t, fmt.Sprintf("%s, round %d", mode, number), s.Task, all, number, leaders)
		}
		if mode == "weights: leader" && leaders[0] == 0 {
			t.Errorf("%s: no agent ever gives itself no weight, so no agent led", mode)
		}
	}
}

// checkRound also counts, by value, the weights that agents give themselves.
func checkRound(t *testing.T, when string, definition *task.Task, all []*witness, number int, diagonal map[float64]int) {
	t.Helper()
	columns := map[peer.ID]float64{}
	for _, a := range all {
		row, sum := a.rounds[number].weights, 0.0
		if len(row) != len(all) {
			t.Fatalf("%s: an agent averages %d candidates", when, len(row))
		}
		average := make([]float64, definition.Space.Dim())
		for _, b := range all {
			weight := row[b.self]
			sum += weight
			columns[b.self] += weight
			if weight < -1e-12 || math.Abs(weight-b.rounds[number].weights[a.self]) > 1e-12 {
				t.Errorf("%s: weights %g and %g", when, weight, b.rounds[number].weights[a.self])
			}
			for i, v := range b.rounds[number].round.Own.Point.Encoded(definition.Space) {
				average[i] += weight * v
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: a row sums to %g", when, sum)
		}
		for i, v := range definition.Space.Encode(a.rounds[number].design) {
			if math.Abs(v-average[i]) > 1e-6 { // candidates travel as float32
				t.Errorf("%s: coordinate %d of the design is %g, of the average %g", when, i, v, average[i])
			}
		}
		diagonal[math.Round(row[a.self]*1e9)/1e9]++
	}
	for _, sum := range columns {
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: a column sums to %g", when, sum)
		}
	}
}

// Agents whose evaluations take hours remain in one round.
func TestHoursOfEvaluationStayInStep(t *testing.T) {
	const agents, evaluations = 2, 3
	s := federation(t, "type: consensus, initial_designs: 1, round_timeout: 3600", agents, evaluations)
	for i := range s.Members {
		s.Members[i].Duration = 65*time.Minute + time.Duration(i)*10*time.Minute
	}
	for i, m := range play(t, s).Members {
		for _, trial := range m.Trials[1:] {
			if trial.Why.PeerCount != agents-1 {
				t.Errorf("trial %d of agent %d: %s", trial.ID, i, trial.Why)
			}
		}
	}
}

// Agents of several evaluators skip the same rounds, and wait for each other all
// the same.
func TestSeveralEvaluatorsStayInStep(t *testing.T) {
	const agents = 3
	s := federation(t, "type: consensus", agents, 15)
	for i := range s.Members {
		s.Members[i].Parallel = 2
		s.Members[i].Duration += time.Duration(i) * time.Second
	}
	for i, m := range play(t, s).Members {
		agreed := 0
		for _, trial := range m.Trials {
			if trial.Why.Source != "consensus" {
				continue
			}
			if agreed++; trial.Why.PeerCount != agents-1 {
				t.Errorf("trial %d of agent %d: %s", trial.ID, i, trial.Why)
			}
		}
		if agreed < 5 {
			t.Errorf("agent %d evaluates %d averages in 12 trials, want about every other", i, agreed)
		}
	}
}

// An agent that is always late by little keeps none of the others waiting for more
// than a few deadlines.
func TestAnAgentThatIsAlwaysLateCostsFewDeadlines(t *testing.T) {
	const rounds, deadline = 24, 30 * time.Second
	s := federation(t, fmt.Sprintf("type: consensus, rounds: %d, round_timeout: %d", rounds, int(deadline.Seconds())), 2, 3+rounds)
	s.Members[0].Duration = evaluation + deadline + time.Second
	s.Members[1].Start = 3 * (deadline + time.Second) // both come to round 1 together
	trials := play(t, s).Members[1].Trials
	var waited []time.Duration
	for i, trial := range trials[3:] {
		waited = append(waited, trial.Started.Sub(trials[2+i].Finished))
	}
	slices.Sort(waited)
	total := time.Duration(0)
	for _, w := range waited {
		total += w
	}
	if limit := 6 * deadline; total > limit { // 1 + log2(24) = 5.6
		t.Errorf("waited for %v in all, more than %v: %v", total, limit, waited)
	}
	if total < deadline {
		t.Errorf("waited for %v in all: it was never late", total)
	}
}
