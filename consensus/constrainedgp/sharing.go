package constrainedgp

import (
	"context"
	"fmt"
	"io"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// ttl is the lifetime of a share that its author does not renew.
const ttl = protocol.MaxTTL

// newSharing returns the exchange of one agent on a task of type constrained-gp. It publishes the
// maximiser of the lower confidence bound of the agent's posterior. It does so from the last
// starting design on, after every observation or as often as share_every sets. If grid is not nil,
// the share contains only the cell of the design.
func newSharing(t *task.Task, grid *coarsen.Grid) *latest.Latest {
	find := search.New(t)
	return latest.New(latest.Spec{
		Kind:   protocol.NearOptimalKind,
		From:   t.Strategy.InitialDesigns,
		Every:  strategy.ChoiceOf(t).ShareEvery,
		TTL:    ttl,
		Decode: func(payload []byte) (any, error) { return decode(t, payload) },
		Compute: func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]byte, error) {
			n, ok, err := nearOptimal(ctx, t, find, view, seed)
			if !ok || err != nil {
				return nil, err
			}
			n.Point = grid.Coarse(n.Point)
			payload, err := n.Encode(t.Space)
			if err != nil {
				return nil, nil // the bound exceeds the limits of the format; the next share may fit
			}
			return payload, nil
		},
	})
}

// newReleases returns the exchange of one agent on a task with privacy. It publishes the same
// design as newSharing, but with noise and only as often as the task plans. entropy must be the
// Reader of crypto/rand outside of tests.
func newReleases(t *task.Task, entropy io.Reader) (*dprelease.Exchange, error) {
	find := search.New(t)
	return dprelease.New(t, entropy, func(ledger.Terms) dprelease.Spec {
		return dprelease.Spec{
			Kind:   protocol.NearOptimalKind,
			TTL:    ttl,
			Due:    func(release int) int { return dprelease.Due(t, release) },
			Decode: func(payload []byte) (any, error) { return decode(t, payload) },
			Number: func(value any) int {
				n, _ := value.(protocol.NearOptimal)
				return n.Release
			},
			Vector: func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]float64, error) {
				n, ok, err := nearOptimal(ctx, t, find, view, seed)
				if !ok || err != nil {
					return nil, err
				}
				return designvector.Vector(t.Space, n.Point), nil
			},
			Payload: func(noisy []float64, release int) ([]byte, error) {
				return protocol.NearOptimal{Observations: dprelease.Due(t, release), Point: designvector.Point(t.Space, noisy), Release: release}.Encode(t.Space)
			},
		}
	})
}

// decode returns a protocol.NearOptimal. It accepts a bound if and only if the task's threshold is open,
// and a DP release only for tasks with privacy.
func decode(t *task.Task, payload []byte) (any, error) {
	n, err := protocol.DecodeNearOptimal(payload, t.Space)
	if err != nil {
		return nil, err
	}
	threshold := designsOf(t).Threshold
	if bounded := n.Bound != nil; bounded != (threshold == open) {
		return nil, fmt.Errorf("%w: a design with a bound (%t), but the task's threshold is %q", protocol.ErrMalformed, bounded, threshold)
	}
	if n.Release > 0 && t.Privacy == nil {
		return nil, fmt.Errorf("%w: a design of private release %d, the task plans none", protocol.ErrMalformed, n.Release)
	}
	return n, nil
}

// nearOptimal returns the content of the agent's share. ok is false while there is nothing to
// share.
func nearOptimal(ctx context.Context, t *task.Task, s search.Search, view strategy.View, seed strategy.Seed) (n protocol.NearOptimal, ok bool, err error) {
	if view.Posterior == nil {
		return n, false, nil // the surrogate could not be fitted
	}
	units, err := unitsOf(t, view)
	if err != nil || units.Scale == 0 {
		return n, false, err // if all outcomes are equal, no design is near-optimal
	}
	deviations := designsOf(t).Confidence
	lcb := acquisition.LCB(view.Posterior, deviations*deviations)
	x, _, err := s.Maximizer.Maximize(ctx, search.AmongFeasible(view, lcb), s.Best(view), seed.Stream("near-optimal", uint64(view.Observations)))
	if err != nil || !search.LikelyFeasible(view, x) {
		return n, false, err
	}
	n = protocol.NearOptimal{Observations: view.Observations, Point: protocol.PointOf(t.Space, t.Space.Decode(x))}
	if threshold := designsOf(t).Threshold; threshold == open || threshold == private {
		bound := own(units, lcb.Value(x))
		n.Bound = &bound
	}
	return n, true, nil
}

// unitsOf returns the conversion between standardised values and the objective's units, in which
// larger is better. The view must have an observation.
func unitsOf(t *task.Task, view strategy.View) (surrogate.Units, error) {
	_, units, err := surrogate.Outputs(t, view.Observed(task.Objective))
	if err != nil {
		return surrogate.Units{}, err
	}
	return units, nil
}

// own converts a standardised value to the objective's units. For values in the bad tail, where
// standardisation is nonlinear, the result is too high. This is harmless: with comparable
// objectives, no bound from that tail exceeds a threshold.
func own(units surrogate.Units, value float64) float64 { return units.Level + units.Scale*value }
