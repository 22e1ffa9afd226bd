package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/strategy"
)

// slow is a session whose strategy takes until it is let go.
type slow struct {
	asked chan string
	let   chan uint64
	back  chan uint64
}

func newSlow() (*slow, *openAsks) {
	s := &slow{make(chan string, 10), make(chan uint64), make(chan uint64, 10)}
	return s, &openAsks{
		ask: func(c agent.Claim) (strategy.Trial, error) {
			s.asked <- c.Client
			id, ok := <-s.let
			if !ok {
				return strategy.Trial{}, errors.New("closed")
			}
			return strategy.Trial{ID: id}, nil
		},
		giveBack: func(trial uint64, _ string) { s.back <- trial },
		turn:     func(string) func() { return func() {} },
	}
}

var someClaim = agent.Claim{Client: "a", Lease: time.Hour}

// Who stops waiting and comes again waits for the same.
func TestAnAskOutlivesItsRequest(t *testing.T) {
	s, a := newSlow()
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	got := make(chan uint64)
	go func() {
		trial, err := a.next(t.Context(), someClaim)
		if err != nil {
			t.Error(err)
		}
		got <- trial.ID
	}()
	for wanted := false; !wanted; { // until it waits
		a.mu.Lock()
		wanted = a.open["a"].wanted
		a.mu.Unlock()
	}
	s.let <- 7
	if id := <-got; id != 7 {
		t.Errorf("trial %d", id)
	}
	if len(s.asked) != 1 || len(s.back) != 0 || len(a.open) != 0 {
		t.Errorf("asked %d times, handed back %d, open %v", len(s.asked), len(s.back), a.open)
	}
}

// A trial that nobody waits for is handed back, and the next request is a new one.
func TestATrialThatNobodyWaitsFor(t *testing.T) {
	s, a := newSlow()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.let <- 3
	if id := <-s.back; id != 3 {
		t.Errorf("handed back: %d", id)
	}
	close(s.let)
	if _, err := a.next(t.Context(), someClaim); err == nil || len(s.asked) != 2 {
		t.Errorf("%v, asked %d times", err, len(s.asked))
	}
}

// However soon clients stop waiting, no trial is given to two of them, and none gets lost.
func TestImpatientClients(t *testing.T) {
	t.Parallel()
	d := open(t, started(t, t.TempDir()))
	of := create(t, d, Order{Text: bowl})
	const clients, each = 8, 15
	var mu sync.Mutex
	holders := map[uint64]string{}
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			claim := agent.Claim{Client: fmt.Sprint("client ", i), Lease: time.Hour}
			for told, n := 0, 0; told < each; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%10)*time.Millisecond)
				trials, err := of.Ask(ctx, claim, 1, agent.Once{})
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
				for _, trial := range trials {
					mu.Lock()
					if other, ok := holders[trial.ID]; ok {
						t.Errorf("trial %d is given to %s and to %s", trial.ID, other, claim.Client)
					}
					holders[trial.ID] = claim.Client
					mu.Unlock()
					if err := of.Session().Tell(t.Context(), trial.ID, 1); err != nil {
						t.Error(err)
						return
					}
					told++
				}
			}
		})
	}
	working.Wait()
	trials, err := of.Session().Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		if (trial.State == strategy.Done) != (holders[trial.ID] != "") || trial.State == strategy.Failed {
			t.Errorf("%s had trial %+v", holders[trial.ID], trial)
		}
	}
}
