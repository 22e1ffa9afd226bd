package posteriormean

import (
	"errors"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, model string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", []byte(
		"name: test\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nsurrogate: {type: "+model+", features: 256}\nstrategy: {type: some}\n"),
		[]task.StrategyType{{Name: "some"}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func exchange(of *task.Task) *latest.Latest {
	return New(of, func(m protocol.Mean) any { return m })
}

// viewOf returns the view of an agent that has measured f at the given number of designs.
func viewOf(t testing.TB, of *task.Task, count int, f func(x []float64) float64) strategy.View {
	t.Helper()
	var x [][]float64
	for i := range count {
		x = append(x, []float64{float64(i) / float64(max(count-1, 1))})
	}
	view := strategytest.View(of, x, f)
	strategytest.Condition(t, &view, 1e-4)
	return view
}

// wave has no outcomes so bad that the surrogate reduces them.
func wave(x []float64) float64 { return 50 + 4*math.Sin(5*x[0]) }

// TestMeanIsThePosteriorsInTheObjectivesUnits checks that a receiver can compute the author's predictions
// from a share, at designs without outcomes too, and that these are near the objective.
func TestMeanIsThePosteriorsInTheObjectivesUnits(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		of := newTask(t, model)
		features, err := surrogate.SharedMap(of)
		if err != nil {
			t.Fatal(err)
		}
		view := viewOf(t, of, 9, wave)
		mean, err := protocol.DecodeMean(strategytest.Published(t, exchange, view), 256, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, units, err := surrogate.Outputs(of, view.Observed(task.Objective))
		if err != nil {
			t.Fatal(err)
		}
		f := features.Function(mean.Values)
		for _, x := range []float64{0.05, 0.3, 0.55, 0.9} {
			// Posteriors predict values of which larger is better.
			got, truth := -(mean.Level + mean.Scale*f.Value([]float64{x})), wave([]float64{x})
			predicted, _ := view.Posterior.Predict([]float64{x})
			want := -(units.Level + units.Scale*predicted)
			if math.Abs(got-want) > 0.05 || math.Abs(got-truth) > 1.5 {
				t.Errorf("%s: the shared mean at %g is %.2f, expected %.2f; the objective is %.2f", model, x, got, want, truth)
			}
		}
		if mean.Observations != 9 || !(mean.Explained > 0.5 && mean.Explained <= 1) {
			t.Errorf("%s: %d observations, explained fraction %g, expected 9 and more than .5", model, mean.Observations, mean.Explained)
		}
		if learned := len(mean.Lengthscales) > 0; learned != (model == "exact") {
			t.Errorf("%s: lengthscales %v", model, mean.Lengthscales)
		}
	}
}

// TestNothingToShare checks when an agent publishes nothing: with two outcomes the level would nearly
// disclose a value, and with equal outcomes there is no scale.
func TestNothingToShare(t *testing.T) {
	of := newTask(t, "exact")
	for count, published := range map[int]bool{0: false, MinObservations - 1: false, MinObservations: true} {
		if payload := strategytest.Published(t, exchange, viewOf(t, of, count, wave)); (payload != nil) != published {
			t.Errorf("%d outcomes: published %t, expected %t", count, payload != nil, published)
		}
	}
	for name, view := range map[string]strategy.View{
		"equal outcomes": viewOf(t, of, 5, func([]float64) float64 { return 7 }),
		"no posterior":   strategytest.View(of, [][]float64{{0}, {0.5}, {1}}, wave),
	} {
		if _, ok, err := Of(of, view); ok || err != nil {
			t.Errorf("%s: a mean %t, error %v; expected neither", name, ok, err)
		}
	}
}

// TestOwnIsWhatPeersReceive checks that Own returns the published mean, and none without a share.
func TestOwnIsWhatPeersReceive(t *testing.T) {
	view := viewOf(t, newTask(t, "exact"), 5, wave)
	if _, ok := Own(view); ok {
		t.Error("a mean without a share")
	}
	payload := strategytest.Published(t, exchange, view)
	view.Own = []protocol.Share{
		{Key: protocol.Key{Kind: protocol.DensityKind}, Payload: []byte("of another kind")},
		{Key: protocol.Key{Kind: protocol.MeanKind}, Payload: payload},
	}
	mean, ok := Own(view)
	again, err := mean.Encode()
	if !ok || err != nil || string(again) != string(payload) {
		t.Errorf("the own mean is not the published one: %t, %v", ok, err)
	}
}

// TestForgedMeans checks that forged shares pass the decoder, since one that receivers refuse is no
// attack. Extreme ones are at the bounds of the format.
func TestForgedMeans(t *testing.T) {
	of := newTask(t, "exact")
	payload := strategytest.Published(t, exchange, viewOf(t, of, 5, wave))
	honest, err := protocol.DecodeMean(payload, 256, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, extreme := range []bool{false, true} {
		forged, err := Forge(of, payload, strategy.Forgery{Rand: random.SeedOf(1).Stream("forged", 0), Extreme: extreme})
		if err != nil {
			t.Fatal(err)
		}
		mean, err := protocol.DecodeMean(forged, 256, 1)
		if err != nil {
			t.Fatalf("extreme %t: %v", extreme, err)
		}
		if (mean.Level == protocol.MaxUnit) != extreme || (mean.Level == honest.Level) == extreme || mean.Values[0] == honest.Values[0] {
			t.Errorf("extreme %t: level %g, honest %g, first weight %g, honest %g", extreme, mean.Level, honest.Level, mean.Values[0], honest.Values[0])
		}
	}
	if _, err := Forge(of, payload[:len(payload)-1], strategy.Forgery{}); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("a share that is cut: %v, expected %v", err, protocol.ErrMalformed)
	}
}
