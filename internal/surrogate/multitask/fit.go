package multitask

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

const (
	maxFitted = 60 // maximum number of observations by which Fit learns: at most half are the newest own ones, the others the peers' nearest to own designs, in equal parts
	fitStart  = 3  // lengthscale of the tasks' coordinates from which a fit starts: a correlation of 0.9 under SE
)

// Fit returns the hyperparameters that maximise the posterior density given the observations of all
// tasks, if all have the same lengthscales and noise, and all pairs the same similarity. It starts
// from h, the hyperparameters of the agent's own process.
func Fit(ctx context.Context, spec gp.Spec, h gp.Hyperparameters, own Data, peers []Data, rng *rand.Rand) (gp.Hyperparameters, error) {
	b := builder{spec, h}
	tasks := 1 + len(peers)
	var x [][]float64
	var y []float64
	add := func(task int, d Data) {
		scaled, _, _ := b.scaled(d)
		for i, at := range d.X {
			x, y = append(x, slices.Concat(at, Equidistant(task, tasks))), append(y, scaled[i])
		}
	}
	newest := max(len(own.X)-maxFitted/2, 0)
	add(0, Data{own.X[newest:], own.Y[newest:]})
	for i, peer := range peers {
		left := maxFitted - len(x)
		add(1+i, b.nearest(peer, own.X, min(max(left/(len(peers)-i), 1), left)))
	}
	start := gp.Hyperparameters{Lengthscales: append(slices.Clone(h.Lengthscales), fitStart), Noise: h.Noise}
	got, err := gp.Fit(ctx, Spec(spec, tasks), x, y, []gp.Hyperparameters{start}, rng)
	if err != nil {
		return h, err
	}
	return gp.Hyperparameters{Lengthscales: got.Lengthscales[:len(h.Lengthscales)], Noise: got.Noise}, nil
}
