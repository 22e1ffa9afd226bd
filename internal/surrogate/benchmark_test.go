package surrogate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// The sizes of the rows in docs/performance.md: M shared features, d floats, t
// observations.
var (
	benchFeatures     = []int{100, 1000}
	benchDims         = []int{2, 6, 20}
	benchObservations = []int{20, 100, 500}
)

// benchPoints is how many points one operation of BenchmarkScoring evaluates.
const benchPoints = 1000

// bench is a surrogate with what it needs for one row.
type bench struct {
	task      *task.Task
	model     surrogate.Model
	obs       surrogate.Observations
	h         surrogate.Hyperparameters
	posterior surrogate.Posterior
	rng       *rand.Rand
}

func newBench(b *testing.B, kind string, features, dim, observed int) *bench {
	b.Helper()
	c := &bench{task: newTask(b, kind, dim), rng: random.SeedOf(1).Stream("bench", 0)}
	c.task.Surrogate.Features = features
	var err error
	if c.model, err = surrogate.New(c.task); err != nil {
		b.Fatal(err)
	}
	c.obs = observations(c.task.Space, observed, random.SeedOf(1))
	// The noise-free smooth function of the tests has these lengthscales, roughly; the time does
	// not depend on them.
	c.h = surrogate.Hyperparameters{Noise: 1e-3}
	for range dim {
		c.h.Lengthscales = append(c.h.Lengthscales, c.task.Surrogate.Lengthscale)
	}
	if kind == "rff" {
		if c.h.Features = 2048; observed > 256 {
			c.h.Features = 1024
		}
	}
	if c.posterior, err = c.model.Condition(c.obs, c.h, nil); err != nil {
		b.Fatal(err)
	}
	return c
}

// rows runs one benchmark per size; those that do not depend on the features,
// or on the observations, leave them at 0.
func rows(b *testing.B, kinds []string, features, observed []int, run func(b *testing.B, c *bench)) {
	for _, kind := range kinds {
		for _, m := range features {
			for _, d := range benchDims {
				for _, t := range observed {
					b.Run(fmt.Sprintf("%s/M=%d/d=%d/t=%d", kind, m, d, t), func(b *testing.B) {
						c := newBench(b, kind, m, d, t)
						b.ReportAllocs()
						run(b, c)
					})
				}
			}
		}
	}
}

// flat returns points one after the other.
func (c *bench) flat(count int) []float64 {
	points := make([]float64, 0, count*c.task.Space.Dim())
	for range count {
		points = append(points, acquisition.Sample(c.task.Space, c.rng)...)
	}
	return points
}

type batch interface{ Values(dst, points []float64) }

// BenchmarkScoring evaluates a shared sample, and a path of the exact process,
// in blocks; ns/point is the figure.
func BenchmarkScoring(b *testing.B) {
	score := func(b *testing.B, c *bench, f surrogate.Function) {
		points, dst := c.flat(benchPoints), make([]float64, benchPoints)
		for b.Loop() {
			f.(batch).Values(dst, points)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchPoints, "ns/point")
	}
	b.Run("shared", func(b *testing.B) {
		rows(b, []string{"rff"}, benchFeatures, []int{20}, func(b *testing.B, c *bench) {
			features, err := surrogate.SharedMap(c.task)
			if err != nil {
				b.Fatal(err)
			}
			score(b, c, features.Function(drawnBy(c.posterior, c.rng)))
		})
	})
	b.Run("path", func(b *testing.B) {
		rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, func(b *testing.B, c *bench) {
			score(b, c, c.posterior.Draw(c.rng))
		})
	})
}

func BenchmarkGradient(b *testing.B) {
	gradient := func(b *testing.B, c *bench, f surrogate.Function) {
		x, grad := c.flat(1), make([]float64, c.task.Space.Dim())
		for b.Loop() {
			f.Gradient(grad, x)
		}
	}
	b.Run("shared", func(b *testing.B) {
		rows(b, []string{"rff"}, benchFeatures, []int{20}, func(b *testing.B, c *bench) { gradient(b, c, c.posterior.Draw(c.rng)) })
	})
	b.Run("path", func(b *testing.B) {
		rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, func(b *testing.B, c *bench) { gradient(b, c, c.posterior.Draw(c.rng)) })
	})
}

func BenchmarkDraw(b *testing.B) {
	draw := func(b *testing.B, c *bench) {
		for b.Loop() {
			c.posterior.Draw(c.rng)
		}
	}
	rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, draw)
	rows(b, []string{"rff"}, benchFeatures[:1], benchObservations, draw)
}

// BenchmarkProject draws what is shared: weights over the shared features, or a path that is
// projected onto them. The setup, once per task and process, is BenchmarkSetup.
func BenchmarkProject(b *testing.B) {
	rows(b, []string{"exact", "rff"}, benchFeatures, benchObservations, func(b *testing.B, c *bench) {
		drawnBy(c.posterior, c.rng)
		for b.Loop() {
			drawnBy(c.posterior, c.rng)
		}
	})
}

// BenchmarkMean projects the mean as peers ask for it, exact where its author has looked.
func BenchmarkMean(b *testing.B) {
	rows(b, []string{"exact"}, benchFeatures, benchObservations, func(b *testing.B, c *bench) {
		c.posterior.DetailedMean()
		for b.Loop() {
			c.posterior.DetailedMean()
		}
	})
}

func BenchmarkSetup(b *testing.B) {
	rows(b, []string{"exact"}, benchFeatures, []int{20}, func(b *testing.B, c *bench) {
		for b.Loop() {
			model, err := surrogate.New(c.task)
			if err != nil {
				b.Fatal(err)
			}
			p, err := model.Condition(c.obs, c.h, nil)
			if err != nil {
				b.Fatal(err)
			}
			drawnBy(p, c.rng)
		}
	})
}

// BenchmarkFit learns the hyperparameters from nothing, and again from those of
// one observation less.
func BenchmarkFit(b *testing.B) {
	fit := func(warm bool) func(b *testing.B, c *bench) {
		return func(b *testing.B, c *bench) {
			var before *surrogate.Hyperparameters
			if warm {
				less := surrogate.Observations{X: c.obs.X[:len(c.obs.X)-1], Y: c.obs.Y[:len(c.obs.Y)-1]}
				h, err := c.model.Fit(b.Context(), less, nil, c.rng)
				if err != nil {
					b.Fatal(err)
				}
				before = &h
			}
			for b.Loop() {
				if _, err := c.model.Fit(b.Context(), c.obs, before, c.rng); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for name, warm := range map[string]bool{"first": false, "again": true} {
		b.Run(name, func(b *testing.B) {
			rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, fit(warm))
			rows(b, []string{"rff"}, benchFeatures, benchObservations, fit(warm))
		})
	}
}

// BenchmarkExtend takes in the last observation under the same hyperparameters.
func BenchmarkExtend(b *testing.B) {
	extend := func(b *testing.B, c *bench) {
		less := surrogate.Observations{X: c.obs.X[:len(c.obs.X)-1], Y: c.obs.Y[:len(c.obs.Y)-1]}
		before, err := c.model.Condition(less, c.h, nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := c.model.Condition(c.obs, c.h, before); err != nil {
				b.Fatal(err)
			}
		}
	}
	rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, extend)
	rows(b, []string{"rff"}, benchFeatures[:1], benchObservations, extend)
}

// BenchmarkSuggest is a whole suggestion with the hyperparameters at hand: take
// in the last observation, draw, maximise.
func BenchmarkSuggest(b *testing.B) {
	suggest := func(b *testing.B, c *bench) {
		less := surrogate.Observations{X: c.obs.X[:len(c.obs.X)-1], Y: c.obs.Y[:len(c.obs.Y)-1]}
		before, err := c.model.Condition(less, c.h, nil)
		if err != nil {
			b.Fatal(err)
		}
		maximizer := acquisition.Maximizer{Space: c.task.Space}
		for b.Loop() {
			p, err := c.model.Condition(c.obs, c.h, before)
			if err != nil {
				b.Fatal(err)
			}
			maximizer.Maximize(b.Context(), p.Draw(c.rng), c.obs.X[:5], c.rng)
		}
	}
	rows(b, []string{"exact"}, benchFeatures[:1], benchObservations, suggest)
	rows(b, []string{"rff"}, benchFeatures[:1], benchObservations, suggest)
}

// drawnBy are weights that cannot fail.
func drawnBy(p surrogate.Posterior, rng *rand.Rand) []float64 {
	w, err := p.Weights(context.Background(), rng)
	if err != nil {
		panic(err)
	}
	return w
}
