package strategy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// The gain is that of the densities, computed here in another way, and does not depend on the units.
func TestForecastGain(t *testing.T) {
	normal := func(y, mean, variance float64) float64 {
		return math.Exp(-(y-mean)*(y-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
	}
	f := strategy.Forecast{
		With:    []strategy.Component{{Weight: .75, Mean: 1, Variance: .5}, {Weight: .25, Mean: -1, Variance: 2}},
		Without: []strategy.Component{{Weight: 1, Mean: 0, Variance: 1}},
		Units:   strategy.Units{Level: 0, Scale: .1},
	}
	want := math.Log((.75*normal(.8, 1, .5) + .25*normal(.8, -1, 2)) / normal(.8, 0, 1))
	if got, ok := f.Gain(.08); !ok || math.Abs(got-want) > 1e-12 {
		t.Errorf("gain %g, %t, want %g", got, ok, want)
	}
	// Far from all components the density underflows, and its logarithm does not.
	if got, ok := f.Gain(1e6); !ok || math.IsInf(got, 0) {
		t.Errorf("gain far away: %g, %t", got, ok)
	}
	for _, output := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
		if got, ok := f.Gain(output); ok {
			t.Errorf("gain %g of %g", got, output)
		}
	}
}

func TestPeerEffect(t *testing.T) {
	forecasts := strategy.Disclosure{Forecasts: func(*task.Task) bool { return true }}
	for _, c := range []struct {
		name       string
		d          strategy.Disclosure
		gains      []float64
		verdict    string
		text       string
		mean, se   float64
		unmeasured int // further trials without a gain
	}{
		{"no forecasts", strategy.Disclosure{}, nil, strategy.PeersNotMeasured, "not measured with this strategy", 0, 0, 3},
		{"nothing yet", forecasts, nil, strategy.PeersTooFew, "too few results yet (0 of 5)", 0, 0, 3},
		{"four", forecasts, []float64{1, 1, 1, 1}, strategy.PeersTooFew, "(4 of 5)", 1, 0, 0},
		{"better", forecasts, []float64{1, 2, 3, 2, 2}, strategy.PeersImproved, "improved the predictions of this node (log density +2 ± 0.3 per result, 5 results)", 2, math.Sqrt(.5 / 5), 2},
		{"worse", forecasts, []float64{-1, -2, -3, -2, -2}, strategy.PeersWorsened, "worsened the predictions", -2, math.Sqrt(.5 / 5), 0},
		{"unclear", forecasts, []float64{-1, 2, -3, 2, 1}, strategy.PeersNoEffect, "made no measurable difference", .2, math.Sqrt(4.7 / 5), 0},
		{"exactly nothing", forecasts, []float64{0, 0, 0, 0, 0}, strategy.PeersNoEffect, "+0 ± 0", 0, 0, 0},
	} {
		trials := make([]strategy.Trial, c.unmeasured)
		for _, gain := range c.gains {
			trials = append(trials, strategy.Trial{PeerGain: &gain})
		}
		e := strategy.PeerEffectOf(nil, c.d, trials)
		if e.Verdict != c.verdict || e.Results != len(c.gains) || math.Abs(e.Mean-c.mean) > 1e-12 || math.Abs(e.StandardError-c.se) > 1e-12 {
			t.Errorf("%s: %+v, want %s, mean %g, error %g", c.name, e, c.verdict, c.mean, c.se)
		}
		if !strings.Contains(e.String(), c.text) {
			t.Errorf("%s: %q, want %q", c.name, e, c.text)
		}
	}
}
