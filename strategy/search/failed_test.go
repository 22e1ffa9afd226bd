package search_test

import (
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

// TestLastFailed: trials that run or wait do not hide a failure; later ends of other kinds do.
func TestLastFailed(t *testing.T) {
	for _, test := range []struct {
		states []strategy.State
		want   bool
	}{
		{nil, false},
		{[]strategy.State{strategy.Running}, false},
		{[]strategy.State{strategy.Done, strategy.Failed}, true},
		{[]strategy.State{strategy.Failed, strategy.Running, strategy.Running}, true},
		{[]strategy.State{strategy.Failed, strategy.Done}, false},
		{[]strategy.State{strategy.Failed, strategy.StoppedEarly}, false},
	} {
		var view strategy.View
		for _, state := range test.states {
			view.Trials = append(view.Trials, strategy.Trial{State: state})
		}
		if got := search.LastFailed(view); got != test.want {
			t.Errorf("%v: %v", test.states, got)
		}
	}
}
