//go:build unix

package main_test

import (
	"os"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestPublishedExamples runs two nodes on each task file of examples/published. The second evaluates
// until one of its designs used a share of the first: the source that the strategy states.
func TestPublishedExamples(t *testing.T) {
	t.Parallel()
	training := func(node string) []string {
		return []string{"--", os.Args[0], "train", "--node", node, "--samples", "60", "--epochs", "2", "--repeats", "1",
			"--learning-rate", "{learning_rate}", "--l2", "{l2}"}
	}
	for file, source := range map[string]string{"fts.yaml": "peer", "fts-private.yaml": "peer", "consensus.yaml": "consensus"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path := "../../examples/published/" + file
			first := start(t, join(runLine(path, shortTempDir(t), "--json"), training("0"))...)
			second := start(t, join(runLine(path, shortTempDir(t), "--json", "--peer", first.address(t)), training("1"))...)
			second.await(t, "a design that used a peer's share", func(e event) bool {
				return e.Event == "trial_finished" && string(e.Trial.Why.Source) == source
			})
			for _, p := range []*process{first, second} {
				p.signal(t, os.Interrupt)
				if code := p.wait(t); code != base.ExitDone {
					t.Errorf("exit code %d: %s", code, p.stderr.String())
				}
			}
		})
	}
}
