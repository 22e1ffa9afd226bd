package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// View returns the view of this node's strategy: trials, shares and posteriors. It waits until the
// models have learned from all outcomes. The caller must not change it.
func (s *Session) View(ctx context.Context) (view strategy.View, err error) {
	if err := s.await(ctx, func() bool { _, all := s.agent.Modelled(); return all || s.agent.Keeping() }); err != nil {
		return view, err
	}
	return view, s.do(ctx, func(now time.Time) { view = s.agent.View(now) })
}

// PeerWeights returns the weight that the strategy gives each peer in a view of this session. The
// list is empty if the strategy does not weigh single peers.
func (s *Session) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	return s.agent.PeerWeights(view)
}

// Authors returns the peers whose valid shares this node stores, sorted by ID.
func (s *Session) Authors(ctx context.Context) (all []Author, err error) {
	return all, s.do(ctx, func(now time.Time) { all = s.agent.Authors(now) })
}

// Recommend returns the design with the largest posterior mean minus one standard deviation. If
// outcomes are noisy, it is a better guess at the best design than the best observed design.
// Without a posterior it returns the zero design. It takes as long as a suggestion.
func (s *Session) Recommend(ctx context.Context) (Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return Recommendation{}, err
	}
	return s.agent.Recommendation(ctx, view)
}

// Preferred returns the recommendation if outcomes are so noisy that it is preferable to the best
// observed design. Otherwise, and while no trial is feasible, it quickly returns nil.
func (s *Session) Preferred(ctx context.Context) (*Recommendation, error) {
	var view strategy.View
	if err := s.do(ctx, func(now time.Time) { view = s.agent.View(now) }); err != nil {
		return nil, err
	}
	return s.agent.Preferred(ctx, view)
}

// RegretBound returns an upper bound, by this node's own model, on the simple regret of the best
// design so far, in the objective's units. It is +Inf while there is no outcome. It waits until the
// model has learned from all outcomes, and takes as long as several suggestions. It ignores
// constraints.
func (s *Session) RegretBound(ctx context.Context) (float64, error) {
	bound, _, err := s.regretBound(ctx)
	return bound, err
}

// regretBound also returns the number of outcomes that the model has learned from.
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

// Stopped returns why RunOptions.StopRegret ended the latest run. It is nil if the run ended
// otherwise, or if a trial has begun since.
func (s *Session) Stopped(ctx context.Context) (stopped *Stopped, err error) {
	return stopped, s.do(ctx, func(time.Time) { stopped = s.agent.StopReason() })
}

// Banned reports whether a peer is banned for violations.
func (s *Session) Banned(id peer.ID) bool { return s.node.network.IsBanned(id) }
