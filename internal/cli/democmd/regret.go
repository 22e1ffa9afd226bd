package democmd

import (
	"context"
	"encoding/json"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy/all"
)

// The long search for the lowest loss of a site: random designs, then steps around the best design,
// of which each phase halves the length.
const (
	randomDesigns = 200
	phases        = 5
	phaseDesigns  = 40
	firstStep     = 0.1 // standard deviation, in the unit cube
)

// lowestLoss returns the lowest loss that a long search of a site's designs finds, at most found.
func lowestLoss(ctx context.Context, s *site, found float64) (float64, error) {
	t, err := all.Strategies().Parse("demo.yaml", []byte(taskText("alone")))
	if err != nil {
		return 0, err
	}
	rng := random.SeedOf(s.seed).Stream("demo search", 0)
	best, at := found, make([]float64, t.Space.Dim())
	for phase := range phases + 1 {
		n, step := phaseDesigns, firstStep
		if phase == 0 {
			n = randomDesigns
		}
		for range phase - 1 {
			step /= 2
		}
		points, losses := make([][]float64, n), make([]float64, n)
		for i := range points {
			x := make([]float64, len(at))
			for j := range x {
				if x[j] = rng.Float64(); phase > 0 {
					x[j] = min(max(at[j]+step*rng.NormFloat64(), 0), 1)
				}
			}
			points[i] = x
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i, x := range points {
			group.Go(func() error {
				design, err := json.Marshal(t.Space.Decode(x))
				if err != nil {
					return err
				}
				h, err := hyperparameters(design)
				if err != nil {
					return err
				}
				score, err := synthetic.Average(ctx, s.data, h, s.trainSeed, repeats)
				losses[i] = score.Loss
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
		lowest := 0
		for i, loss := range losses {
			if loss < losses[lowest] {
				lowest = i
			}
		}
		if phase == 0 || losses[lowest] < best {
			at = points[lowest]
		}
		best = min(best, losses[lowest])
	}
	return best, nil
}
