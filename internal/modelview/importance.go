package modelview

import (
	"context"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
)

// Method is the name of the quantity that Importance computes.
const Method = "total-effect Sobol' indices of the posterior mean"

// pairs is the number of pairs of designs from which the importance is estimated. The relative
// standard error of an index is about 1/sqrt(pairs).
const pairs = 512

// Importance returns, for each parameter in order, its total-effect Sobol' index. That is the
// fraction of the variance of the posterior mean over the space that remains if all other
// parameters are known. Interactions count for each parameter involved, so the sum of the indices
// can exceed 1. All indices are 0 if the mean is constant.
//
// It uses Jansen's estimator ("Analysis of variance designs for model output", Computer Physics
// Communications 1999) on the standardised mean. That mean compresses the tail of bad outcomes,
// which would otherwise dominate. The designs are random combinations of values, also of a space
// with listed designs or constraints among parameters, and the same in every call. A change of an
// inactive parameter has no effect.
func (p *View) Importance(ctx context.Context) ([]float64, error) {
	rng := random.SeedOf(0).Stream("importance", 0)
	blocks := p.space.Blocks()
	effects := make([]float64, len(blocks))
	sum, squares := 0.0, 0.0
	mixed := make([]float64, p.space.Dim())
	mean := func(x []float64) float64 {
		copy(mixed, x)
		p.space.Snap(mixed)
		at, _ := p.view.Posterior.Predict(mixed)
		return at
	}
	for range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, b := acquisition.Sample(p.free, rng), acquisition.Sample(p.free, rng)
		at := mean(a)
		sum, squares = sum+at, squares+at*at
		for i, block := range blocks {
			changed := slices.Clone(a)
			copy(changed[block.Start:block.Start+block.Len], b[block.Start:block.Start+block.Len])
			moved := mean(changed)
			effects[i] += (moved - at) * (moved - at) / 2
		}
	}
	variance := squares - sum*sum/pairs // multiplied by pairs, as effects is
	for i := range effects {
		if effects[i] = effects[i] / variance; !(variance > 0) {
			effects[i] = 0
		}
	}
	return effects, nil
}
