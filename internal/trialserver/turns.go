package trialserver

import (
	"context"
	"sync"
)

// turns serialises the requests of each client, so that two concurrent requests do not give it
// twice as many trials as it asks for.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the turn ends
}

// take waits for the client's turn; the caller ends it.
func (t *turns) take(ctx context.Context, client string) (end func(), err error) {
	for {
		t.mu.Lock()
		busy, ok := t.taken[client]
		if !ok {
			break
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	t.taken[client] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, client)
		close(mine)
	}, nil
}
