package tsampling_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

const severalTask = `name: several
objectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 256}
strategy: {type: fts, initial_designs: 3, schedule: constant, own_probability: %s}
`

// severalView is a view of a node that has evaluated two bowls with minima at (.2, .5) and (.8, .5).
func severalView(t *testing.T, own string) (strategy.View, *task.Task) {
	t.Helper()
	spec, err := all.Strategies().Parse("test", fmt.Appendf(nil, severalTask, own))
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: spec}
	var x [][]float64
	values := make([][]float64, 2)
	rng := random.SeedOf(5).Stream("designs", 0)
	for i := range 25 {
		at := []float64{rng.Float64(), rng.Float64()}
		bowl := func(minimum float64) float64 { return math.Pow(at[0]-minimum, 2) + math.Pow(at[1]-0.5, 2) }
		outcome := &strategy.Outcome{Value: bowl(0.2), Metrics: map[string]float64{"b": bowl(0.8)}}
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode(at), State: strategy.Done, Outcome: outcome})
		x = append(x, at)
		values[0], values[1] = append(values[0], -outcome.Value), append(values[1], -outcome.Metrics["b"])
	}
	view.Observations = len(x)
	for _, y := range values {
		model, err := surrogate.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		obs := surrogate.Observations{X: x, Y: y}
		h, err := model.Fit(t.Context(), obs, nil, rng)
		if err != nil {
			t.Fatal(err)
		}
		posterior, err := model.Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		view.Objectives = append(view.Objectives, posterior)
	}
	view.Posterior = view.Objectives[0]
	return view, spec
}

// TestSamplesOfScalarisationsReachTheFront: with several objectives the maximisers of own samples and of
// shared samples lie along the Pareto set, the line from (.2, .5) to (.8, .5), and not at one minimum.
func TestSamplesOfScalarisationsReachTheFront(t *testing.T) {
	for name, own := range map[string]string{"own samples": "1", "shared samples": "0"} {
		view, spec := severalView(t, own)
		features, err := surrogate.SharedMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		s, left, right, near := tsampling.NewFTS(spec, features), 0, 0, 0
		for trial := uint64(26); trial < 66; trial++ {
			if own == "0" {
				view.Shares = []*strategy.Share{shared(t, spec, view, trial)}
				view.Results = map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"peer"}, Agreed: true}}
			}
			got, err := s.Suggest(t.Context(), view, trial, random.SeedOf(trial))
			if err != nil {
				t.Fatal(err)
			}
			if (got.Why.Source == strategy.Own) != (own == "1") {
				t.Fatalf("%s: source %v", name, got.Why.Source)
			}
			x := spec.Space.Encode(got.Design)
			if x[0] > 0.05 && x[0] < 0.95 && math.Abs(x[1]-0.5) < 0.15 {
				near++
			}
			if x[0] < 0.45 {
				left++
			}
			if x[0] > 0.55 {
				right++
			}
		}
		if near < 18 || left < 6 || right < 6 {
			t.Errorf("%s: %d of 40 designs near the Pareto set, %d at its left and %d at its right; expected 18, 6 and 6 at least (uniform designs: 11)", name, near, left, right)
		}
	}
}

// shared returns the share that a peer with the same outcomes publishes.
func shared(t *testing.T, spec *task.Task, view strategy.View, stream uint64) *strategy.Share {
	t.Helper()
	e := tsampling.NewSharing(spec)
	outs := e.Step(view, strategy.Start{})
	if len(outs) != 1 {
		t.Fatalf("%d outputs, expected the work of one draw", len(outs))
	}
	result, err := outs[0].(strategy.Work).Run(t.Context(), view, random.SeedOf(stream))
	if err != nil {
		t.Fatal(err)
	}
	published := e.Step(view, strategy.WorkDone{Result: result})[0].(strategy.Publish)
	value, err := e.Decode(published.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: "peer", Kind: protocol.WeightsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: stream}}, Value: value}
}
