package wire

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// coalescer runs a function for many peers, and never twice at the same time for one peer. It may
// be used from any goroutine.
type coalescer struct {
	mu    sync.Mutex
	again map[peer.ID]bool // has a key for each peer for which the function runs; true: run was called again meanwhile
}

// run calls the function for a peer. If it already runs for that peer, run returns at once, and the
// running call repeats it once.
func (o *coalescer) run(id peer.ID, it func()) {
	if !o.begin(id) {
		return
	}
	for more := true; more; more = o.end(id) {
		it()
	}
}

func (o *coalescer) begin(id peer.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, busy := o.again[id]
	if o.again == nil {
		o.again = map[peer.ID]bool{}
	}
	o.again[id] = busy
	return !busy
}

// end reports whether the function must run again.
func (o *coalescer) end(id peer.ID) (again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if again = o.again[id]; again {
		o.again[id] = false
	} else {
		delete(o.again, id)
	}
	return again
}
