//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

// Two nodes that would share nothing else teach each other hyperparameters, and say so.
func TestHyperparametersAreTaught(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", strings.NewReplacer("64", "64, hyperparameters: shared", "fts", "alone").Replace(bowlTask))
	dirs := []string{shortTempDir(t), shortTempDir(t)}
	first := start(t, join(runLine(file, dirs[0], "--json"), objective("steady"))...)
	second := start(t, join(runLine(file, dirs[1], "--json", "--peer", first.address(t)), objective("steady"))...)
	for i, p := range []*process{first, second} {
		p.await(t, "the peer's statement", func(e event) bool { return e.Event == "share_received" && e.Kind == "hyperparameters" })
		p.awaitAfter(t, len(p.all()), "a trial by what it says", isEvent("trial_finished"))
		if peers, _ := strategy.StatusValue[int](statusOf(t, dirs[i]).Items, "hyperparameter_peers"); peers != 1 {
			t.Errorf("node %d has %d hyperparameter peers", i+1, peers)
		}
		if text := must(t, "status", "--data-dir", dirs[i]); !strings.Contains(text, "prior     lengthscales and noise from 1 other node\n") {
			t.Errorf("node %d prints\n%s", i+1, text)
		}
	}
}
