package constrainedgp

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestSettings(t *testing.T) {
	best := func(keys task.StrategySettings) strategy.Choice {
		return strategy.Choice{Share: "best", Implied: true, ShareEvery: 1, Settings: keys}
	}
	strategytest.CheckSettings(t, strategy.Set{Register()}, map[string]task.Strategy{
		"{type: constrained-gp}":                                              task.Strategy{Type: "constrained-gp", InitialDesigns: 3, Settings: Settings{Choice: best(Designs{Threshold: "none", Confidence: 2})}},
		"{type: constrained-gp, threshold: open, confidence: 0}":              task.Strategy{Type: "constrained-gp", InitialDesigns: 3, Settings: Settings{Choice: best(Designs{Threshold: "open"})}},
		"{type: constrained-gp, threshold: private, comparisons_per_hour: 7}": task.Strategy{Type: "constrained-gp", InitialDesigns: 3, Settings: Settings{Choice: best(Designs{Threshold: "private", Confidence: 2, ComparisonsPerHour: 7})}},
	})
}
