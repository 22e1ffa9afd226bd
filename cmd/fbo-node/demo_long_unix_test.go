//go:build long && unix

package main_test

import (
	"testing"

	"github.com/fbo-node/fbo/internal/cli/democmd"
)

func TestLongDemoWithEveryStrategy(t *testing.T) {
	t.Parallel()
	for _, strategy := range democmd.Strategies() {
		t.Run(strategy, func(t *testing.T) {
			used := 0
			for _, site := range demoReport(t, "--evals", "8", "--seeds", "1", "--strategy", strategy).Seeds[0].Sites {
				used += site.WithPeers.UsedShares
			}
			if used == 0 {
				t.Error("no design used peers' shares")
			}
		})
	}
}
