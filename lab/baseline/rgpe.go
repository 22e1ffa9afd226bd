package baseline

import (
	"context"
	"fmt"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// rgpe is the ranking-weighted Gaussian process ensemble.
type rgpe struct {
	search search.Search
	pool   *Pool
	self   int
}

var (
	_ strategy.Strategy    = rgpe{}
	_ strategy.Recommender = rgpe{}
)

// NewRGPE returns the ranking-weighted ensemble for the agent that is member self of the pool. It
// maximises the expected improvement over the agent's best output, under a mixture of its own
// posterior and its peers'. Each posterior is in its member's standardised units. Its weight is the
// share of draws in which it orders the agent's observations best.
//
// This is the rule of the paper's first version. It uses 128 draws and leave-one-out models for the
// target, and drops peers whose median loss exceeds the 95th percentile of the target's. It
// recommends the maximiser of the mixture's mean. The time of a suggestion is proportional to the
// number of peers.
func NewRGPE(t *task.Task, pool *Pool, self int) strategy.Strategy {
	return rgpe{search: search.New(t), pool: pool, self: self}
}

// Suggest implements strategy.Strategy.
func (s rgpe) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	e, err := s.ensemble(view, seed.Derive("ranking", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	return s.search.Maximise(ctx, view, trial, seed, acquisition.LogEI(&e.mixture, e.best), e.why)
}

// Recommend implements strategy.Recommender.
func (s rgpe) Recommend(ctx context.Context, view strategy.View, seed random.Seed) task.Design {
	if view.Posterior == nil {
		return task.Design{}
	}
	e, err := s.ensemble(view, seed.Derive("ranking", 0))
	if err != nil {
		return s.search.Recommend(ctx, view, seed)
	}
	return s.search.Top(ctx, view, seed, search.LowerBound(view, &e.mixture))
}

// ensemble is the mixture, the agent's best output, and the explanation of designs.
type ensemble struct {
	mixture mixture
	best    float64
	why     strategy.Why
}

func (s rgpe) ensemble(view strategy.View, seed random.Seed) (*ensemble, error) {
	own, err := s.pool.own(view)
	if err != nil {
		return nil, err
	}
	peers := s.pool.now().peers(s.self)
	target, err := ownLosses(own, seed.Stream("member", uint64(s.self)))
	if err != nil {
		return nil, fmt.Errorf("rank the own model: %w", err)
	}
	losses := make([][]int, len(peers))
	for n, p := range peers {
		if losses[n], err = peerLosses(p.known, own.x, own.y, seed.Stream("member", uint64(p.member))); err != nil {
			return nil, fmt.Errorf("rank the model of member %d: %w", p.member, err)
		}
	}
	weight, weights := rankingWeights(target, losses)
	e := &ensemble{best: own.best()}
	e.mixture.add(view.Posterior, weight)
	informed := peerInput{}
	for n, p := range peers {
		if weights[n] == 0 {
			continue
		}
		process, err := p.process()
		if err != nil {
			return nil, fmt.Errorf("the model of member %d: %w", p.member, err)
		}
		e.mixture.add(process, weights[n])
		informed.to(p)
	}
	e.why = informed.why()
	return e, nil
}

// peerInput counts the peers whose models a design uses, and their observations.
type peerInput struct{ members, observations int }

func (l *peerInput) to(p peer) {
	l.members++
	l.observations += len(p.y)
}

func (l peerInput) why() strategy.Why {
	if l.members == 0 {
		return strategy.Why{Source: "ei"}
	}
	return strategy.Why{Source: "peers", PeerCount: l.members, Observations: l.observations}
}
