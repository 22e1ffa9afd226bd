package virtualtime

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Events come by time, and with equal times in the order in which they were scheduled.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	type scheduled struct {
		at    time.Duration
		order int
	}
	var q Queue[scheduled]
	var want, got []scheduled
	for i := range 500 {
		s := scheduled{time.Duration(rng.IntN(50)), i}
		want = append(want, s)
		q.Schedule(s.at, s)
	}
	slices.SortStableFunc(want, func(a, b scheduled) int { return int(a.at - b.at) })
	for at, ok := q.Next(); ok; at, ok = q.Next() {
		s := q.Take()
		if s.at != at || q.Now() != at {
			t.Fatalf("event of %v taken at %v, expected at %v", s.at, q.Now(), at)
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, expected %v", got, want)
	}
}

// An event in the past is due now: time never goes back.
func TestPast(t *testing.T) {
	var q Queue[string]
	q.Schedule(5, "first")
	q.Take()
	q.Schedule(6, "third")
	q.Schedule(2, "second")
	if got := q.Take(); got != "second" || q.Now() != 5 {
		t.Errorf("%q at %v, expected second at 5ns", got, q.Now())
	}
	if got := q.Take(); got != "third" || q.Now() != 6 {
		t.Errorf("%q at %v, expected third at 6ns", got, q.Now())
	}
}
