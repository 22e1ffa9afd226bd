package node

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// slowWork is the time for which Close waits for computations whose context has ended. The wait
// includes the goodbye to the peers. With the rest of the shutdown it stays below five seconds.
const slowWork = 3 * time.Second

// backgroundWork runs the computations of a session in parallel to the session's loop.
type backgroundWork struct {
	ctx    context.Context
	cancel context.CancelFunc

	group   sync.WaitGroup
	mu      sync.Mutex
	started int
	running map[int]string // names of the running computations, by number
}

func newBackgroundWork() *backgroundWork {
	w := &backgroundWork{running: map[int]string{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start runs a computation in a new goroutine. After end, or the cancellation of ctx, it does
// nothing. Only the session's loop may call it.
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

// end cancels all computations, waits at most patience for them, and returns the names of those
// that still run. They end later by themselves, and their results are dropped. It must be called
// after the loop has ended.
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
