package httpapi

import (
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// The comparison counts designs that used peers' shares, and no imported ones.
func TestWithAndWithoutPeers(t *testing.T) {
	var trials []strategy.Trial
	for _, trial := range []struct {
		value    float64
		source   strategy.Source
		received int
	}{{1, strategy.Imported, 0}, {9, strategy.Own, 0}, {7, strategy.Own, 2}, {8, strategy.Own, 1}, {6, strategy.Own, 3}} {
		trials = append(trials, strategy.Trial{
			State: strategy.Done, Outcome: &strategy.Outcome{Value: trial.value}, Why: strategy.Why{Source: trial.source, PeerCount: trial.received},
		})
	}
	effect := strategy.PeerEffect{Verdict: strategy.PeersImproved, Results: 9, Mean: 0.5, StandardError: 0.1}.Item()
	want := "3 of 4 evaluated designs used peers' shares. Peers' shares improved the predictions of this node (log density +0.5 ± 0.1 per result, 9 results). " +
		"This run does not show what the node would have reached alone."
	if got := compare(trials, []strategy.StatusItem{effect}); got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}

// TestLocationOfAPeer checks that the heaviest component of a share becomes a design of the task.
func TestLocationOfAPeer(t *testing.T) {
	t.Parallel()
	spec, err := all.Strategies().Parse("pair", []byte(pair))
	if err != nil {
		t.Fatal(err)
	}
	design, err := spec.Space.UnmarshalDesign([]byte(`{"x":1,"n":3,"kind":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	other := protocol.Point{Coordinates: []float64{0, 0}, Choices: []int{0}}
	got, err := locationOf(spec.Space, protocol.Density{Observations: 7, Components: []protocol.Component{
		{Weight: 0.2, Std: 0.1, Center: other}, {Weight: 0.8, Std: 0.25, Center: protocol.PointOf(spec.Space, design)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "location", string(got.Parameters), `{"x":1,"n":3,"kind":"b"}`)
	same(t, "spread", got.Spread, 0.25)
}
