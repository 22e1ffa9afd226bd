package modelview

import (
	"context"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
)

// Method is what Importance computes.
const Method = "total-effect Sobol' indices of the posterior mean"

// pairs of designs from which importance is estimated; the standard error of an index is
// about 1/sqrt(pairs) of it.
const pairs = 512

// Importance returns for each parameter, in order, the part of the variance of the posterior
// mean over the space that stays as long as this parameter alone is unknown: its total-effect
// Sobol' index, by Jansen's estimator ("Analysis of variance designs for model output",
// Computer Physics Communications 1999). Parameters that act together count for each of them,
// so the sum can be above 1. All are 0 where the mean is the same everywhere. It is taken of
// the standardised mean, whose bad tail is bent: few designs that end badly would decide it
// otherwise. The designs are those of all combinations, and always the same.
func (p *View) Importance(ctx context.Context) ([]float64, error) {
	rng := random.SeedOf(0).Stream("importance", 0)
	blocks := p.space.Blocks()
	effects := make([]float64, len(blocks))
	sum, squares := 0.0, 0.0
	mixed := make([]float64, p.space.Dim())
	for range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, b := acquisition.Sample(p.space, rng), acquisition.Sample(p.space, rng)
		at, _ := p.view.Posterior.Predict(a)
		sum, squares = sum+at, squares+at*at
		for i, block := range blocks {
			copy(mixed, a)
			copy(mixed[block.Start:block.Start+block.Len], b[block.Start:block.Start+block.Len])
			moved, _ := p.view.Posterior.Predict(mixed)
			effects[i] += (moved - at) * (moved - at) / 2
		}
	}
	variance := squares - sum*sum/pairs // times pairs, as the effects are
	for i := range effects {
		if effects[i] = effects[i] / variance; !(variance > 0) {
			effects[i] = 0
		}
	}
	return effects, nil
}
