package surrogate

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Pending is an optional interface of a Posterior that can be conditioned on designs whose trials
// are pending.
type Pending interface {
	Posterior
	// WithPending returns the posterior given that the encoded designs x, at least one, have the
	// outputs that the posterior mean predicts. This is the kriging believer of Ginsbourger, Le
	// Riche and Carraro, "Kriging Is Well-Suited to Parallelize Optimization" (2010). The mean, the
	// units and the hyperparameters stay the same, and the variance shrinks. Members of an
	// [Ensemble] have hyperparameters drawn from the observations without pending designs, and each
	// uses its own mean for the pending designs.
	WithPending(x [][]float64) (Pending, error)
}

var (
	_ Pending  = (*exactPosterior)(nil)
	_ Pending  = (*linearPosterior)(nil)
	_ Ensemble = (*pendingExact)(nil)
)

// pendingExact is an exact posterior with pending designs.
type pendingExact struct {
	*exactPosterior
	known   *exactPosterior // posterior without the pending designs
	pending [][]float64
}

func (p *exactPosterior) WithPending(x [][]float64) (Pending, error) {
	conditioned, err := p.believing(x)
	if err != nil {
		return nil, err
	}
	return &pendingExact{conditioned, p, linalg.Clone(x)}, nil
}

// believing returns the posterior given that the outputs at x equal its own means there.
func (p *exactPosterior) believing(x [][]float64) (*exactPosterior, error) {
	all, y := slices.Concat(p.process.Points(), x), slices.Clone(p.process.Outputs())
	for _, at := range x {
		y = append(y, p.process.Mean(at))
	}
	process, err := p.process.Extend(all, y)
	if err != nil {
		return nil, err
	}
	return &exactPosterior{model: p.model, process: process, units: p.units}, nil
}

func (p *pendingExact) WithPending(x [][]float64) (Pending, error) {
	return p.known.WithPending(slices.Concat(p.pending, x))
}

func (p *pendingExact) Members(ctx context.Context, count int, rng *rand.Rand) ([]Posterior, error) {
	members, err := p.known.Members(ctx, count, rng)
	if err != nil {
		return nil, err
	}
	for i, member := range members {
		if members[i], err = member.(*exactPosterior).WithPending(p.pending); err != nil {
			return nil, err
		}
	}
	return members, nil
}

func (p *linearPosterior) WithPending(x [][]float64) (Pending, error) {
	next := *p
	next.x = slices.Concat(p.x, linalg.Clone(x))
	for _, at := range x {
		mean, _ := p.Predict(at)
		var err error
		if next.weights, err = next.weights.Extend(at, mean); err != nil {
			return nil, err
		}
	}
	return &next, nil
}
