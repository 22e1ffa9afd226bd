package ftsde

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

func TestParseFTSDE(t *testing.T) {
	for _, c := range []struct {
		keys string
		want task.Strategy
	}{
		{"", task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 1, Weights: "evidence", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}}}},
		{"weights: evidence, cells: 16, share: sample, share_every: 1e4, initial_designs: 5",
			task.Strategy{InitialDesigns: 5, Settings: Settings{Cells: 16, Weights: "evidence", Choice: strategy.Choice{Share: "sample", ShareEvery: 10000}}}},
		{"weights: schedule", task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 1, Weights: "schedule", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}, Schedule: tsampling.Schedule{Name: "inverse"}}}},
		{"cells: 2, weights: schedule, schedule: inverse-square",
			task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 2, Weights: "schedule", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}, Schedule: tsampling.Schedule{Name: "inverse-square"}}}},
		{"cells: 4, weights: schedule, schedule: constant, own_probability: 0.25",
			task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 4, Weights: "schedule", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}, Schedule: tsampling.Schedule{Name: "constant", OwnProbability: 0.25}}}},
		{"cells: 2, weights: schedule, schedule: inverse-sqrt",
			task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 2, Weights: "schedule", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}, Schedule: tsampling.Schedule{Name: "inverse-sqrt"}}}},
		{"cells: 8, weights: schedule, schedule: own-only",
			task.Strategy{InitialDesigns: 3, Settings: Settings{Cells: 8, Weights: "schedule", Choice: strategy.Choice{Share: "mean", ShareEvery: 1}, Schedule: tsampling.Schedule{Name: "own-only"}}}},
	} {
		got, err := strategy.Set{Register()}.Parse("", []byte(summing(t, c.keys)))
		if err != nil {
			t.Errorf("%s: %v", c.keys, err)
			continue
		}
		c.want.Type = "fts-de"
		if !reflect.DeepEqual(got.Strategy, c.want) {
			t.Errorf("%s: %s", c.keys, got.Canonical())
		}
	}
}

func TestFTSDEErrors(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"foo: 1", `5:26: strategy: unknown key "foo"; accepted: type, cells, weights, share, share_every, initial_designs`},
		{"mode: one-shot, share_after: 2", `5:26: strategy: unknown key "mode"; accepted: type, cells, weights, share, share_every, initial_designs
5:42: strategy: unknown key "share_after"; accepted: type, cells, weights, share, share_every, initial_designs`},
		{"cells: 0", `5:33: strategy: cells 0 must be a whole number from 1 to 16`},
		{"cells: 17", `5:33: strategy: cells 17 must be a whole number from 1 to 16`},
		{"cells: 32", `5:33: strategy: cells 32 must be a whole number from 1 to 16`},
		{"cells: 2.5", `5:33: strategy: cells 2.5 must be a whole number from 1 to 16`},
		{"cells: four", `5:33: strategy: cells must be a number, not the text "four"`},
		{"cells: 3", `5:33: strategy: cells must be a power of 2, so that they have equal size, not 3`},
		{"cells: 12", `5:33: strategy: cells must be a power of 2, so that they have equal size, not 12`},
		{"share: all, share_every: 0", `5:33: strategy: share must be one of mean, sample, not the text "all"
5:51: strategy: share_every 0 must be a whole number from 1 to 10000`},
		{"share_every: 10001, initial_designs: 0", `5:39: strategy: share_every 10001 must be a whole number from 1 to 10000
5:63: strategy: initial_designs 0 must be a whole number from 1 to 1000`},
		// schedules
		{"schedule: own-only", `5:26: strategy: schedule applies only with weights: schedule`},
		{"weights: evidence, schedule: constant, own_probability: 1", `5:45: strategy: schedule applies only with weights: schedule
5:65: strategy: own_probability applies only with weights: schedule and schedule: constant`},
		{"own_probability: 1", `5:26: strategy: own_probability applies only with weights: schedule and schedule: constant`},
		{"weights: schedule, own_probability: 1", `5:45: strategy: own_probability applies only with schedule: constant`},
		{"weights: schedule, schedule: own-only, own_probability: 1", `5:65: strategy: own_probability applies only with schedule: constant`},
		{"weights: schedule, schedule: constant", `5:11: strategy: missing key "own_probability"`},
		{"weights: schedule, schedule: constant, own_probability: -0.1", `5:82: strategy: own_probability -0.1 must be from 0 to 1`},
		{"weights: schedule, schedule: linear, own_probability: 1", `5:55: strategy: schedule must be one of inverse-sqrt, inverse-square, inverse, constant, own-only, not the text "linear"`},
		{"weights: scheduled, schedule: constant, own_probability: 1, x: 1", `5:35: strategy: weights must be one of evidence, schedule, not the text "scheduled"
5:86: strategy: unknown key "x"; accepted: type, cells, weights, share, share_every, schedule, own_probability, initial_designs`},
	} {
		_, err := strategy.Set{Register()}.Parse("task.yaml", []byte(summing(t, c.keys)))
		if want := "task.yaml:" + strings.ReplaceAll(c.want, "\n", "\ntask.yaml:"); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.keys, err, want)
		}
	}
}

// summing returns a task file with further keys of the section strategy, which begin at 5:26.
func summing(t testing.TB, keys string) string {
	if keys != "" {
		keys = ", " + keys
	}
	return "name: a\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nstrategy: {type: fts-de" + keys + "}\n" +
		"privacy: {mechanism: aggregate, epsilon: 4, roster: [" + fbotest.Roster(t, 2) + "]}\n"
}
