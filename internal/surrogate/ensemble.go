package surrogate

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// Ensemble is an optional interface of a Posterior whose hyperparameters are learned and therefore
// uncertain.
type Ensemble interface {
	// Members returns count posteriors of the same observations, in the same units. The
	// hyperparameters of each are drawn by [gp.Sample]. If the hyperparameters are fixed, Members
	// returns only the posterior itself. If ctx ends first, it returns the error of ctx.
	Members(ctx context.Context, count int, rng *rand.Rand) ([]Posterior, error)
}

var _ Ensemble = (*exactPosterior)(nil)

func (p *exactPosterior) Members(ctx context.Context, count int, rng *rand.Rand) ([]Posterior, error) {
	if p.model.spec.Centred {
		return []Posterior{p}, nil
	}
	draws, err := gp.Sample(ctx, p.model.spec, p.process.Points(), p.process.Outputs(), p.extra, p.process.Hyperparameters(), count, rng)
	if err != nil {
		return nil, err
	}
	all := make([]Posterior, count)
	for i, h := range draws {
		process, err := withExtra(p.model.spec, p.process.Points(), p.process.Outputs(), h, p.extra)
		if err != nil {
			return nil, err
		}
		all[i] = &exactPosterior{model: p.model, process: process, units: p.units, extra: p.extra}
	}
	return all, nil
}
