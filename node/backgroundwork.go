package node

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// slowWork is how long Close waits for computations whose context has ended, the goodbye to the
// peers included. Together with the rest of the shutdown it stays below five seconds.
const slowWork = 3 * time.Second

// backgroundWork holds the computations of a session that run in parallel to its loop.
type backgroundWork struct {
	ctx    context.Context
	cancel context.CancelFunc

	group   sync.WaitGroup
	mu      sync.Mutex
	started int
	running map[int]string // their names
}

func newBackgroundWork() *backgroundWork {
	w := &backgroundWork{running: map[int]string{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start runs a computation, unless they are to end. It is called by the session's
// loop alone.
func (w *backgroundWork) start(name string, run func(ctx context.Context)) {
	if w.ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	w.started++
	number := w.started
	w.running[number] = name
	w.mu.Unlock()
	w.group.Go(func() {
		run(w.ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, number)
	})
}

// end waits until all work has ended, at most for patience, and returns the names of work that has
// not. This work ends by itself, and its results are dropped. It is called after the loop.
func (w *backgroundWork) end(patience time.Duration) (left []string) {
	w.cancel()
	ended := make(chan struct{})
	go func() { w.group.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-time.After(patience):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Values(w.running))
}
