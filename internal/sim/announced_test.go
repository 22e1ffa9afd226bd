package sim

import (
	"context"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const crowdTask = `
name: crowd
goal: minimize
parameters:
  - {name: x, type: int, low: 1, high: 1000}
surrogate: {type: rff, features: 16}
strategy: {type: fts, initial_designs: 1}
`

// crowd returns what members have sent and received on average in a large topic, in which each
// evaluates for a minute at a time.
func crowd(t testing.TB, members, authors, evaluations int) (mean crowdTraffic) {
	t.Helper()
	file, err := all.Strategies().Parse("crowd.yaml", []byte(crowdTask))
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{Task: file, Seed: random.SeedOf(1), Network: Network{Delay: 50 * time.Millisecond, Authors: authors}}
	for i := range members {
		s.Members = append(s.Members, Member{
			Objective:   func(d task.Design, _ uint64) float64 { return float64(d.Int("x")) },
			Evaluations: evaluations, Duration: time.Minute, Start: time.Duration(i) * 10 * time.Second / time.Duration(members),
		})
	}
	result, err := Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range result.Members {
		mean.messages += float64(m.Gossiped) / float64(members)
		mean.gossiped += float64(m.GossipedBytes) / float64(members)
		mean.fetched += float64(m.FetchedBytes) / float64(members)
	}
	return mean
}

type crowdTraffic struct{ messages, gossiped, fetched float64 }

// perMinute returns the traffic of the minutes from the first to the second number of evaluations.
func perMinute(t testing.TB, members, authors, from, until int) crowdTraffic {
	before, after := crowd(t, members, authors, from), crowd(t, members, authors, until)
	minutes := float64(until - from)
	return crowdTraffic{(after.messages - before.messages) / minutes, (after.gossiped - before.gossiped) / minutes, (after.fetched - before.fetched) / minutes}
}

// The traffic of a member does not depend on their number. Each shares once a minute.
func testCrowds(t *testing.T, authors, from, until int, sizes ...int) {
	var first crowdTraffic
	for i, members := range sizes {
		got := perMinute(t, members, authors, from, until)
		t.Logf("%d members: per member and minute %.1f messages and %.0f bytes by gossip, without copies, and %.0f bytes of fetches", members, got.messages, got.gossiped, got.fetched)
		if i == 0 {
			first = got
			continue
		}
		if got.messages > 1.2*first.messages || got.gossiped+got.fetched > 1.2*(first.gossiped+first.fetched) {
			t.Errorf("with %d members a member receives %.1f messages and %.0f bytes a minute, with %d %.1f and %.0f; want 1.2 times as much at most",
				members, got.messages, got.gossiped+got.fetched, sizes[0], first.messages, first.gossiped+first.fetched)
		}
	}
}

func TestTrafficInCrowds(t *testing.T) { testCrowds(t, 4, 2, 4, 24, 48) }
