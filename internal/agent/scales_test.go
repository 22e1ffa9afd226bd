package agent

import (
	"reflect"
	"testing"
)

// TestLearnedScalesSurviveARestart: the own model of random features has learned lengthscales, and
// a restarted agent has the same and chooses the same design.
func TestLearnedScalesSurviveARestart(t *testing.T) {
	two := func() *driver {
		d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
		d.run(25, bowl)
		return d
	}
	d, again := two(), two()
	want := d.agent.objective().posterior.Hyperparameters()
	if len(want.Lengthscales) != 2 || want.SharedNoise == 0 || want.Features == 0 {
		t.Fatalf("learned hyperparameters are %+v", want)
	}
	again.start()
	if got := again.agent.objective().posterior.Hyperparameters(); !reflect.DeepEqual(got, want) {
		t.Errorf("after a restart the hyperparameters are %+v, want %+v", got, want)
	}
	if got, want := again.ask().Design.Key(), d.ask().Design.Key(); got != want {
		t.Errorf("after a restart the agent suggests %s, want %s", got, want)
	}
}
