package tsampling

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// sharer drives a Sharing; its work is done by hand.
type sharer struct {
	strategy.Exchange
	work      []strategy.Work
	published []strategy.Publish
	records   int
}

func newSharer(t testing.TB, keys string) *sharer {
	t.Helper()
	return &sharer{Exchange: NewSharing(newTask(t, floats, keys))}
}

func (s *sharer) step(observations int, in strategy.Input) {
	for _, output := range s.Step(strategy.View{Observations: observations, Posterior: posterior{}}, in) {
		switch output := output.(type) {
		case strategy.Work:
			s.work = append(s.work, output)
		case strategy.Publish:
			s.published = append(s.published, output)
		case strategy.Record:
			s.records++
		}
	}
}

// finish does the work that waits, seeing that many observations.
func (s *sharer) finish(observations int, weight float64) {
	for range 10 {
		if len(s.work) == 0 {
			return
		}
		s.work = s.work[1:]
		values := make([]float64, 8)
		values[0] = weight
		s.step(observations, strategy.WorkDone{Name: "draw", Result: protocol.Weights{Observations: observations, Values: values}})
	}
	panic("the work never ends")
}

func TestWhenDrawsAreShared(t *testing.T) {
	s := newSharer(t, "type: fts, initial_designs: 4, share_every: 3")
	var sharedAt []int
	s.step(0, strategy.Start{})
	for n := 1; n <= 14; n++ {
		before := len(s.published)
		s.step(n, strategy.TrialsEnded{})
		s.step(n, strategy.TrialsEnded{}) // a failed trial adds nothing
		s.finish(n, 1)
		if len(s.published) > before {
			sharedAt = append(sharedAt, n)
		}
		if len(s.published) > before+1 {
			t.Errorf("%d draws on %d observations", len(s.published)-before, n)
		}
	}
	if !slices.Equal(sharedAt, []int{4, 7, 10, 13}) || s.records != 0 {
		t.Errorf("shared at %v, %d records", sharedAt, s.records)
	}
}

func TestOneDrawAtATime(t *testing.T) {
	s := newSharer(t, "type: fts, initial_designs: 1")
	for n := 1; n <= 5; n++ {
		s.step(n, strategy.TrialsEnded{})
	}
	if len(s.work) != 1 {
		t.Fatalf("%d draws are under way", len(s.work))
	}
	s.finish(5, 1)
	if len(s.published) != 1 {
		t.Errorf("%d draws on the same 5 observations", len(s.published))
	}
	s.step(5, strategy.WorkDone{Err: errors.New("no memory")})
	s.step(6, strategy.TrialsEnded{})
	s.step(6, strategy.WorkDone{Err: errors.New("no memory")})
	if len(s.work) != 1 {
		t.Errorf("a draw that failed is tried %d times before the next observation", len(s.work))
	}
	s.step(7, strategy.TrialsEnded{})
	if len(s.work) != 2 {
		t.Error("a draw that failed is not tried again")
	}
}

func TestOneShotSharesOnceInALife(t *testing.T) {
	keys := "type: fts, mode: one-shot, share_after: 3"
	s := newSharer(t, keys)
	s.step(0, strategy.Start{})
	for n := 1; n <= 6; n++ {
		s.step(n, strategy.TrialsEnded{})
		if (len(s.work) > 0) != (n == 3) {
			t.Errorf("%d draws on %d observations", len(s.work), n)
		}
		s.finish(n, 1)
	}
	if len(s.published) != 1 || s.records != 1 || s.published[0].TTL != protocol.MaxTTL || s.published[0].Ephemeral {
		t.Errorf("published %+v with %d records", s.published, s.records)
	}
	again := newSharer(t, keys)
	again.step(6, strategy.Replayed{Data: []byte("sent")})
	again.step(6, strategy.Start{})
	again.step(7, strategy.TrialsEnded{})
	if len(again.work) != 0 {
		t.Error("it speaks again after a restart")
	}
	interrupted := newSharer(t, keys)
	interrupted.step(6, strategy.Start{})
	if len(interrupted.work) != 1 {
		t.Error("what a crash prevented is not made up for")
	}
}

// A draw beyond all bounds is dropped, and not drawn again at once, for it
// would be the same.
func TestAWildDrawIsDropped(t *testing.T) {
	for _, keys := range []string{"type: fts, initial_designs: 1", "type: fts, mode: one-shot, share_after: 1"} {
		s := newSharer(t, keys)
		s.step(1, strategy.TrialsEnded{})
		s.finish(1, math.NaN())
		if len(s.published) != 0 {
			t.Errorf("%s: NaN was published", keys)
		}
		s.step(2, strategy.TrialsEnded{})
		s.finish(2, 1)
		if len(s.published) != 1 {
			t.Errorf("%s: the next draw was not published", keys)
		}
	}
}
