package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// fairScenario returns parties of fair batches that evaluate one function with two optima. Its
// process is known, so that batches cost little. If there is a mediator, it is the first member.
func fairScenario(t testing.TB, seed uint64, parties, evaluations int, mediated bool) sim.Scenario {
	t.Helper()
	s := sim.Scenario{Seed: random.SeedOf(seed), Network: sim.Network{Delay: 50 * time.Millisecond, Jitter: 50 * time.Millisecond}}
	roster, err := sim.Roster(s.Seed, parties)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, parties)
	for i, id := range roster {
		names[i] = id.String()
	}
	mediator := ""
	if mediated {
		mediator = ", mediator: " + names[0]
	}
	s.Task, err = all.Strategies().Parse("fair", fmt.Appendf(nil, `
name: fair
goal: maximize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 32, hyperparameters: fixed, lengthscales: [0.2, 0.2], mean: 0, signal_std: 1, noise_std: 0.05}
strategy: {type: fair, initial_designs: 1, roster: [%s]%s}`, strings.Join(names, ", "), mediator))
	if err != nil {
		t.Fatal(err)
	}
	for range parties {
		s.Members = append(s.Members, sim.Member{Objective: twoHills, Evaluations: evaluations, Duration: evaluation})
	}
	return s
}

// twoHills is 1 at the one top and 1.5 at the other.
func twoHills(d task.Design, _ uint64) float64 {
	x, y := d.Float("x"), d.Float("y")
	hill := func(height, a, b float64) float64 { return height * math.Exp(-10*((x-a)*(x-a)+(y-b)*(y-b))) }
	return hill(1, 0.2, 0.3) + hill(1.5, 0.7, 0.8)
}

func TestFairBatchesWithAndWithoutAMediator(t *testing.T) { checkMediation(t, 2, 2, 1, 0.1) }

// checkMediation compares the batches of a mediator with those of parties without one, which are
// worth as much. The two tasks have different IDs, and so different random numbers for the
// search. From the same starting designs at least minSame of the first batches are the same; others
// have nearly the same value. Later batches depend on different results once one has differed.
// The mean results then differ by chance: by 1 % over 12 rounds and 8 seeds.
func checkMediation(t *testing.T, rounds, seeds, minSame int, tolerance float64) {
	var means [2]float64
	same := 0
	for seed := range uint64(seeds) {
		var first [2][]task.Design
		for i, mediated := range []bool{true, false} {
			for _, m := range run(t, fairScenario(t, seed, 3, 1+rounds, mediated)).Members {
				for _, trial := range m.Trials {
					if trial.ID > 1 && trial.Why.Source != "assigned" {
						t.Fatalf("mediator %v: trial %d is %s, want assigned", mediated, trial.ID, trial.Why.Source)
					}
					if trial.ID <= 2 {
						first[i] = append(first[i], trial.Design)
					}
					means[i] += trial.Outcome.Value / float64(3*(1+rounds)*seeds)
				}
			}
		}
		if slices.EqualFunc(first[0], first[1], func(a, b task.Design) bool {
			return math.Abs(a.Float("x")-b.Float("x")) < 1e-3 && math.Abs(a.Float("y")-b.Float("y")) < 1e-3
		}) {
			same++
		}
	}
	if same < minSame {
		t.Errorf("%d of %d first batches are the same", same, seeds)
	}
	t.Logf("the mean result is %.4f with a mediator, %.4f without", means[0], means[1])
	if math.Abs(means[0]-means[1]) > tolerance*max(means[0], means[1]) {
		t.Errorf("the mean result is %g with a mediator, %g without", means[0], means[1])
	}
}

// traffic returns the messages and bytes sent per round, without those of presence.
func traffic(t testing.TB, parties, rounds int, mediated bool) (messages, bytes float64) {
	t.Helper()
	for _, m := range run(t, fairScenario(t, 1, parties, 1+rounds, mediated)).Members {
		messages += float64(m.Direct)
		bytes += float64(m.DirectBytes)
		if m.DirectLost > 0 || m.Shares > 0 {
			t.Fatalf("%d messages lost, %d shares sent", m.DirectLost, m.Shares)
		}
	}
	return messages / float64(rounds), bytes / float64(rounds)
}

// Of n parties all but one send their results to the mediator and receive a design. Without a
// mediator all send to all, and one sends the batch to all. The periodic requests every five
// seconds come in addition.
func TestMessagesOfFairBatches(t *testing.T) { checkMessages(t, 3) }

// checkMessages counts the messages of each number of parties.
func checkMessages(t *testing.T, counts ...int) {
	for _, parties := range counts {
		for _, mediated := range []bool{true, false} {
			messages, bytes := traffic(t, parties, 6, mediated)
			t.Logf("%d parties, mediator %v: %.1f messages and %.0f bytes a round", parties, mediated, messages, bytes)
			n := float64(parties)
			least := n*(n-1) + n - 1
			if mediated {
				least = 2 * (n - 1)
			}
			if messages < least || messages > 2.5*least+10 || bytes < 200*least || bytes > 350*messages+600*n {
				t.Errorf("%d parties, mediator %v: %.1f messages and %.0f bytes a round; at least %.0f are needed", parties, mediated, messages, bytes, least)
			}
		}
	}
}

// Without a mediator all nodes check each batch, here in one process: 50 parties take minutes, and
// so run one round.
func BenchmarkFairRound(b *testing.B) {
	for parties, rounds := range map[int]int{3: 3, 8: 3, 20: 3, 50: 1} {
		for _, mediated := range []bool{true, false} {
			b.Run(fmt.Sprintf("parties=%d/mediator=%v", parties, mediated), func(b *testing.B) {
				for b.Loop() {
					messages, bytes := traffic(b, parties, rounds, mediated)
					b.ReportMetric(messages, "messages/round")
					b.ReportMetric(bytes, "bytes/round")
				}
			})
		}
	}
}
