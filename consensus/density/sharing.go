package density

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/fbo-node/fbo/internal/exchange/dprelease"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/privacy/designvector"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// Constants of the fit of a density with several components. Searches for the maximisers may be
// short, since the fit needs their regions and not their exact positions.
const (
	samples          = 32
	sampleCandidates = 256
	sampleSearches   = 8
)

// newSharing returns the exchange of one agent on a task of type density. It publishes the agent's
// density of the optimum after the starting designs, and then after every observation or as often
// as share_every sets.
func newSharing(t *task.Task) *latest.Latest {
	return latest.New(latest.Spec{
		Kind:   protocol.DensityKind,
		From:   t.Strategy.InitialDesigns,
		Every:  settingsOf(t).ShareEvery,
		TTL:    optprior.TTL,
		Decode: func(payload []byte) (any, error) { return decode(t, payload) },
		Compute: func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]byte, error) {
			if view.Posterior == nil {
				return nil, nil // the surrogate could not be fitted, so there is nothing to share yet
			}
			d, err := sampleOptimum(ctx, t, view, seed)
			if err != nil || len(d.Components) == 0 {
				return nil, err
			}
			return d.Encode(t.Space)
		},
	})
}

// newReleases returns the exchange of one agent on a task with privacy. It publishes the centre of
// the single component with noise, as often as the task plans. The published spread combines the
// noise and the task's spread, and receivers accept no other. entropy must be the Reader of
// crypto/rand outside of tests.
func newReleases(t *task.Task, entropy io.Reader) (*dprelease.Exchange, error) {
	return dprelease.New(t, entropy, func(terms ledger.Terms) dprelease.Spec {
		wide := wideSpread(shapeOf(t), terms)
		return dprelease.Spec{
			Kind: protocol.DensityKind,
			TTL:  optprior.TTL,
			Due:  func(release int) int { return dprelease.Due(t, release) },
			Decode: func(payload []byte) (any, error) {
				d, err := protocol.DecodeDensity(payload, t.Space)
				if err != nil {
					return nil, err
				}
				if len(d.Components) != 1 || d.Components[0].Std != wide {
					return nil, fmt.Errorf("%w: a density of %d components, expected one of spread %g", protocol.ErrMalformed, len(d.Components), wide)
				}
				return d, nil
			},
			Number: func(value any) int {
				d, _ := value.(protocol.Density)
				return d.Release
			},
			Vector: func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]float64, error) {
				if view.Posterior == nil {
					return nil, nil
				}
				d, err := sampleOptimum(ctx, t, view, seed)
				if err != nil || len(d.Components) == 0 {
					return nil, err
				}
				return designvector.Vector(t.Space, d.Components[0].Center), nil
			},
			Payload: func(noisy []float64, release int) ([]byte, error) {
				return protocol.Density{Observations: dprelease.Due(t, release), Release: release, Components: []protocol.Component{
					{Weight: 1, Std: wide, Center: designvector.Point(t.Space, noisy)},
				}}.Encode(t.Space)
			},
		}
	})
}

// wideSpread returns the spread of a density whose centre has noise, rounded to float32 as in
// messages.
func wideSpread(s Shape, terms ledger.Terms) float64 {
	return float64(float32(min(math.Hypot(s.Spread, terms.Sigma), protocol.MaxSpread)))
}

// decode returns a protocol.Density. It rejects densities with more components than the task allows,
// and DP releases.
func decode(t *task.Task, payload []byte) (any, error) {
	d, err := protocol.DecodeDensity(payload, t.Space)
	if err != nil {
		return nil, err
	}
	if most := shapeOf(t).Components; len(d.Components) > most {
		return nil, fmt.Errorf("%w: a density of %d components, the task allows %d", protocol.ErrMalformed, len(d.Components), most)
	}
	if d.Release > 0 {
		return nil, fmt.Errorf("%w: a density of private release %d, the task plans none", protocol.ErrMalformed, d.Release)
	}
	return d, nil
}

// sampleOptimum returns the density of the optimum under the agent's posterior, which must not be
// nil. The density has no components while no design is feasible with probability 1/2 or more. The
// only error is that of ctx.
func sampleOptimum(ctx context.Context, t *task.Task, view strategy.View, seed strategy.Seed) (protocol.Density, error) {
	d := protocol.Density{Observations: view.Observations}
	seed = seed.Derive("density", uint64(view.Observations))
	find := search.New(t)
	if s := shapeOf(t); s.Components == 1 {
		best := find.Optimum(ctx, view, seed)
		if err := ctx.Err(); err != nil {
			return d, err
		}
		if !search.LikelyFeasible(view, t.Space.Encode(best)) {
			return d, nil
		}
		d.Components = []protocol.Component{{Weight: 1, Std: s.Spread, Center: protocol.PointOf(t.Space, best)}}
		return d, nil
	}
	find.Maximizer.Candidates, find.Maximizer.Searches = sampleCandidates, sampleSearches
	var maximisers [][]float64
	for i := range uint64(samples) {
		f := search.Draw(view, seed, "sample", i)
		x, _, err := find.Maximizer.Maximize(ctx, f, find.Best(view), seed.Stream("maximise", i))
		if err != nil {
			return d, err
		}
		if search.LikelyFeasible(view, x) {
			maximisers = append(maximisers, x)
		}
	}
	if len(maximisers) == 0 {
		return d, nil
	}
	d.Components = fit(t.Space, maximisers, shapeOf(t).Components, seed.Stream("clusters", 0))
	return d, nil
}
