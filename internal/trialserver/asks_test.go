package trialserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
)

// slow is a session whose strategy takes until it is let go.
type slow struct {
	asked chan string
	let   chan uint64
	back  chan uint64
	turns turns
	ran   chan bool // has one entry for each request that ended when nobody waited, and all that followed
}

func newSlow() (*slow, *openAsks) {
	s := &slow{asked: make(chan string, 10), let: make(chan uint64), back: make(chan uint64, 10), ran: make(chan bool, 10)}
	return s, &openAsks{
		ask: func(c agent.Claim) (strategy.Trial, error) {
			s.asked <- c.Client
			id, ok := <-s.let
			if !ok {
				return strategy.Trial{}, errors.New("closed")
			}
			return strategy.Trial{ID: id, Started: givenAt}, nil
		},
		giveBack: func(trial uint64, _ string) { s.back <- trial },
		turn: func(client string) func() {
			end, _ := s.turns.take(context.Background(), client)
			return func() { end(); s.ran <- true }
		},
	}
}

var givenAt = time.Unix(1e9, 0)

var someClaim = agent.Claim{Client: "a", Lease: time.Hour}

// Who stops waiting and comes again waits for the same.
func TestAnAskOutlivesItsRequest(t *testing.T) {
	s, a := newSlow()
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	got := make(chan error)
	go func() { got <- a.next(t.Context(), someClaim) }()
	for wanted := false; !wanted; { // until it waits
		a.mu.Lock()
		wanted = a.open["a"].wanted
		a.mu.Unlock()
	}
	s.let <- 7
	if err := <-got; err != nil {
		t.Error(err)
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
	if err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.let <- 3
	if id := <-s.back; id != 3 {
		t.Errorf("handed back: %d", id)
	}
	close(s.let)
	if err := a.next(t.Context(), someClaim); err == nil || len(s.asked) != 2 {
		t.Errorf("%v, asked %d times", err, len(s.asked))
	}
}

// A trial of which the client was told before the request for it has ended stays with the
// client; one that it had before, handed back and is given again does not.
func TestATrialThatIsToldBeforeItsRequestEnds(t *testing.T) {
	for _, c := range []struct {
		answered strategy.Trial
		handback bool
	}{
		{strategy.Trial{ID: 3, Started: givenAt}, false},
		{strategy.Trial{ID: 3, Started: givenAt.Add(-time.Second)}, true},
		{strategy.Trial{ID: 2, Started: givenAt}, true},
	} {
		s, a := newSlow()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		a.tell("a", []strategy.Trial{c.answered})
		s.let <- 3
		<-s.ran
		if len(s.back) != 0 != c.handback || len(a.open) != 0 {
			t.Errorf("answered %+v: handed back %d, open %v", c.answered, len(s.back), a.open)
		}
	}
}

// What a request came to just before the client asks again is the client's, and is not
// given to it a second time.
func TestATrialThatNobodyHasNoticed(t *testing.T) {
	s, a := newSlow()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	end, err := s.turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.next(ctx, someClaim); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.let <- 3
	a.mu.Lock()
	o := a.open["a"]
	a.mu.Unlock()
	<-o.done
	if err := a.next(t.Context(), someClaim); err != nil { // notices
		t.Fatal(err)
	}
	end()
	<-s.ran
	if len(s.back) != 0 || len(s.asked) != 1 || len(a.open) != 0 {
		t.Errorf("handed back %d, asked %d times, open %v", len(s.back), len(s.asked), a.open)
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
			for answered, n := 0, 0; answered < each; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%10)*time.Millisecond)
				asked, err := of.Ask(ctx, claim, 1, agent.Once{})
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
				for _, trial := range asked.Trials {
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
					answered++
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
