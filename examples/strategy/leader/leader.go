// Package leader is an example of a new strategy: follow the leader. Each node shares its
// best trial. If the best trial of all is a peer's, a node draws half of its designs around
// it. The other half come from Thompson sampling on own observations.
package leader

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// settings are the keys of the task file's section strategy.
type settings struct{ Reach float64 }

func (s settings) Keys() map[string]any { return map[string]any{"reach": s.Reach} }

// Register returns the registration that a program adds to its strategies.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "leader", Settings: func(s *task.Section) task.StrategySettings {
			return settings{Reach: s.Within("reach", 0.05, 0.001, 1)}
		}},
		New: func(t *task.Task) (strategy.Strategy, error) {
			return follower{task: t, search: search.New(t), alone: alone.NewTS(t), reach: t.Strategy.Settings.(settings).Reach}, nil
		},
		Describe: func(*task.Task) string { return "half of the time a step from the best design of all" },
		Disclosures: []strategy.Disclosure{{
			Rung: strategy.RungDesign,
			Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
				return []strategy.Exchange{latest.New(latest.Spec{
					Kind: "best-trial", From: 1, TTL: 24 * time.Hour,
					Decode: func(payload []byte) (any, error) { return decode(env.Task, payload) },
					Compute: func(_ context.Context, view strategy.View, _ strategy.Seed) ([]byte, error) {
						best := strategy.Best(view.Task, view.Trials)
						if best == nil {
							return nil, nil // all trials are infeasible, so there is nothing to share
						}
						return json.Marshal(map[string]any{"design": best.Design, "value": best.Outcome.Value})
					},
				})}, nil
			},
			Holds:   func(*task.Task) string { return "a share holds the best trial" },
			Reveals: func(*task.Task) string { return "Peers receive the best design of this node and its value." },
		}},
	}
}

// found is the best trial of a node.
type found struct {
	design task.Design
	value  float64
}

// Measured implements task.Measurement, so that the task can compare best trials.
func (f found) Measured(output task.Output) (float64, bool) { return f.value, output == task.Objective }

// decode validates a payload. Every node that knows the task can send any bytes.
func decode(t *task.Task, payload []byte) (any, error) {
	var wire struct {
		Design json.RawMessage
		Value  *float64
	}
	if err := json.Unmarshal(payload, &wire); err != nil || wire.Value == nil {
		return nil, fmt.Errorf("%w: a best trial needs a design and a value", protocol.ErrMalformed)
	}
	design, err := t.Space.UnmarshalDesign(wire.Design)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrMalformed, err)
	}
	return found{design, *wire.Value}, nil
}

// follower chooses designs.
type follower struct {
	task   *task.Task
	search search.Search
	alone  alone.TS
	reach  float64 // of a step, in the unit cube
}

// Suggest implements strategy.Strategy.
func (s follower) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	leader, why := s.leader(view)
	rng := seed.Stream("step", trial)
	if s.search.Starting(view, trial) || why.PeerCount == 0 || rng.Float64() < 0.5 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	x := s.task.Space.Encode(leader.design)
	for i := range x {
		x[i] = min(max(x[i]+s.reach*rng.NormFloat64(), 0), 1)
	}
	design := s.task.Space.Decode(x)
	if s.search.Tried(view, design) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	return strategy.Suggestion{Design: design, Why: why}, nil
}

// leader returns the best trial of all. why is empty if it is the node's own.
func (s follower) leader(view strategy.View) (leader found, why strategy.Why) {
	ok := false
	if own := strategy.Best(view.Task, view.Trials); own != nil {
		leader, ok = found{own.Design, own.Outcome.Value}, true
	}
	for share, theirs := range strategy.Shares[found](view) {
		if !ok || s.task.Better(theirs, leader) {
			leader, ok = theirs, true
			why = strategy.Why{Source: "leader", Phrase: "a step from the best design of " + strategy.ShortID(share.Author), Peer: share.Author, PeerCount: 1}
		}
	}
	return leader, why
}
