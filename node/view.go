package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// View returns what this node knows, as its strategy sees it. It waits until the models know
// all outcomes. Whoever looks must alter nothing in it.
func (s *Session) View(ctx context.Context) (view strategy.View, err error) {
	if err := s.await(ctx, func() bool { _, all := s.agent.Modelled(); return all || s.agent.Keeping() }); err != nil {
		return view, err
	}
	return view, s.do(ctx, func(now time.Time) { view = s.agent.View(now) })
}

// PeerWeights lists how much the strategy believes each peer in a view of this session; none
// where it does not weigh them one by one.
func (s *Session) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	return s.agent.PeerWeights(view)
}

// Authors lists the peers of whom this node holds valid shares, in order of ID.
func (s *Session) Authors(ctx context.Context) (all []Author, err error) {
	return all, s.do(ctx, func(now time.Time) { all = s.agent.Authors(now) })
}

// Banned tells whether a peer is barred for misbehaviour.
func (s *Session) Banned(id peer.ID) bool { return s.node.isBanned(id) }
