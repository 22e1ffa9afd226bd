package httpapi

import (
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// A design is counted as better than all before it whatever it rests on, and what was imported
// counts for neither side.
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
	want := "3 designs used peers' shares; of these, 2 improved the best outcome. Of 1 without peers, 1 did. " +
		"The best design used peers' shares. This run does not show what the node would have reached alone."
	if got := compare(&task.Task{Goal: task.Minimize}, trials); got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}
