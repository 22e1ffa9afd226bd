package averageobjective

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, model string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{Register()},
		"name: test\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nsurrogate: {type: %s, features: 64}\nstrategy: {type: average-objective}\n", model)
}

func featuresOf(t testing.TB, of *task.Task) *rff.Map {
	t.Helper()
	features, err := surrogate.SharedMap(of)
	if err != nil {
		t.Fatal(err)
	}
	return features
}

// bowl returns a function with the minimum 0 at this place.
func bowl(at, scale float64) func(x []float64) float64 {
	return func(x []float64) float64 { return scale * (x[0] - at) * (x[0] - at) }
}

// observed is the view of an agent that has measured f, of which smaller is better, at even distances.
// It has published what its exchange publishes.
func observed(t testing.TB, of *task.Task, id string, f func(x []float64) float64, count int) strategy.View {
	t.Helper()
	var x [][]float64
	for i := range count {
		x = append(x, []float64{float64(i) / float64(count-1)})
	}
	return observedAt(t, of, id, f, x)
}

// observedAt is the same for an agent that has measured f at these designs.
func observedAt(t testing.TB, of *task.Task, id string, f func(x []float64) float64, x [][]float64) strategy.View {
	t.Helper()
	view := strategytest.View(of, x, f)
	view.Self = peer.ID(id)
	strategytest.Condition(t, &view, 1e-4)
	payload := strategytest.Published(t, func(of *task.Task) *latest.Latest {
		return posteriormean.New(of, func(m protocol.Mean) any { return m })
	}, view)
	if payload != nil {
		view.Own = []protocol.Share{{Key: protocol.Key{Author: view.Self, Kind: protocol.MeanKind}, Payload: payload}}
	}
	return view
}

// exchanged returns the views after each agent has received the shares of all others.
func exchanged(t testing.TB, views ...strategy.View) []strategy.View {
	t.Helper()
	for i := range views {
		for k := range views {
			if mean, ok := posteriormean.Own(views[k]); ok && k != i {
				views[i].Shares = append(views[i].Shares, &strategy.Share{Share: views[k].Own[0], Value: mean})
			}
		}
	}
	return views
}

func recommend(t testing.TB, view strategy.View) strategy.Common {
	t.Helper()
	common, err := New(view.Task, featuresOf(t, view.Task)).RecommendCommon(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	return common
}
