package optimum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/privacy/guard"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/exchange/newest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	// Kind names the exchange of densities and its shares.
	Kind = "density"

	// TTL is how long a density stays valid, whether or not its author is present.
	TTL = protocol.MaxTTL
)

// NewGuarded returns the exchange of one agent that tells coarsely where it believes the
// optimum to be ([guard.Grid]): after the starting designs, and then after every
// observation. What it shares is a protocol.Density of one normal, which is wider than
// spread by what the grid hides, up to protocol.MaxSpread.
func NewGuarded(env strategy.Env, spread float64) (*newest.Exchange, error) {
	grid, err := guard.New(env.Key, env.Task.Space)
	if err != nil {
		return nil, err
	}
	t, find := env.Task, search.New(env.Task)
	wide := float64(float32(min(math.Hypot(spread, guard.Deviation), protocol.MaxSpread))) // as it travels
	return newest.New(newest.Spec{
		Kind: Kind,
		From: t.Strategy.InitialDesigns,
		TTL:  TTL,
		Decode: func(payload []byte) (any, error) {
			d, err := protocol.DecodeDensity(payload, t.Space)
			if err != nil {
				return nil, err
			}
			if len(d.Components) != 1 || d.Components[0].Spread != wide {
				return nil, fmt.Errorf("%w: a guarded density of %d components, accepted is one of spread %g", protocol.ErrMalformed, len(d.Components), wide)
			}
			return d, nil
		},
		Compute: func(ctx context.Context, view strategy.View, seed random.Seed) ([]byte, error) {
			if view.Posterior == nil {
				return nil, nil // the surrogate could not be fitted; nothing to say yet
			}
			best := find.Recommend(ctx, view, seed.Derive("density", uint64(view.Observations)))
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !search.Likely(view, t.Space.Encode(best)) {
				return nil, nil // nothing is believed to be feasible
			}
			return protocol.Density{
				Observations: view.Observations,
				Components: []protocol.Component{{
					Weight: 1,
					Spread: wide,
					Centre: grid.Coarse(protocol.PointOf(t.Space, best)),
				}},
			}.Encode(t.Space)
		},
	}), nil
}

// Forge replaces the centres of a density by random designs.
func Forge(t *task.Task, payload []byte, rng *rand.Rand) ([]byte, error) {
	d, err := protocol.DecodeDensity(payload, t.Space)
	if err != nil {
		return nil, err
	}
	for i := range d.Components {
		d.Components[i].Centre = protocol.PointOf(t.Space, t.Space.Decode(acquisition.Sample(t.Space, rng)))
	}
	return d.Encode(t.Space)
}
