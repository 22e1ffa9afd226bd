package acquisition

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/fbo-node/fbo/internal/recoverpanic"
)

// each calls do for 0 to n-1 on up to workers goroutines, and returns when all calls are done. do
// may write only data that belong to its index, so that the order of calls does not matter. Once
// ctx has ended, each begins no further call. A panic in do reaches the caller of each; from
// another goroutine it arrives as a recoverpanic.Panic.
func each(ctx context.Context, workers, n int, do func(i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	panics := make([]error, workers)
	run := func(worker int) {
		_, panics[worker] = recoverpanic.Call("a worker", func() (struct{}, error) {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
			return struct{}{}, nil
		})
	}
	for worker := 1; worker < workers; worker++ {
		group.Go(func() { run(worker) })
	}
	run(0)
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
