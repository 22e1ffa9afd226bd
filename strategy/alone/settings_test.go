package alone

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestSettings(t *testing.T) {
	strategytest.CheckSettings(t, strategy.Set{RegisterUCB(), RegisterTS(), RegisterLogEI()}, map[string]task.Strategy{
		"{type: ucb}":                     task.Strategy{Type: "ucb", InitialDesigns: 3},
		"{type: ucb, initial_designs: 7}": task.Strategy{Type: "ucb", InitialDesigns: 7},
		"{type: ucb, c1: 0.08, c2: 5}":    task.Strategy{Type: "ucb", InitialDesigns: 3, Settings: UCBSettings{C1: 0.08, C2: 5}},
		"{type: ucb, c1: 0, c2: 1e-6}":    task.Strategy{Type: "ucb", InitialDesigns: 3, Settings: UCBSettings{C2: 1e-6}},
		"{type: logei}":                   task.Strategy{Type: "logei", InitialDesigns: 3},
		"{type: logei, per_cost: false}":  task.Strategy{Type: "logei", InitialDesigns: 3},
		"{type: logei, per_cost: true}":   task.Strategy{Type: "logei", InitialDesigns: 3, Settings: LogEISettings{PerCost: true}},
		"{type: ts, initial_designs: 7}":  task.Strategy{Type: "ts", InitialDesigns: 7},
	})
}
