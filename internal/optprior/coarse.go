package optprior

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// TTL is the lifetime of a shared density. It does not depend on whether its author is present.
const TTL = protocol.MaxTTL

// FrontComponents is the maximum number of normals in a share of a task with several objectives.
const FrontComponents = 4

// NewCoarse returns the exchange of one agent that publishes a coarse estimate of the optimum's
// location: after the starting designs, and then after every observation. Each share is a
// protocol.Density with one normal around the cell of a secret grid ([coarsen.Grid]). Its standard
// deviation combines spread and the size of a grid cell, and is at most protocol.MaxSpread.
//
// With several objectives a share has up to FrontComponents normals of equal weight: around designs of the
// Pareto front of the outcomes, evenly spaced in the order of the first objective, each cell once.
func NewCoarse(env strategy.Env, spread float64) (*latest.Latest, error) {
	grid, err := coarsen.New(env.Key, env.Task.Space)
	if err != nil {
		return nil, err
	}
	return newExchange(env.Task, math.Hypot(spread, grid.Deviation()), 1, grid.Coarse), nil
}

// NewExact returns the same exchange as NewCoarse, but without the grid: shares contain the exact
// estimate. A share comes after every `every` observations.
func NewExact(t *task.Task, spread float64, every int) *latest.Latest {
	return newExchange(t, spread, every, func(best protocol.Point) protocol.Point { return best })
}

// newExchange returns the exchange of one agent that publishes its estimate of the optimum's
// location. published maps the estimate to the point that is shared.
func newExchange(t *task.Task, spread float64, every int, published func(best protocol.Point) protocol.Point) *latest.Latest {
	find := search.New(t)
	wide := float64(float32(min(spread, protocol.MaxSpread))) // as rounded in messages
	most := 1
	if t.Several() {
		most = FrontComponents
	}
	return latest.New(latest.Spec{
		Kind:  protocol.DensityKind,
		From:  t.Strategy.InitialDesigns,
		Every: every,
		TTL:   TTL,
		Decode: func(payload []byte) (any, error) {
			d, err := protocol.DecodeDensity(payload, t.Space)
			if err != nil {
				return nil, err
			}
			if d.Release > 0 {
				return nil, fmt.Errorf("%w: a density of private release %d, the task plans none", protocol.ErrMalformed, d.Release)
			}
			other := func(c protocol.Component) bool { return c.Std != wide }
			if len(d.Components) > most || slices.ContainsFunc(d.Components, other) {
				return nil, fmt.Errorf("%w: a density of %d components, expected %d at most, each of spread %g", protocol.ErrMalformed, len(d.Components), most, wide)
			}
			return d, nil
		},
		Compute: func(ctx context.Context, view strategy.View, seed random.Seed) ([]byte, error) {
			if t.Several() {
				return ofFront(find, view, wide, published)
			}
			if view.Posterior == nil {
				return nil, nil // the surrogate could not be fitted; there is nothing to share yet
			}
			best := find.Optimum(ctx, view, seed.Derive("density", uint64(view.Observations)))
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !search.LikelyFeasible(view, t.Space.Encode(best)) {
				return nil, nil // no design is expected to be feasible
			}
			return protocol.Density{
				Observations: view.Observations,
				Components: []protocol.Component{{
					Weight: 1,
					Std:    wide,
					Center: published(protocol.PointOf(t.Space, best)),
				}},
			}.Encode(t.Space)
		},
	})
}

// ofFront returns the share of a task with several objectives, nil while no outcome is feasible.
func ofFront(find search.Search, view strategy.View, wide float64, published func(protocol.Point) protocol.Point) ([]byte, error) {
	space := view.Task.Space
	var centres []protocol.Point
	for _, x := range find.FrontDesigns(view, FrontComponents) {
		centre := published(protocol.PointOf(space, space.Decode(x)))
		same := func(other protocol.Point) bool { return reflect.DeepEqual(other, centre) }
		if !slices.ContainsFunc(centres, same) {
			centres = append(centres, centre)
		}
	}
	if len(centres) == 0 {
		return nil, nil
	}
	d := protocol.Density{Observations: view.Observations}
	for _, centre := range centres {
		d.Components = append(d.Components, protocol.Component{Weight: 1 / float64(len(centres)), Std: wide, Center: centre})
	}
	return d.Encode(space)
}

// Forge replaces the centres of a density by designs of the attack.
func Forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	d, err := protocol.DecodeDensity(payload, t.Space)
	if err != nil {
		return nil, err
	}
	for i := range d.Components {
		d.Components[i].Center = protocol.PointOf(t.Space, attack.Design(t.Space))
	}
	if attack.Extreme {
		d.Observations = math.MaxInt32
	}
	return d.Encode(t.Space)
}
