package wire

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// coalescer runs a function for many peers, for each once at a time. It may be used from any
// goroutine.
type coalescer struct {
	mu    sync.Mutex
	again map[peer.ID]bool // the peers for which it runs: whether run was called meanwhile
}

// run calls it, unless it runs for the peer: then the running call repeats it.
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

// end reports whether it must run again.
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
