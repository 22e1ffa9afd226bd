package desk

import (
	"context"
	"sync"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/strategy"
)

// openAsks keeps the requests of clients that have stopped waiting: a strategy may wait for
// peers for longer than a client does, and would begin anew with each request.
//
// All of one client is done in its turn, but for what ends by itself.
type openAsks struct {
	ask      func(agent.Claim) (strategy.Trial, error) // takes as long as it takes
	giveBack func(trial uint64, client string)
	turn     func(client string) (end func())

	mu   sync.Mutex
	open map[string]*openAsk // by client; also those with an answer that nobody has taken
}

type openAsk struct {
	done   chan struct{} // closed when there is an answer
	wanted bool          // somebody waits for it
	trial  strategy.Trial
	err    error
}

// next gets one more trial for a client, in its turn. After the context's error the request
// goes on, and the next call finds it. A trial that comes when nobody waits is handed
// back, so that whoever asks next gets it.
func (a *openAsks) next(ctx context.Context, claim agent.Claim) (strategy.Trial, error) {
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
		return o.trial, o.err
	default:
		o.wanted = false
		return strategy.Trial{}, ctx.Err()
	}
}

func (a *openAsks) want(claim agent.Claim) *openAsk {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.open[claim.Client]
	if !ok {
		o = &openAsk{done: make(chan struct{})}
		if a.open == nil {
			a.open = map[string]*openAsk{}
		}
		a.open[claim.Client] = o
		go a.run(o, claim)
	}
	o.wanted = true
	return o
}

// settle forgets an answer that has come: the client holds that trial, and is about to
// find it so. It is called in the client's turn.
func (a *openAsks) settle(client string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.open[client]; ok {
		select {
		case <-o.done:
			delete(a.open, client)
		default:
		}
	}
}

func (a *openAsks) run(o *openAsk, claim agent.Claim) {
	trial, err := a.ask(claim)
	a.mu.Lock()
	o.trial, o.err = trial, err
	close(o.done)
	wanted := o.wanted
	a.mu.Unlock()
	if wanted {
		return
	}
	end := a.turn(claim.Client)
	defer end()
	a.mu.Lock()
	untaken := a.open[claim.Client] == o
	if untaken {
		delete(a.open, claim.Client)
	}
	a.mu.Unlock()
	if untaken && err == nil {
		a.giveBack(trial.ID, claim.Client)
	}
}
