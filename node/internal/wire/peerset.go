package wire

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// peerSet may be used from any goroutine.
type peerSet struct {
	mu    sync.Mutex
	peers map[peer.ID]bool
}

// add tells whether the peer was not in the set before.
func (s *peerSet) add(id peer.ID) (added bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers == nil {
		s.peers = map[peer.ID]bool{}
	}
	added = !s.peers[id]
	s.peers[id] = true
	return added
}

func (s *peerSet) remove(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, id)
}

func (s *peerSet) has(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers[id]
}
