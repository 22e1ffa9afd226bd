package agent

import (
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
)

// What a peer states of the function in common is part of the posterior from the next
// observation on. A restart keeps the own fit and the trials; what the peer stated is part of
// the posterior again when it has been heard again and there is a further observation.
func TestStatementsSurviveWhatTheyCan(t *testing.T) {
	spec, err := all.Strategies().Parse("shared", []byte(`
name: shared
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 20}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {type: shared-latent, features: 16}
strategy: {type: alone}`))
	if err != nil {
		t.Fatal(err)
	}
	peer := newDriver(t, configOf(t, spec, 1))
	peer.run(5, bowl)
	d := newDriver(t, configOf(t, spec, 2))
	d.run(3, bowl)
	kindOf := func() string { return reflect.TypeOf(d.agent.objective().posterior).String() }
	own := kindOf()
	hear := func() (received int) {
		for _, share := range peer.take() {
			if share.Kind == protocol.LatentKind && d.receive(share) == Accepted {
				received++
			}
		}
		return received
	}
	if hear() == 0 {
		t.Fatal("no statement was accepted")
	}
	d.run(1, bowl)
	if kindOf() == own {
		t.Fatalf("with a statement the posterior is a %s as without", own)
	}
	fitted := d.agent.objective().posterior.Hyperparameters()
	d.start()
	if got := d.agent.objective().posterior.Hyperparameters(); !reflect.DeepEqual(got, fitted) {
		t.Errorf("after a restart the own process has %+v, want %+v", got, fitted)
	}
	if kindOf() != own {
		t.Errorf("nobody has been heard since the restart, and the posterior is a %s", kindOf())
	}
	peer.run(1, bowl)
	if hear() == 0 {
		t.Fatal("no statement was accepted after the restart")
	}
	d.run(1, bowl)
	if kindOf() == own {
		t.Error("after the restart a statement is heard, and no part of the posterior")
	}
}
