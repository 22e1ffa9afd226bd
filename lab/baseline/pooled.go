package baseline

import (
	"context"
	"fmt"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// pathFeatures is the number of random features of the prior part of a sample
// path, as in the exact surrogate.
const pathFeatures = 512

// pooled is Thompson sampling on a process of all members' observations.
type pooled struct {
	alone  alone.TS
	search search.Search
	pool   *Pool
	self   int
	kind   kind
}

var (
	_ strategy.Strategy    = pooled{}
	_ strategy.Recommender = pooled{}
)

// NewPooled returns Thompson sampling on the exact process of all members' observations in the
// given units, as if all members had one function. It is for the agent that is member self of the
// pool. It recommends the maximiser of the process's mean. While no other member has observations,
// it is plain Thompson sampling.
//
// Hyperparameters are learned again when the number of observations has grown by half. With more
// than 600 observations the process uses the agent's own (at most 500), the best 100 of the others,
// and a random selection of the rest.
func NewPooled(t *task.Task, pool *Pool, self int, units Units) strategy.Strategy {
	return newPooled(t, pool, self, kind{related: false, units: units})
}

// NewMultitask returns the strategy of NewPooled on another process. In this process every member
// has its own function, and the similarity of members is learned with the other hyperparameters. It
// uses all observations and weights those of other members by the learned similarity.
func NewMultitask(t *task.Task, pool *Pool, self int, units Units) strategy.Strategy {
	return newPooled(t, pool, self, kind{related: true, units: units})
}

func newPooled(t *task.Task, pool *Pool, self int, k kind) pooled {
	return pooled{alone: alone.NewTS(t), search: search.New(t), pool: pool, self: self, kind: k}
}

// Suggest implements strategy.Strategy.
func (s pooled) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	now := s.pool.now()
	if s.search.Starting(view, trial) || len(now.peers(s.self)) == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	process, err := s.process(now, view, seed, trial)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	informed := peerInput{}
	for _, p := range now.peers(s.self) {
		informed.to(p)
	}
	path := process.Draw(pathFeatures, seed.Stream("own sample", trial))
	return s.search.Maximise(ctx, view, trial, seed, multitask.Fixed(path, s.block(now)), informed.why())
}

// Recommend implements strategy.Recommender.
func (s pooled) Recommend(ctx context.Context, view strategy.View, seed random.Seed) task.Design {
	now := s.pool.now()
	if view.Posterior == nil || len(now.peers(s.self)) == 0 {
		return s.search.Recommend(ctx, view, seed)
	}
	process, err := s.process(now, view, seed, 0)
	if err != nil {
		return s.search.Recommend(ctx, view, seed)
	}
	f := multitask.Fixed(acquisition.LCB(process, 1), s.block(now)) // the lower bound, as search.LowerBound
	return s.search.Top(ctx, view, seed, f)
}

func (s pooled) process(now *snapshot, view strategy.View, seed random.Seed, trial uint64) (*gp.Posterior, error) {
	if own := now.members[s.self]; own == nil || len(own.y) < view.Observations {
		return nil, fmt.Errorf("the pool has not received all observations of member %d", s.self)
	}
	process, err := now.process(s.kind, s.self, seed.Stream("pooled observations", trial))
	if err != nil {
		return nil, fmt.Errorf("the process of everybody's observations: %w", err)
	}
	return process, nil
}

// block returns the coordinates after those of a design that mark a value as the agent's own.
func (s pooled) block(now *snapshot) []float64 {
	if !s.kind.related {
		return nil
	}
	return multitask.Equidistant(s.self, len(now.members))
}
