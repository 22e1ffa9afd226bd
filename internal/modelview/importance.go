package modelview

import (
	"context"
	"slices"

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
// with listed designs or with constraints among parameters, and the same in every call. An inactive
// parameter has no effect on the mean, so an index includes only the effect of active parameters.
func (p *View) Importance(ctx context.Context) ([]float64, error) {
	rng := random.SeedOf(0).Stream("importance", 0)
	blocks := p.space.Blocks()
	effects := make([]float64, len(blocks))
	sum, squares := 0.0, 0.0
	dim := p.space.Dim()
	mean := func(x []float64) float64 {
		settled := slices.Clone(x)
		p.space.Settle(settled)
		mean, _ := p.view.Posterior.Predict(settled)
		return mean
	}
	random := func() []float64 {
		x := make([]float64, dim)
		for i := range x {
			x[i] = rng.Float64()
		}
		return x
	}
	mixed := make([]float64, dim)
	for range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, b := random(), random()
		at := mean(a)
		sum, squares = sum+at, squares+at*at
		for i, block := range blocks {
			copy(mixed, a)
			copy(mixed[block.Start:block.Start+block.Len], b[block.Start:block.Start+block.Len])
			moved := mean(mixed)
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
