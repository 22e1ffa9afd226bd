package trialserver

import (
	"context"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
)

// openAsks keeps the requests of clients that have stopped waiting: a strategy may wait for peers
// for longer than a client does, and would begin anew with each request.
//
// They report when a request has ended. The agent has the trials that a client then holds (HeldBy),
// and has them before the request has ended.
//
// All operations of one client are serialised, except requests that end by themselves.
type openAsks struct {
	ask      func(agent.Claim) (strategy.Trial, error) // may take any time
	giveBack func(trial uint64, client string)
	turn     func(client string) (end func())

	mu   sync.Mutex
	open map[string]*openAsk // by client; includes requests that have ended and that no caller has noticed
}

type openAsk struct {
	since  time.Time
	done   chan struct{} // closed when it has ended
	wanted bool          // a caller waits for it
	err    error

	// answered holds the trials that answers to the client have listed as held, each with the time
	// at which it was given: a returned trial may be given again.
	answered map[uint64]time.Time
}

// next gives the client one more trial, in its turn. After the context's error the request
// continues, and the next call finds it. A trial that arrives without a waiting caller is returned,
// so that the next client that asks gets it, unless an answer to the client lists it first.
func (a *openAsks) next(ctx context.Context, claim agent.Claim) error {
	o := a.want(claim)
	select {
	case <-o.done:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-o.done:
		delete(a.open, claim.Client)
		return o.err
	default:
		o.wanted = false
		return ctx.Err()
	}
}

func (a *openAsks) want(claim agent.Claim) *openAsk {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.open[claim.Client]
	if !ok {
		o = &openAsk{since: time.Now(), done: make(chan struct{}), answered: map[uint64]time.Time{}}
		if a.open == nil {
			a.open = map[string]*openAsk{}
		}
		a.open[claim.Client] = o
		go a.run(o, claim)
	}
	o.wanted = true
	return o
}

// age returns the time for which the request of a client has been open.
func (a *openAsks) age(client string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.open[client]; ok {
		return time.Since(o.since)
	}
	return 0
}

// tell notes the trials that an answer to a client lists as held. It is called in the client's
// turn, as are all readers of the note.
func (a *openAsks) tell(client string, held []strategy.Trial) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.open[client]; ok {
		for _, trial := range held {
			o.answered[trial.ID] = trial.Started
		}
	}
}

func (a *openAsks) run(o *openAsk, claim agent.Claim) {
	trial, err := a.ask(claim)
	a.mu.Lock()
	o.err = err
	close(o.done)
	wanted := o.wanted
	a.mu.Unlock()
	if wanted {
		return
	}
	end := a.turn(claim.Client)
	defer end()
	a.mu.Lock()
	unnoticed := a.open[claim.Client] == o
	if unnoticed {
		delete(a.open, claim.Client)
	}
	given, answered := o.answered[trial.ID]
	a.mu.Unlock()
	if unnoticed && err == nil && !(answered && given.Equal(trial.Started)) {
		a.giveBack(trial.ID, claim.Client)
	}
}
