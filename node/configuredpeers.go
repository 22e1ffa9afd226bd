package node

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// named are those whom the node's user has named, as peers, hubs, on a list or in the roster
// of a task: they go before strangers. It may be used from any goroutine.
type named struct {
	mu  sync.Mutex
	ids map[peer.ID]bool
}

func newNamed(ids ...peer.ID) *named {
	n := &named{ids: map[peer.ID]bool{}}
	n.add(ids...)
	return n
}

func (n *named) add(ids ...peer.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		n.ids[id] = true
	}
}

func (n *named) has(id peer.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ids[id]
}
