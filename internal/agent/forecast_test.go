package agent

import (
	"context"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

// forecasting predicts every result as a normal around 2 with peers and around 0 without, in the units
// of an objective to minimise.
type forecasting struct {
	search.Search
	forecast strategy.Forecast
}

func (f forecasting) Suggest(_ context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	s, err := f.Start(view, trial, seed)
	s.Forecast = &f.forecast
	return s, err
}

// The gain of a result is that of the forecast that came with its design. It is part of the record of
// the result, so that it survives restarts; that of a design under evaluation does not.
func TestGainsOfResults(t *testing.T) {
	cfg := configOf(t, newTask(t, "square", "type: peer-prior"), 1)
	cfg.Strategy = forecasting{search.New(cfg.Task), strategy.Forecast{
		With:    []strategy.Component{{Weight: 1, Mean: -2, Variance: 1}}, // -2 is the value 2, since smaller is better
		Without: []strategy.Component{{Weight: 1, Mean: 0, Variance: 1}},
		Units:   strategy.Units{Scale: 1},
	}}
	d := newDriver(t, cfg)
	values := []float64{2, 0, 1, 3, 2}
	want := []float64{2, -2, 0, 4, 2}
	for _, value := range values {
		d.tell(d.ask().ID, value)
	}
	check := func() {
		t.Helper()
		for i, trial := range d.agent.Trials()[:5] {
			if trial.PeerGain == nil || math.Abs(*trial.PeerGain-want[i]) > 1e-12 {
				t.Errorf("trial %d: gain %v, want %g", i+1, trial.PeerGain, want[i])
			}
		}
	}
	check()
	running := d.ask().ID
	d.start()
	check()
	d.tell(running, 2)
	if gain := d.agent.Trials()[5].PeerGain; gain != nil {
		t.Errorf("gain %g of a trial that ran during a restart", *gain)
	}
	diverged := d.ask().ID
	d.tell(diverged, 1e12)
	if gain := d.agent.Trials()[6].PeerGain; gain != nil {
		t.Errorf("gain %g of a diverged result", *gain)
	}
	failed := d.ask().ID
	if err := d.agent.Fail(d.now, failed, "no result"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if len(d.agent.forecasts) != 0 {
		t.Errorf("%d forecasts of ended trials are left", len(d.agent.forecasts))
	}
	effect, ok := strategy.StatusValue[strategy.PeerEffect](d.agent.Status(), strategy.PeerEffectKey)
	if !ok || effect.Results != 5 || math.Abs(effect.Mean-1.2) > 1e-12 {
		t.Errorf("the effect is %+v", effect)
	}
}
