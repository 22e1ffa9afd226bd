package optprior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const (
	line  = "{name: x, type: float, low: 0, high: 1}"
	plane = line + ", {name: y, type: float, low: 0, high: 1}"
	mixed = plane + ", {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
)

func newTask(t testing.TB, parameters string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", fmt.Appendf(nil,
		"name: test\ngoal: minimize\nparameters: [%s]\nsurrogate: {features: 64}\n", parameters), []task.StrategyType{{Name: "some"}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// around is a density of one normal.
func around(spec *task.Task, spread float64, x []float64) protocol.Density {
	return protocol.Density{Observations: 7, Components: []protocol.Component{
		{Weight: 1, Std: spread, Center: protocol.PointOf(spec.Space, spec.Space.Decode(x))},
	}}
}

// randomDensity has spreads of all sizes.
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
