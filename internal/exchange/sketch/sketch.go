// Package sketch shares quartiles of learning curves: how good the evaluations of a node are at each
// rung of the task's rule, and how much they change from there to the end (curves.Sketch). With them
// a rule of task.Stopping compares a new evaluation with those of peers.
//
// A share has no curve, no design and no best value. That gives no privacy in the sense of package
// privacy.
package sketch

import (
	"context"
	"fmt"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// Addition returns the exchange, which tasks ask for by the key share of the section stop.
func Addition() strategy.ExchangeAddition {
	return strategy.ExchangeAddition{
		Applies:   func(t *task.Task) bool { return t.Stop.Shares() },
		New:       func(t *task.Task) (strategy.Exchange, error) { return New(t), nil },
		Kind:      protocol.CurvesKind,
		Rung:      strategy.RungExact,
		Described: fmt.Sprintf("peers share quartiles of their values by step, from %d evaluations on", protocol.MinCurves),
		Reveals:   "Peers learn how many evaluations reached which step, the quartiles of their values there, and of the changes from there to the outcomes. They learn no curve and no best value.",
		Forge:     forge,
	}
}

// New returns the exchange of one agent. It publishes a sketch after each ended trial, from
// protocol.MinCurves trials with values by step on.
func New(t *task.Task) *latest.Latest {
	return latest.New(latest.Spec{
		Kind:   protocol.CurvesKind,
		From:   protocol.MinCurves,
		TTL:    protocol.MaxTTL,
		Count:  ended,
		Decode: decode,
		Compute: func(_ context.Context, view strategy.View, _ strategy.Seed) ([]byte, error) {
			sketch := curves.SketchOf(*t.Stop, strategy.Curves(view.Trials, nil))
			if len(sketch) == 0 {
				return nil, nil
			}
			return protocol.Curves{Rungs: sketch}.Encode()
		},
	})
}

// ended returns the number of trials with values by step that have ended.
func ended(view strategy.View) (count int) {
	for i := range view.Trials {
		if t := &view.Trials[i]; t.State.Ended() && len(t.Steps) > 0 {
			count++
		}
	}
	return count
}

// Of returns the sketches among peers' shares.
func Of(shares []*strategy.Share) (all []curves.Sketch) {
	for _, s := range shares {
		if sketch, ok := s.Value.(curves.Sketch); ok {
			all = append(all, sketch)
		}
	}
	return all
}

// decode returns a curves.Sketch.
func decode(payload []byte) (any, error) {
	c, err := protocol.DecodeCurves(payload)
	if err != nil {
		return nil, err
	}
	return curves.Sketch(c.Rungs), nil
}

// forge returns a sketch with the negative values, or with values as large as allowed.
func forge(_ *task.Task, payload []byte, attack strategy.Forgery) ([]byte, error) {
	c, err := protocol.DecodeCurves(payload)
	if err != nil {
		return nil, err
	}
	for i := range c.Rungs {
		r := &c.Rungs[i]
		for _, q := range []*protocol.Quartiles{&r.Values, &r.Changes} {
			if attack.Extreme {
				*q = protocol.Quartiles{-protocol.MaxUnit, attack.Rand.NormFloat64(), protocol.MaxUnit}
			} else {
				*q = protocol.Quartiles{-q[2], -q[1], -q[0]}
			}
		}
		if r.Complete == 0 {
			r.Changes = protocol.Quartiles{}
		}
	}
	return c.Encode()
}
