package consensus_test

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
)

// While its round is open an agent waits, longer than the round lasts by its own
// deadline. When the agent has waited in vain all the same, it chooses alone.
func TestAnOpenRoundIsWaitedForInBounds(t *testing.T) {
	spec := parse(t, "type: consensus, initial_designs: 2, deadline: 300")
	model, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: spec, Self: "me", Observations: 2, Results: map[string]any{consensus.Kind: consensus.Round{Number: 1, Open: true}}}
	obs := surrogate.Observations{X: [][]float64{{0.1, 0.2}, {0.7, 0.6}}, Y: []float64{0.3, 0.8}}
	for i, x := range obs.X {
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: spec.Space.Decode(x), State: strategy.Done, Outcome: &strategy.Outcome{Value: -obs.Y[i]},
		})
	}
	h, err := model.Fit(t.Context(), obs, nil, seed.Stream("fit", 2))
	if err != nil {
		t.Fatal(err)
	}
	if view.Posterior, err = model.Condition(obs, h, nil); err != nil {
		t.Fatal(err)
	}
	s, err := consensus.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	suggest := func(view strategy.View) strategy.Suggestion {
		suggestion, err := s.Suggest(t.Context(), view, 3, seed)
		if err != nil {
			t.Fatal(err)
		}
		return suggestion
	}
	if wait := suggest(view).Wait; wait.Exchange != consensus.Kind || wait.For <= 300*time.Second {
		t.Errorf("in an open round: %+v", wait)
	}
	vain, alone := view, view
	vain.Waited = consensus.Kind
	alone.Results = nil
	got, want := suggest(vain), suggest(alone)
	if got.Wait.Exchange != "" || !got.Design.Equal(want.Design) || got.Why != want.Why {
		t.Errorf("after waiting in vain: %+v, alone %+v", got, want)
	}
}
