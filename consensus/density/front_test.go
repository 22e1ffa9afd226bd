package density

import (
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
)

// TestShareOfAFront: a share has exactly designs of the own front, four at most, both ends among them, and
// comes as often as share_every states.
func TestShareOfAFront(t *testing.T) {
	spec := strategytest.Task(t, strategy.Set{Register()}, "%s", "name: test\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
		"parameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: density, share_every: 4, spread: 0.25}\n")
	r := Register()
	exchanges, err := r.Disclosure(spec).Exchanges(strategy.Env{Task: spec})
	if err != nil || len(exchanges) != 1 {
		t.Fatalf("%d exchanges, expected 1 (%v)", len(exchanges), err)
	}
	s := exchanges[0].(*latest.Latest)
	view := strategy.View{Task: spec}
	shared := map[int][]float64{}                                        // centres by number of observations
	for i, x := range []float64{0, 0.9, 0.25, 0.375, 0.5, 0.625, 0.75} { // the front is from .25 to .75
		view.Observations++
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode([]float64{x}), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: (x - .25) * (x - .25), Metrics: map[string]float64{"b": (x - .75) * (x - .75)}}})
		for _, d := range step(t, s, view, view, strategy.TrialsEnded{}) {
			for _, c := range d.Components {
				if c.Std != 0.25 || c.Weight != 1/float64(len(d.Components)) {
					t.Errorf("component %+v of %d", c, len(d.Components))
				}
				shared[d.Observations] = append(shared[d.Observations], c.Center.Encoded(spec.Space)...)
			}
		}
	}
	if len(shared) != 2 || !slices.Equal(shared[7], []float64{0.25, 0.375, 0.5, 0.75}) {
		t.Errorf("shares %v, expected two, the last of both ends and two designs between", shared)
	}
	wide := around(spec, 0.25, []float64{0.5})
	for range optprior.FrontComponents {
		wide.Components = append(wide.Components, wide.Components[0])
	}
	for i := range wide.Components {
		wide.Components[i].Weight = 1 / float64(len(wide.Components))
	}
	payload, err := wide.Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decode(payload); err == nil || !strings.Contains(err.Error(), "expected 4 at most") {
		t.Errorf("five components: %v", err)
	}
}

// TestPriorDesignsOfAFront: without peers, the prior designs of the user inform a design.
func TestPriorDesignsOfAFront(t *testing.T) {
	spec := strategytest.Task(t, strategy.Set{Register()}, "%s", "name: test\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
		"parameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: density, initial_designs: 1, pooling: mean, beta: 1000}\n")
	view := strategy.View{Task: spec, Observations: 2}
	for i, x := range []float64{0.25, 0.5} {
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode([]float64{x}), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: (x - .25) * (x - .25), Metrics: map[string]float64{"b": (x - .75) * (x - .75)}}})
	}
	strategytest.ConditionObjectives(t, &view)
	view.PriorDesigns = append(view.PriorDesigns, spec.Space.Decode([]float64{0.1}))
	got, err := newFront(spec).Suggest(t.Context(), view, 3, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if x := got.Design.Float("x"); got.Why.Source != "density" || got.Why.PeerCount != 0 || x < 0.05 || x > 0.15 {
		t.Errorf("%v by %+v, expected a design near .1, informed by prior designs", got.Design, got.Why)
	}
}
