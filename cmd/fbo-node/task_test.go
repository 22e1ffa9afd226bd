package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// Each strategy is told in words of its own.
func TestEveryStrategyIsDescribed(t *testing.T) {
	for strategy, want := range map[string]string{
		"type: peer-prior":                                  "around the mean of the peers",
		"type: fts, share_every: 3":                         "a share after every 3 observations",
		"type: fts, mode: one-shot, share_after: 20":        "one share, after 20 observations",
		"type: consensus":                                   "weights uniform, in 50 rounds, each waiting up to 60 s; a share holds a candidate (",
		"type: consensus, weights: leader":                  "a share holds a candidate and its best result (",
		"type: consensus, mode: asynchronous, rounds: 7":    "asynchronous, over 7 rounds",
		"type: constrained-gp, threshold: open":             "threshold open",
		"type: density, components: 3":                      "a share holds 3 normals",
		"type: ts":                                          "Thompson sampling alone; nothing is shared",
		"type: logei":                                       "expected improvement alone; nothing is shared",
		"type: ucb":                                         "upper confidence bound alone; nothing is shared",
		"type: fts, schedule: constant, own_probability: 1": "schedule constant 1",
	} {
		parsed, err := task.Parse("task.yaml", fmt.Appendf(nil,
			"name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {%s}\n", strategy))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		describeTask(&out, parsed)
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "("+parsed.Strategy.Type+")\n") {
			t.Errorf("%s:\n%s", strategy, out.String())
		}
	}
}
