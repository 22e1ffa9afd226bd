package taskcmd

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Each strategy is told in words of its own.
func TestEveryStrategyIsDescribed(t *testing.T) {
	for strategy, want := range map[string]string{
		"type: peer-prior":                                  "with a prior at the peers' estimated optima; a share holds a coarse location of the estimated optimum, and the number of results",
		"type: peer-prior, share: exact":                    "with a prior at the peers' estimated optima; a share holds the node's own mean",
		"type: fts, share_every: 3":                         "a share after every 3 observations",
		"type: fts, mode: one-shot, share_after: 20":        "one share, after 20 observations",
		"type: consensus":                                   "weights uniform, in 50 rounds, each waiting up to 60 s; a share holds a candidate (",
		"type: consensus, weights: leader":                  "a share holds a candidate and its best result (",
		"type: consensus, mode: asynchronous, rounds: 7":    "asynchronous, over 7 rounds",
		"type: constrained-gp, threshold: open":             "threshold open",
		"type: constrained-gp, threshold: private":          "goes to each peer whose own best is below this bound, by a private comparison, at most 60 comparisons with a peer within an hour",
		"type: density, components: 3":                      "a share holds 3 normals",
		"type: ts":                                          "Thompson sampling alone; nothing is shared",
		"type: logei":                                       "expected improvement alone; nothing is shared",
		"type: ucb":                                         "upper confidence bound alone, the mean plus 2 standard deviations; nothing is shared",
		"type: ucb, c1: 0.08, c2: 5":                        "the mean plus sqrt(0.08 * 1 * ln(5 * t)) standard deviations in trial t; nothing is shared",
		"type: mes":                                         "max-value entropy search alone; nothing is shared",
		"type: fts, schedule: constant, own_probability: 1": "schedule constant 1",
		"type: fts, schedule: inverse":                      "schedule inverse; ",
	} {
		parsed, err := all.Strategies().Parse("task.yaml", fmt.Appendf(nil,
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

func TestFixedHyperparametersAreDescribed(t *testing.T) {
	for keys, want := range map[string]string{
		"hyperparameters: fixed, lengthscales: [0.5, 1], mean: -2, signal_std: 3, noise_std: 0.1": "surrogate   exact, kernel matern52\n" +
			"fixed       mean -2, signal_std 3, noise_std 0.1; lengthscales x 0.5, c 1\nfeatures    256 that",
		"": "surrogate   exact, kernel matern52\nfeatures    256 that",
	} {
		parsed, err := all.Strategies().Parse("task.yaml", fmt.Appendf(nil,
			"name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}, {name: c, type: bool}]\nsurrogate: {%s}\n", keys))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		describeTask(&out, parsed)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s:\n%s", keys, out.String())
		}
	}
}

// A promise on designs says what is shared, how much noise that has, and when it says nothing.
func TestPrivateDesignsAreDescribed(t *testing.T) {
	for keys, want := range map[string][]string{
		"type: density, share_every: 5}\nprivacy: {mechanism: local, epsilon: 4, releases: 1": {
			"a share holds 1 normal, placed with noise and wider by it, and comes after every 5 observations (density)\n",
			"over 1 release, against all that receive", "noise: deviation 1.53 of every parameter's range", "within norm 0.7071 of the middle",
			"warning: the noise exceeds the signal", "The average of about 234 nodes' shares"},
		"type: constrained-gp}\nprivacy: {mechanism: local, epsilon: 100, releases: 1, clip: 0.1": {
			"at 2 deviations, is best, with noise, and comes after every observation (constrained-gp)\n",
			"within norm 0.1 of the middle", "deviation 0.0"},
	} {
		parsed, err := all.Strategies().Parse("task.yaml", fmt.Appendf(nil, "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: bool}]\nstrategy: {%s}\n", keys))
		if err != nil {
			t.Fatal(err)
		}
		promised, err := planOf(parsed)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		describeTask(&out, parsed)
		describePrivacy(&out, parsed, promised)
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", keys, part, out.String())
			}
		}
		if drowns := strings.Contains(out.String(), "warning"); drowns != strings.Contains(keys, "epsilon: 4,") {
			t.Errorf("%s:\n%s", keys, out.String())
		}
	}
}

func TestPrivateSumsAreDescribed(t *testing.T) {
	for keys, want := range map[string]string{
		"": "then Thompson sampling around private sums, weighted by how well they predict own results; a sum of the nodes' means after every observation (fts-de)\n",
		", cells: 4, share: sample, share_every: 5": "predict own results; 4 cells, each explored by its own nodes at the start; " +
			"a sum of samples, one of each node, after every 5 observations (fts-de)\n",
		", weights: schedule": "federated Thompson sampling with private sums, schedule inverse; a sum of",
		", weights: schedule, schedule: constant, own_probability: 0.5": "private sums, schedule constant 0.5; a sum of",
	} {
		var out bytes.Buffer
		describeTask(&out, summingTask(t, 4, 16, keys, ""))
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s:\n%s", keys, out.String())
		}
	}
}

// TestConditionsAreDescribed checks what task check prints of conditions, fixed values and constraints
// among parameters. Of the unit square x + y <= 1 leaves one half.
func TestConditionsAreDescribed(t *testing.T) {
	parsed, err := all.Strategies().Parse("task.yaml", []byte(`name: a
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1}
  - {name: kind, type: categorical, choices: [p, q, r]}
  - {name: n, type: int, low: 1, high: 9, when: {kind: [p, r], x: {low: 0.5}}}
  - {name: epochs, value: 20}
  - {name: device, value: cpu}
parameter_constraints: [x + y <= 1]
`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	describeTask(&out, parsed)
	for _, want := range []string{
		"parameter   n: int from 1 to 9, linear scale; only with x: {low: 0.5} and kind: [p, r]\n",
		"parameter   epochs: int, fixed at 20\nparameter   device: categorical, fixed at cpu\n",
		"constraint  among parameters: x + y <= 1\nfeasible    about 50.4 % of random designs satisfy all constraints among parameters\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// Whoever copies a whole task from the documentation, and the table that one of them
// names, has one that is accepted.
func TestTasksOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/task-file.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	tables := fstest.MapFS{}
	for _, block := range blocks {
		if table, ok := strings.CutPrefix(block, "csv\n"); ok {
			tables["roads.csv"] = &fstest.MapFile{Data: []byte(table)}
		}
	}
	strategies, listed := map[string]bool{}, 0
	for i, block := range blocks {
		if file, ok := strings.CutPrefix(block, "yaml\nname:"); ok {
			parsed, err := all.Strategies().ParseBeside(tables, fmt.Sprintf("block %d", i/2+1), []byte("name:"+file))
			if err != nil {
				t.Error(err)
				continue
			}
			strategies[parsed.Strategy.Type] = true
			if parsed.Space.Listing() != nil {
				listed = parsed.Space.Listing().Len()
			}
		}
	}
	if !strategies["peer-prior"] || !strategies["fts-de"] || listed != 3 {
		t.Errorf("whole tasks of %v, one with %d listed designs", strategies, listed)
	}
}

// A task whose nodes move says so.
func TestStepsAreDescribed(t *testing.T) {
	walk := strategy.Registration{StrategyType: task.StrategyType{Name: "walk", Moves: true}}
	walk.New = func(*task.Task) (strategy.Strategy, error) { return nil, nil }
	walk.Describe = func(*task.Task) string { return "a walk" }
	const text = `name: listed
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
designs:
  max_moves: 2
  file: tables/roads.csv
surrogate: {features: 64}
strategy: {type: walk}
`
	var table strings.Builder
	table.WriteString("x,neighbors\n")
	for i := range 12 { // on a circle road
		fmt.Fprintf(&table, "%g,%d;%d\n", float64(i)/4-1.5, (i+11)%12+1, (i+1)%12+1)
	}
	folder := fstest.MapFS{"tables/roads.csv": {Data: []byte(table.String())}}
	parsed, err := strategy.Set{walk}.ParseBeside(folder, "task.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := describeListing(parsed.Space.Listing(), parsed.MaxMoves)
	if want := "12 designs of tables/roads.csv, of which a node goes to one at most 2 moves away"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDescribeStopping(t *testing.T) {
	for want, s := range map[string]task.Stopping{
		"evaluations with a bad predicted final value, from step 2 on, after 5 outcomes": {Type: task.ForecastRule, GracePeriod: 2, StartupTrials: 5},
		"all but the best of 3 at steps 1, 3, 9 and so on":                               {Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3},
		"evaluations worse than the median, from step 1 on, after 1 outcome, evaluations without improvement in 4 steps": {
			Type: task.MedianRule, GracePeriod: 1, StartupTrials: 1, Patience: 4},
	} {
		if got := describeStopping(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
