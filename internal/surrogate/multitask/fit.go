package multitask

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

func Knob(name string, def float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return def
}

// Fit returns the hyperparameters that all tasks together have.
func Fit(ctx context.Context, spec gp.Spec, h gp.Hyperparameters, own Data, peers []Data, rng *rand.Rand) (gp.Hyperparameters, error) {
	b := builder{spec, h}
	most := int(Knob("FITN", 100))
	mine, _, _ := b.scaled(own)
	tasks := 1 + len(peers)
	var x [][]float64
	var y []float64
	add := func(task int, at [][]float64, values []float64) {
		for i := range at {
			x, y = append(x, slices.Concat(at[i], Equidistant(task, tasks))), append(y, values[i])
		}
	}
	from := max(len(own.X)-most/2, 0)
	add(0, own.X[from:], mine[from:])
	for i, p := range peers {
		some := b.nearest(p, own.X, max((most-len(x))/(len(peers)-i), 1))
		v, _, _ := b.scaled(some)
		add(1+i, some.X, v)
	}
	start := gp.Hyperparameters{Lengthscales: append(slices.Clone(h.Lengthscales), 3), Noise: h.Noise}
	got, err := gp.Fit(ctx, Spec(spec, tasks), x, y, []gp.Hyperparameters{start}, rng)
	if err != nil {
		return h, err
	}
	return gp.Hyperparameters{Lengthscales: got.Lengthscales[:len(h.Lengthscales)], Noise: got.Noise}, nil
}
