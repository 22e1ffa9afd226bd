package tsampling

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestSettings(t *testing.T) {
	strategytest.CheckSettings(t, strategy.Set{RegisterFTS()}, map[string]task.Strategy{
		"{type: fts}":                 task.Strategy{Type: "fts", InitialDesigns: 3, Settings: Settings{Mode: "concurrent", Schedule: Schedule{Name: "inverse-sqrt"}, ShareEvery: 1}},
		"{type: fts, mode: one-shot}": task.Strategy{Type: "fts", InitialDesigns: 3, Settings: Settings{Mode: "one-shot", Schedule: Schedule{Name: "inverse-sqrt"}, ShareAfter: 50}},
		"{type: fts, mode: one-shot, share_after: 2e1, schedule: own-only}":      task.Strategy{Type: "fts", InitialDesigns: 3, Settings: Settings{Mode: "one-shot", Schedule: Schedule{Name: "own-only"}, ShareAfter: 20}},
		"{type: fts, schedule: constant, own_probability: 0.25, share_every: 5}": task.Strategy{Type: "fts", InitialDesigns: 3, Settings: Settings{Mode: "concurrent", Schedule: Schedule{Name: "constant", OwnProbability: 0.25}, ShareEvery: 5}},
		"{type: fts, schedule: inverse-square}":                                  task.Strategy{Type: "fts", InitialDesigns: 3, Settings: Settings{Mode: "concurrent", Schedule: Schedule{Name: "inverse-square"}, ShareEvery: 1}},
	})
}
