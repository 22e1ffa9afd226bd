package node

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// peerSet may be used from any goroutine.
type peerSet struct {
	mu    sync.Mutex
	peers map[peer.ID]bool
}

func (s *peerSet) add(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers == nil {
		s.peers = map[peer.ID]bool{}
	}
	s.peers[id] = true
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
