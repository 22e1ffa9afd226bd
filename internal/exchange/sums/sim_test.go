package sums_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// TestAgentsAddUpOverALossyNetwork runs whole agents over a simulated network that delays and loses
// messages. One member is offline for a time. All members have the same sum of a round.
func TestAgentsAddUpOverALossyNetwork(t *testing.T) {
	for _, members := range []int{5, 8} {
		const evaluations = 16
		seed := random.SeedOf(uint64(members))
		roster, err := sim.Roster(seed, members)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, id := range roster {
			names = append(names, id.String())
		}
		definition, err := all.Strategies().Parse("task", fmt.Appendf(nil, `
name: federation
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 16}
strategy: {type: peer-prior, share: sum, roster: [%s]}`, strings.Join(names, ", ")))
		if err != nil {
			t.Fatal(err)
		}
		last := make([]sums.Result, members)
		s := sim.Scenario{
			Task: definition, Seed: seed,
			Network: sim.Network{Delay: 50 * time.Millisecond, Jitter: 200 * time.Millisecond, Loss: 0.1, Resync: time.Second},
			Watch: func(member int, view strategy.View) {
				last[member], _ = view.Results[sums.Kind].(sums.Result)
			},
		}
		var exchanges []strategy.Exchange
		for range members {
			s.Members = append(s.Members, sim.Member{
				Evaluations: evaluations, Duration: 30 * time.Second,
				Wrap: func(e strategy.Exchange) strategy.Exchange {
					if e.Name() == sums.Kind {
						exchanges = append(exchanges, e)
					}
					return e
				},
				Objective: func(d task.Design, _ uint64) float64 { return math.Pow(d.Float("x")-0.3, 2) },
			})
		}
		s.Members[2].Offline = []sim.Span{{From: 100 * time.Second, Until: 260 * time.Second}}
		if _, err := sim.Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		totals := map[int][]int64{}
		for _, e := range exchanges {
			for round, total := range sums.Totals(e) {
				if before, known := totals[round]; known && !slices.Equal(before, total) {
					t.Errorf("%d members: round %d has two sums", members, round)
				}
				totals[round] = total
			}
		}
		for i, result := range last {
			if len(result.Sums) < 2 || result.Refused != "" {
				t.Errorf("%d members: member %d has %d sums, %d failed: %s; refused %q", members, i, len(result.Sums), result.Failed, result.Reason, result.Refused)
			}
			for _, sum := range result.Sums {
				if sum.Contributors < 3 || sum.Observations != sum.Contributors*sums.DefaultEvery {
					t.Errorf("%d members: round %d: %d observations of %d peers", members, sum.Round, sum.Observations, sum.Contributors)
				}
				if slices.ContainsFunc(sum.Values, func(v float64) bool { return math.Abs(v) > float64(sum.Observations*sums.MaxOutput) }) {
					t.Errorf("%d members: round %d: a value beyond its bound", members, sum.Round)
				}
			}
		}
		t.Logf("%d members: %d sums", members, len(totals))
	}
}
