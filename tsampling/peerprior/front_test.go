package peerprior_test

import (
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
)

// TestFrontSharesAreForOneOrSeveral: only share coarse takes several objectives.
func TestFrontSharesAreForOneOrSeveral(t *testing.T) {
	for share, want := range map[string]bool{"coarse": true, "exact": false, "results": false} {
		_, err := all.Strategies().Parse("test", []byte("name: fronts\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
			"parameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: peer-prior, share: "+share+"}\n"))
		if (err == nil) != want {
			t.Errorf("share %s: %v, expected accepted %v", share, err, want)
		}
	}
}
