package ftsde_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// Five agents as nodes run them, over a network that loses and delays: all learn the
// same sums, in order, with as many contributors as are needed, and as many releases
// are spent as were planned at most. A member that is away for a time misses sums and
// comes back.
func TestFiveAgentsLearnTheSameSums(t *testing.T) {
	const members, evaluations, releases = 5, 9, 4
	seed := random.SeedOf(4)
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
surrogate: {type: rff, features: 16}
strategy: {type: fts-de, initial_designs: 2, share_every: 2, cells: 2}
privacy: {mechanism: aggregate, epsilon: 8, releases: %d, min_contributors: 4, committee: 5, max_colluding: 1, roster: [%s]}`,
		releases, strings.Join(names, ", ")))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]ftsde.Sum{}
	last := make([]ftsde.Result, members)
	s := sim.Scenario{
		Task: definition, Seed: seed,
		Network: sim.Network{Delay: 50 * time.Millisecond, Jitter: 200 * time.Millisecond, Loss: 0.1, Resync: time.Second},
		Watch: func(member int, view strategy.View) {
			result, _ := view.Results[protocol.AggregateKind].(ftsde.Result)
			last[member] = result
			for i, sum := range result.Sums {
				if i > 0 && sum.Round <= result.Sums[i-1].Round {
					t.Errorf("member %d has sums out of order", member)
				}
				if before, ok := seen[sum.Round]; ok && !reflect.DeepEqual(before, sum) {
					t.Errorf("round %d has two sums", sum.Round)
				}
				if seen[sum.Round] = sum; sum.Contributors < 4 {
					t.Errorf("round %d has %d contributors", sum.Round, sum.Contributors)
				}
			}
		},
	}
	for range members {
		s.Members = append(s.Members, sim.Member{
			Evaluations: evaluations, Duration: time.Minute,
			Objective: func(d task.Design, _ uint64) float64 { return math.Pow(d.Float("x")-0.3, 2) },
		})
	}
	s.Members[2].Offline = []sim.Span{{From: 170 * time.Second, Until: 300 * time.Second}}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range result.Members {
		if len(m.Trials) != evaluations || last[i].Released > releases || last[i].Released < 3 {
			t.Errorf("member %d: %d trials, state %+v", i, len(m.Trials), last[i].State)
		}
		if i != 2 && len(last[i].Sums) < 3 {
			t.Errorf("member %d has %d sums, %d failed: %s", i, len(last[i].Sums), last[i].Failed, last[i].Reason)
		}
	}
	fromSums := 0
	for _, m := range result.Members {
		fromSums += m.PeerInformedTrials
	}
	t.Logf("%d sums, %d designs rest on them", len(seen), fromSums)
	if len(seen) < 3 {
		t.Errorf("only %d rounds had a sum", len(seen))
	}
}
