package agent

import (
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/protocol"
)

// What a peer has said of hyperparameters is the prior of the next fit, and after a
// restart of the same fit, although the peer is silent then; the next fit is by the
// standard prior again.
func TestTaughtFitSurvivesARestart(t *testing.T) {
	spec := newTask(t, "shared", "type: alone")
	peer := newDriver(t, configOf(t, spec, 1))
	peer.run(5, bowl)
	d := newDriver(t, configOf(t, spec, 2))
	d.run(3, bowl)
	if h := d.agent.objective().posterior.Hyperparameters(); h.Prior != nil {
		t.Errorf("without a word of a peer the fit is by %+v", h.Prior)
	}
	received := 0
	for _, share := range peer.take() {
		if share.Kind == protocol.HyperparametersKind && d.receive(share) == Accepted {
			received++
		}
	}
	if received == 0 {
		t.Fatal("no statement was accepted")
	}
	d.run(1, bowl)
	want := d.agent.objective().posterior.Hyperparameters()
	if want.Prior == nil {
		t.Fatal("the peer's statement is no prior of the fit")
	}
	if h := d.agent.objective(); h.fitted.Observations != 4 {
		t.Errorf("%+v", h.fitted)
	}
	d.start()
	if got := d.agent.objective().posterior.Hyperparameters(); !reflect.DeepEqual(got, want) {
		t.Errorf("after a restart %+v, want %+v", got, want)
	}
	d.run(1, bowl)
	if h := d.agent.objective().posterior.Hyperparameters(); h.Prior != nil {
		t.Errorf("a peer that has not been heard since the start has made %+v", h.Prior)
	}
}
