package wire

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// requestSlots limits the concurrent requests to each peer, over all tasks. Without a limit, a node
// with many common tasks would exceed the peer's limit of streams. It may be used from any goroutine.
type requestSlots struct {
	ofPeer int

	mu    sync.Mutex
	peers map[peer.ID]*peerSlots
}

// peerSlots holds the slots of one peer. It exists while a request uses or awaits one of them.
type peerSlots struct {
	free  chan struct{}
	users int
}

func newRequestSlots(ofPeer int) *requestSlots {
	return &requestSlots{ofPeer: ofPeer, peers: map[peer.ID]*peerSlots{}}
}

// enter waits for a slot of the peer. The caller must call leave at the end of the request.
func (r *requestSlots) enter(ctx context.Context, id peer.ID) (leave func(), err error) {
	s := r.use(id)
	select {
	case s.free <- struct{}{}:
		return func() { <-s.free; r.unuse(id, s) }, nil
	case <-ctx.Done():
		r.unuse(id, s)
		return nil, ctx.Err()
	}
}

func (r *requestSlots) use(id peer.ID) *peerSlots {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.peers[id]
	if s == nil {
		s = &peerSlots{free: make(chan struct{}, r.ofPeer)}
		r.peers[id] = s
	}
	s.users++
	return s
}

func (r *requestSlots) unuse(id peer.ID, s *peerSlots) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(r.peers, id)
	}
}
