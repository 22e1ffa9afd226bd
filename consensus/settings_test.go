package consensus

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func TestSettings(t *testing.T) {
	strategytest.CheckSettings(t, strategy.Set{Register()}, map[string]task.Strategy{
		"{type: consensus}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "logei", Weights: "uniform", Average: "mean", Mode: "rounds", Rounds: 50, RoundTimeout: 60}},
		"{type: consensus, acquisition: ts, weights: metropolis, rounds: 7, round_timeout: 5, initial_designs: 4}": task.Strategy{Type: "consensus", InitialDesigns: 4, Settings: Settings{
			Acquisition: "ts", Weights: "metropolis", Average: "mean", Mode: "rounds", Rounds: 7, RoundTimeout: 5}},
		"{type: consensus, acquisition: ucb, mode: asynchronous, rounds: 1e5}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "ucb", Weights: "uniform", Average: "mean", Mode: "asynchronous", Rounds: 100000}},
		"{type: consensus, weights: leader, round_timeout: 86400}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "logei", Weights: "leader", Average: "mean", Mode: "rounds", Rounds: 50, RoundTimeout: 86400, Response: "value"}},
		"{type: consensus, weights: leader, response: noisy, response_noise: 0.5}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "logei", Weights: "leader", Average: "mean", Mode: "rounds", Rounds: 50, RoundTimeout: 60, Response: "noisy", ResponseNoise: 0.5}},
		"{type: consensus, weights: similarity, mode: asynchronous, average: median}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "logei", Weights: "similarity", Average: "median", Mode: "asynchronous", Rounds: 50}},
		"{type: consensus, average: trimmed}": task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: Settings{
			Acquisition: "logei", Weights: "uniform", Average: "trimmed", Mode: "rounds", Rounds: 50, RoundTimeout: 60}},
	})
}
