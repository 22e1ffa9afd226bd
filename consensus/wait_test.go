package consensus_test

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// While its round is open an agent waits, longer than the round lasts by its own
// deadline. When the agent has waited in vain all the same, it chooses alone.
func TestAnOpenRoundIsWaitedForInBounds(t *testing.T) {
	spec := parse(t, "type: consensus, initial_designs: 2, round_timeout: 300")
	view := strategytest.View(spec, [][]float64{{0.1, 0.2}, {0.7, 0.6}}, func(x []float64) float64 { return -0.3 - 0.5*(x[0]-0.1)/0.6 })
	strategytest.Fit(t, &view, seed.Stream("fit", 2))
	view.Results = map[string]any{protocol.CandidateKind: consensus.Round{Number: 1, Open: true}}
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
	if wait := suggest(view).Wait; wait.Exchange != protocol.CandidateKind || wait.For <= 300*time.Second {
		t.Errorf("in an open round: %+v", wait)
	}
	vain, alone := view, view
	vain.Waited = protocol.CandidateKind
	alone.Results = nil
	got, want := suggest(vain), suggest(alone)
	if got.Wait.Exchange != "" || !got.Design.Equal(want.Design) || got.Why != want.Why {
		t.Errorf("after waiting in vain: %+v, alone %+v", got, want)
	}
}
