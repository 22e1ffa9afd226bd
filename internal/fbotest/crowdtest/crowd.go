// Package crowdtest measures the traffic of real agents in a large topic of package sim.
package crowdtest

import (
	"context"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Starts is the time in which the members start. Delay is that of each message.
const (
	Starts = 10 * time.Second
	Delay  = 50 * time.Millisecond
)

// Task returns the members' task.
func Task(t testing.TB) *task.Task {
	t.Helper()
	read, err := all.Strategies().Parse("crowd.yaml", []byte(`
name: crowd
goal: minimize
parameters:
  - {name: x, type: int, low: 1, high: 1000}
surrogate: {type: rff, features: 16}
strategy: {type: fts, initial_designs: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// Traffic is what a member sends and receives on average: messages by gossip, their bytes without
// copies, and bytes of fetches.
type Traffic struct{ Messages, Gossiped, Fetched float64 }

// PerMinute returns the traffic of a minute between the ends of two numbers of evaluations. Each member
// evaluates for a minute at a time, and fetches the shares of at most so many authors.
func PerMinute(t testing.TB, members, authors, from, until int) Traffic {
	t.Helper()
	before, after := total(t, members, authors, from), total(t, members, authors, until)
	minutes := float64(until - from)
	return Traffic{(after.Messages - before.Messages) / minutes, (after.Gossiped - before.Gossiped) / minutes, (after.Fetched - before.Fetched) / minutes}
}

// total returns the traffic until each member has made so many evaluations.
func total(t testing.TB, members, authors, evaluations int) (mean Traffic) {
	t.Helper()
	s := sim.Scenario{Task: Task(t), Seed: random.SeedOf(1), Network: sim.Network{Delay: Delay, Authors: authors}}
	for i := range members {
		s.Members = append(s.Members, sim.Member{
			Objective:   func(d task.Design, _ uint64) float64 { return float64(d.Int("x")) },
			Evaluations: evaluations, Duration: time.Minute, Start: time.Duration(i) * Starts / time.Duration(members),
		})
	}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range result.Members {
		mean.Messages += float64(m.Gossiped) / float64(members)
		mean.Gossiped += float64(m.GossipedBytes) / float64(members)
		mean.Fetched += float64(m.FetchedBytes) / float64(members)
	}
	return mean
}
