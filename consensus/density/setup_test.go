package density

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	line  = "{name: x, type: float, low: 0, high: 1}"
	plane = line + ", {name: y, type: float, low: 0, high: 1}"
	mixed = plane + ", {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
	small = "{name: n, type: int, low: 1, high: 7}, {name: c, type: categorical, choices: [red, green, blue]}"
)

func newTask(t testing.TB, parameters, model, keys string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{Register()},
		"name: test\ngoal: minimize\nparameters: [%s]\nsurrogate: {type: %s, features: 64}\nstrategy: {type: density, initial_designs: 3%s}\n",
		parameters, model, keys)
}

// viewOf is what an agent knows that has evaluated f, of which smaller is better,
// at these encoded designs.
func viewOf(t testing.TB, spec *task.Task, x [][]float64, f func(x []float64) float64) strategy.View {
	t.Helper()
	view := strategytest.View(spec, x, f)
	strategytest.Condition(t, &view, 1e-3)
	return view
}

func designs(spec *task.Task, count int, rng *rand.Rand) [][]float64 {
	x := make([][]float64, count)
	for i := range x {
		x[i] = acquisition.Sample(spec.Space, rng)
	}
	return x
}

// bowl has its minimum 0 in the numbers at this place, with every choice.
func bowl(spec *task.Task, at float64) func(x []float64) float64 {
	numbers := optprior.NewLayout(spec.Space).Numbers
	return func(x []float64) float64 {
		sum := 0.0
		for _, i := range numbers {
			sum += (x[i] - at) * (x[i] - at)
		}
		return sum
	}
}

// around is a density of one component.
func around(spec *task.Task, spread float64, x []float64) protocol.Density {
	return protocol.Density{Observations: 7, Components: []protocol.Component{
		{Weight: 1, Std: spread, Center: protocol.PointOf(spec.Space, spec.Space.Decode(x))},
	}}
}

// shareOf is the density of a peer after its journey.
func shareOf(t testing.TB, spec *task.Task, author string, d protocol.Density) *strategy.Share {
	t.Helper()
	payload, err := d.Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	value, err := newSharing(spec).Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: protocol.DensityKind}}, Value: value}
}

func suggest(t testing.TB, s strategy.Strategy, view strategy.View, trial uint64, seed random.Seed) strategy.Suggestion {
	t.Helper()
	got, err := s.Suggest(t.Context(), view, trial, seed)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// randomDensity may be anything that a peer can send.
func randomDensity(spec *task.Task, rng *rand.Rand) protocol.Density {
	d := protocol.Density{Observations: 1 + rng.IntN(100)}
	n := 1 + rng.IntN(protocol.MaxComponents)
	for range n {
		d.Components = append(d.Components, protocol.Component{
			Weight: 1 / float64(n),
			Std:    protocol.MinSpread * math.Pow(protocol.MaxSpread/protocol.MinSpread, rng.Float64()),
			Center: protocol.PointOf(spec.Space, spec.Space.Decode(acquisition.Sample(spec.Space, rng))),
		})
	}
	return d
}

func mixtureOf(spec *task.Task, d protocol.Density) *optprior.Mixture {
	return optprior.NewMixture(optprior.NewLayout(spec.Space), spec.Space, d)
}

func logOf(m *optprior.Mixture, x []float64) float64 {
	var each optprior.Logs
	return m.Log(&each, x)
}
