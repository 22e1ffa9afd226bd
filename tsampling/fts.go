package tsampling

import (
	"context"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// FTS is the strategy of federated Thompson sampling on one task. It is immutable.
type FTS struct {
	own      alone.TS
	engine   alone.Engine // scalarises several objectives
	search   search.Search
	settings Settings
	features *rff.Map
}

var _ strategy.Strategy = (*FTS)(nil)

// NewFTS returns the strategy of a task of type fts. features must be the shared features
// of the task.
func NewFTS(t *task.Task, features *rff.Map) *FTS {
	return &FTS{own: alone.NewTS(t), engine: alone.NewEngine(t), search: search.New(t), settings: settingsOf(t), features: features}
}

// Suggest implements strategy.Strategy. When it uses the agent's own sample, it suggests
// exactly the design of [alone.TS] for the same view, trial and seed.
//
// With several objectives, a sample is one of a random scalarisation of them ([alone.Engine.Scalarised]):
// own samples have weights drawn anew for each trial, and peers' samples the weights that their author has
// drawn for the share. Both have the same distribution, so a peer's weights can take the place of own ones.
func (s *FTS) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.own.Suggest(ctx, view, trial, seed)
	}
	own := s.settings.Schedule.Own(s.search.AfterStart(trial))
	if seed.Stream("whose sample", trial).Float64() < own {
		return s.ownSample(ctx, view, trial, seed, own)
	}
	share := s.settings.Peers.choose(s.usable(view), view, s.features, seed.Stream("which peer", trial))
	if share == nil {
		return s.ownSample(ctx, view, trial, seed, own)
	}
	weights := share.Value.(protocol.Weights)
	return s.search.Maximise(ctx, view, trial, seed, s.features.Function(weights.Values), strategy.Why{
		Source:         "peer",
		Phrase:         fmt.Sprintf("sample from peer %s (its %d observations)", strategy.ShortID(share.Author), weights.Observations),
		OwnProbability: &own,
		Peer:           share.Author,
		Stamp:          &share.Stamp,
		Observations:   weights.Observations,
	})
}

// ownSample suggests the maximiser of a sample of the agent's own posterior: with several objectives, of that
// of a random scalarisation.
func (s *FTS) ownSample(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, probability float64) (strategy.Suggestion, error) {
	if !view.Task.Several() {
		return s.own.OwnSample(ctx, view, trial, seed, &probability)
	}
	scalar, ok, err := s.engine.Scalarised(ctx, view, seed.Stream("scalarisation", trial))
	switch {
	case err != nil:
		return strategy.Suggestion{}, err
	case !ok:
		return s.search.Start(view, trial, seed)
	}
	return s.own.OwnSample(ctx, scalar, trial, seed, &probability)
}

// usable returns the shares from which Suggest may choose, at most one per peer. In concurrent mode
// these are the shares of present peers that this agent has not used. In one-shot mode these are
// the shares of all peers of which this agent has used no share. A peer without a usable share is
// not chosen.
func (s *FTS) usable(view strategy.View) []*strategy.Share {
	usedStamp := map[peer.ID][]protocol.Stamp{}
	for _, trial := range view.Trials {
		if trial.Why.Stamp != nil {
			usedStamp[trial.Why.Peer] = append(usedStamp[trial.Why.Peer], *trial.Why.Stamp)
		}
	}
	present := presence.Of(view)
	var usable []*strategy.Share
	for share := range strategy.Shares[protocol.Weights](view) {
		used := usedStamp[share.Author]
		if s.settings.Mode == OneShot && len(used) == 0 ||
			s.settings.Mode == Concurrent && present.Has(share.Author) && !slices.Contains(used, share.Stamp) {
			usable = append(usable, share)
		}
	}
	return usable
}
