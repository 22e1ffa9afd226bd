package density

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
		"{type: density}":                             task.Strategy{Type: "density", InitialDesigns: 3, Settings: Settings{Beta: 5, Pooling: "evidence", Choice: best(Shape{Components: 1, Spread: 0.2})}},
		"{type: density, beta: 0, spread: 1e-3}":      task.Strategy{Type: "density", InitialDesigns: 3, Settings: Settings{Pooling: "evidence", Choice: best(Shape{Components: 1, Spread: 0.001})}},
		"{type: density, components: 16, beta: 1000}": {Type: "density", InitialDesigns: 3, Settings: Settings{Beta: 1000, Pooling: "evidence", Choice: best(Shape{Components: 16})}},
		"{type: density, pooling: evidence}":          {Type: "density", InitialDesigns: 3, Settings: Settings{Beta: 5, Pooling: "evidence", Choice: best(Shape{Components: 1, Spread: 0.2})}},
		"{type: density, pooling: product}":           {Type: "density", InitialDesigns: 3, Settings: Settings{Beta: 5, Pooling: "product", Choice: best(Shape{Components: 1, Spread: 0.2})}},
		"{type: density, pooling: mean}":              {Type: "density", InitialDesigns: 3, Settings: Settings{Beta: 5, Pooling: "mean", Choice: best(Shape{Components: 1, Spread: 0.2})}},
	})
}
