//go:build long && unix

package main_test

import (
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/democmd"
)

func TestLongDemoWithEveryStrategy(t *testing.T) {
	t.Parallel()
	for _, strategy := range democmd.Strategies() {
		t.Run(strategy, func(t *testing.T) { checkDemoStrategy(t, strategy) })
	}
}

// Without peers' shares the nodes choose the same designs in every run of a seed.
func TestLongDemoRepeatsASeed(t *testing.T) {
	t.Parallel()
	first, again := demoOfTwoSeeds(t), demoOfTwoSeeds(t)
	for i, r := range first.Seeds {
		if !slices.Equal(r.Curves.Alone, again.Seeds[i].Curves.Alone) {
			t.Errorf("seed %d: %+v, then %+v", r.Seed, r.Curves, again.Seeds[i].Curves)
		}
	}
}
