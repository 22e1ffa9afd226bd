package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// View returns what this node knows, as its strategy sees it. It waits until the models know
// all outcomes. The caller must not change it.
func (s *Session) View(ctx context.Context) (view strategy.View, err error) {
	if err := s.await(ctx, func() bool { _, all := s.agent.Modelled(); return all || s.agent.Keeping() }); err != nil {
		return view, err
	}
	return view, s.do(ctx, func(now time.Time) { view = s.agent.View(now) })
}

// PeerWeights lists the weight that the strategy gives each peer in a view of this session; none
// where it does not weigh single peers.
func (s *Session) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	return s.agent.PeerWeights(view)
}

// Authors lists the peers whose valid shares this node stores, in order of ID.
func (s *Session) Authors(ctx context.Context) (all []Author, err error) {
	return all, s.do(ctx, func(now time.Time) { all = s.agent.Authors(now) })
}

// Recommend returns the best supported design, of largest posterior mean less one standard
// deviation, which is a better guess at the best design than the best outcome where outcomes are noisy; the zero design while
// there is no posterior. It takes as long as a suggestion.
func (s *Session) Recommend(ctx context.Context) (Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return Recommendation{}, err
	}
	return s.agent.Recommendation(ctx, view)
}

// Preferred returns the recommendation where it is to be preferred to the best observed design,
// because outcomes are noisy. Otherwise, and while no trial is feasible, it returns nil after a
// short time.
func (s *Session) Preferred(ctx context.Context) (*Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return nil, err
	}
	return s.agent.Preferred(ctx, view)
}

// RegretBound returns an upper bound of the difference between the best design so far and the best of
// the space, in the objective's units, by this node's own model; +Inf while
// it has no outcome. It waits until the model knows all outcomes, and takes as long as
// some suggestions. It takes no notice of constraints.
func (s *Session) RegretBound(ctx context.Context) (float64, error) {
	bound, _, err := s.regretBound(ctx)
	return bound, err
}

// regretBound also returns how many outcomes the model behind the bound has learned from.
func (s *Session) regretBound(ctx context.Context) (bound float64, observations int, err error) {
	if err := s.await(ctx, func() bool { _, all := s.agent.Modelled(); return all || s.agent.Keeping() }); err != nil {
		return 0, 0, err
	}
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return 0, 0, err
	}
	bound, err = s.agent.RegretBound(ctx, view)
	return bound, view.Observations, err
}

// Stopped returns why the latest run ended, by RunOptions.StopRegret; nil when it ended
// otherwise, or there are trials since.
func (s *Session) Stopped(ctx context.Context) (stopped *Stopped, err error) {
	return stopped, s.do(ctx, func(time.Time) { stopped = s.agent.StopReason() })
}

// Banned reports whether a peer is banned for violations.
func (s *Session) Banned(id peer.ID) bool { return s.node.network.IsBanned(id) }
