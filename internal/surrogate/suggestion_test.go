package surrogate_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, kind string, dim int) *task.Task {
	var parameters []task.Parameter
	for i := range dim {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return &task.Task{Name: "test", Goal: task.Maximize, Space: space,
		Surrogate: task.Surrogate{Type: kind, Kernel: "matern52", Features: 256,
			Lengthscale: 0.1 * float64(dim), CategoryLengthscale: 1},
		Strategy: task.Strategy{Type: "ts", InitialDesigns: 5},
	}
}

func bumps(x []float64) float64 {
	sum := 0.0
	for i, u := range x {
		sum -= (u - 0.6) * (u - 0.6) * float64(1+i%2)
		sum += 0.1 * math.Cos(9*u)
	}
	return sum
}

func observations(space *task.Space, count int, seed random.Seed) surrogate.Observations {
	rng := seed.Stream("data", 0)
	var obs surrogate.Observations
	for range count {
		x := acquisition.Sample(space, rng)
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, bumps(x))
	}
	return obs
}

// Plain Thompson sampling with either surrogate must leave random search far
// behind: on this function in two dimensions the best of 30 uniform designs
// falls short of the maximum by .038 in the median and by .002 in one seed of 20
// (200 seeds), and two of three runs of Thompson sampling with 25 trials must
// come within .005.
func TestThompsonSamplingOptimises(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		t.Run(kind, func(t *testing.T) {
			definition := newTask(t, kind, 2)
			top := math.Inf(-1)
			for i := range 201 {
				for j := range 201 {
					top = max(top, bumps([]float64{float64(i) / 200, float64(j) / 200}))
				}
			}
			good := 0
			for run := range uint64(3) {
				obs := thompson(t, definition, random.SeedOf(run), 25)
				regret := top
				for _, y := range obs.Y {
					regret = min(regret, top-y)
				}
				t.Logf("run %d: regret %.5f", run, regret)
				if regret < 0.005 {
					good++
				}
			}
			if good < 2 {
				t.Errorf("%d of 3 runs found the maximum", good)
			}
		})
	}
}

func thompson(t *testing.T, definition *task.Task, seed random.Seed, trials int) surrogate.Observations {
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	obs := observations(definition.Space, 5, seed)
	var previous *surrogate.Hyperparameters
	for len(obs.Y) < trials {
		index := uint64(len(obs.Y))
		h, err := model.Fit(context.Background(), obs, previous, seed.Stream("fit", index))
		if err != nil {
			t.Fatal(err)
		}
		previous = &h
		p, err := model.Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		maximizer := acquisition.Maximizer{Space: definition.Space, Candidates: 300, Searches: 5}
		x, _, _ := maximizer.Maximize(context.Background(), p.Draw(seed.Stream("draw", index)), nil, seed.Stream("maximise", index))
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, bumps(x))
	}
	return obs
}

// A suggestion by Thompson sampling: fit, condition, draw, maximise.
func ExampleNew() {
	definition, err := all.Strategies().Parse("task.yaml", []byte(`
fbo: 1
name: example
goal: maximize
parameters:
  - {name: x, type: float, low: 0, high: 1}
surrogate: {type: exact}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := surrogate.New(definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := surrogate.Observations{
		X: [][]float64{{0}, {0.2}, {0.4}, {0.6}, {0.8}, {1}},
		Y: []float64{0, 1.6, 2.4, 2.4, 1.6, 0},
	}
	seed := random.SeedOf(1)
	h, err := model.Fit(context.Background(), obs, nil, seed.Stream("fit", 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	posterior, err := model.Condition(obs, h, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	maximizer := acquisition.Maximizer{Space: definition.Space}
	draw := posterior.Draw(seed.Stream("draw", 0))
	x, _, _ := maximizer.Maximize(context.Background(), draw, obs.X, seed.Stream("maximise", 0))
	fmt.Printf("try x near %.1f\n", definition.Space.Decode(x).Float("x"))
	// Output: try x near 0.5
}
