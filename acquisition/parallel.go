package acquisition

import (
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n-1 on up to workers goroutines, and returns when all
// are done. What do writes must belong to its index alone, so that the order
// does not matter. A panic in do reaches the caller.
func each(workers, n int, do func(i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	panics := make([]any, workers)
	run := func(worker int) {
		defer func() { panics[worker] = recover() }()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
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
