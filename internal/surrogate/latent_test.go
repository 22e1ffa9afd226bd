package surrogate_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// volumes evaluates designs of a problem, initial ones at random and then those of LogNEHVI. It
// returns the hypervolume of as many random designs, and of these designs.
func volumes(t *testing.T, o testfunc.Objectives, seed random.Seed, initial, evals, draws int) (blind, found float64) {
	t.Helper()
	model, err := surrogate.New(&task.Task{Name: "test", Goal: task.Maximize, Space: o.Space,
		Surrogate: task.Surrogate{Type: "exact", Kernel: "matern52", Features: 256, Lengthscale: 0.3 * math.Sqrt(float64(o.Space.Len())), CategoryLengthscale: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	negated := func(v []float64) []float64 {
		w := make([]float64, len(v))
		for k := range v {
			w[k] = -v[k]
		}
		return w
	}
	value := func(x []float64) []float64 { return negated(o.At(o.Space.Decode(x))) }
	reference := negated(o.Reference)
	var x, points, others [][]float64
	for n := range evals {
		at := acquisition.Sample(o.Space, seed.Stream("initial", uint64(n)))
		others = append(others, value(at))
		if n >= initial {
			models, bound := make([]acquisition.Latent, o.Count), make([]float64, o.Count)
			for k := range models {
				obs := surrogate.Observations{X: x}
				for _, p := range points {
					obs.Y = append(obs.Y, p[k])
				}
				h, err := model.Fit(t.Context(), obs, nil, seed.Stream(fmt.Sprint("fit", k), uint64(n)))
				if err != nil {
					t.Fatal(err)
				}
				p, err := model.Condition(obs, h, nil)
				if err != nil {
					t.Fatal(err)
				}
				if models[k], err = p.(surrogate.LatentPosterior).Latent(nil, draws, seed.Stream(fmt.Sprint("draws", k), 0)); err != nil {
					t.Fatal(err)
				}
				bound[k] = p.(surrogate.Scaled).Units().Standardised(reference[k])
			}
			var near [][]float64
			for _, i := range pareto.Front(points) {
				near = append(near, x[i])
			}
			f := acquisition.LogNEHVI(models, nil, bound)
			if at, _, err = (acquisition.Maximizer{Space: o.Space}).Maximize(t.Context(), f, near, seed.Stream("search", uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
		x, points = append(x, at), append(points, value(at))
	}
	return pareto.Hypervolume(others, reference), pareto.Hypervolume(points, reference)
}

// With 24 designs of LogNEHVI the regret is at most a fifth of that of random designs. For random
// ones it is 10 or more, so a function whose maximum is arbitrary fails nearly always.
func TestLogNEHVIFindsTheFront(t *testing.T) {
	for _, c := range []struct {
		o     testfunc.Objectives
		draws int
	}{{testfunc.ZDT1(4), 1}, {testfunc.ZDT2(4), 1}, {testfunc.BraninCurrin(), 4}} {
		blind, found := volumes(t, c.o, random.SeedOf(1), 10, 24, c.draws)
		if blind, found := c.o.Hypervolume-blind, c.o.Hypervolume-found; found > blind/5 {
			t.Errorf("%s: regret %g, of random designs %g", c.o.Name, found, blind)
		}
	}
}

// The designs are those observed, then the pending ones, then more. Values of pending designs vary,
// although the posterior is conditioned on their means.
func TestLatentOfPendingDesigns(t *testing.T) {
	definition := newTask(t, "exact", 2)
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	obs := observations(definition.Space, 6, random.SeedOf(1))
	p, err := model.Condition(obs, surrogate.Hyperparameters{Lengthscales: []float64{0.3, 0.3}, Noise: 1e-3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pending, more := [][]float64{{0.01, 0.99}}, [][]float64{{0.98, 0.02}}
	conditioned, err := p.(surrogate.Pending).WithPending(pending)
	if err != nil {
		t.Fatal(err)
	}
	latent := func(p surrogate.Posterior, more [][]float64, draws int) acquisition.Latent {
		l, err := p.(surrogate.LatentPosterior).Latent(more, draws, random.SeedOf(2).Stream("draws", 0))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	got, want := latent(conditioned, more, 3), latent(p, append(pending, more...), 3)
	for s := range 3 {
		for i, v := range want.Values(s) {
			if got.Values(s)[i] != v {
				t.Fatalf("draw %d, design %d: %g; expected %g", s, i, got.Values(s)[i], v)
			}
		}
	}
	if first, second := got.Values(0)[6], got.Values(1)[6]; math.Abs(first-second) < 0.05 {
		t.Errorf("values %g and %g at the pending design; expected different ones", first, second)
	}
	for i, x := range append(pending, more...) {
		mean, _ := p.Predict(x)
		if v := latent(conditioned, more, 1).Values(0)[6+i]; math.Abs(v-mean) > 1e-8 {
			t.Errorf("one draw: %g at design %d; expected the mean %g", v, 6+i, mean)
		}
	}
}
