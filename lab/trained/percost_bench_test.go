//go:build statistical

package trained

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const (
	perCostRepeats = 10
	perCostMembers = 4
	perCostSeed    = 9100
)

// pricedTables are tables of real trainings with the work of a training of each design, up to a factor.
var pricedTables = []struct {
	name, of string
	cost     func(task.Design) float64
}{
	{"flights", "rounds times depth of boosted trees", func(d task.Design) float64 { return float64(d.Int("rounds") * d.Int("max_depth")) }},
	{"weather", "rounds times leaves of boosted trees", func(d task.Design) float64 { return float64(d.Int("rounds") * d.Int("max_leaves")) }},
	{"food", "weights of a network", func(d task.Design) float64 {
		w := float64(d.Int("width"))
		return w * (10 + w*float64(d.Int("layers")-1))
	}},
	{"pharmacy", "steps of gradients: epochs over batches", func(d task.Design) float64 { return float64(d.Int("epochs")) / float64(d.Int("batch")) }},
}

// BenchmarkPerCost compares logei with and without per_cost at equal cost, on one node alone: mean
// regret over the members when the costs of 5, 10 and 20 designs drawn at random are spent, and the
// standard error over the repeats. The last column is the mean of the paired differences.
//
//	go test -tags statistical -run '^$' -bench PerCost -benchtime 1x ./lab/trained
func BenchmarkPerCost(b *testing.B) {
	for _, table := range pricedTables {
		b.Run(table.name, func(b *testing.B) {
			for b.Loop() {
				folder := "../../examples/tables/" + table.name
				spec := "table:task=" + folder + "/task.yaml,file=" + folder + "/table.csv.gz"
				checkpoints := []float64{5, 10, 20}
				var regrets [2][3][]float64 // by strategy and checkpoint, one per repeat
				var differences [3][]float64
				var evaluations [2]float64
				for repeat := range uint64(perCostRepeats) {
					f := mustDraw(b, spec, perCostSeed+repeat, perCostMembers)
					var mean [2][3]float64
					for k, m := range f.Members {
						for way, settings := range []task.StrategySettings{nil, alone.LogEISettings{PerCost: true}} {
							found, count := spend(b, f, m, table.cost, settings, random.SeedOf(perCostSeed+repeat).Derive("member", uint64(k)), checkpoints)
							evaluations[way] += float64(count) / perCostRepeats / perCostMembers
							for i, regret := range found {
								mean[way][i] += regret / perCostMembers
							}
						}
					}
					for i := range checkpoints {
						for way := range mean {
							regrets[way][i] = append(regrets[way][i], mean[way][i])
						}
						differences[i] = append(differences[i], mean[1][i]-mean[0][i])
					}
				}
				b.Logf("%s, cost: %s; %.0f evaluations, with per_cost %.0f", table.name, table.of, evaluations[0], evaluations[1])
				for i, at := range checkpoints {
					plain, plainError := meanError(regrets[0][i])
					priced, pricedError := meanError(regrets[1][i])
					difference, differenceError := meanError(differences[i])
					b.Logf("  at %2.0f: logei %.5f ± %.5f, per_cost %.5f ± %.5f, difference %+.5f ± %.5f", at, plain, plainError, priced, pricedError, difference, differenceError)
				}
			}
		})
	}
}

// meanError returns the mean and its standard error.
func meanError(values []float64) (mean, standardError float64) {
	mean, deviation := stat.MeanStdDev(values, nil)
	return mean, deviation / math.Sqrt(float64(len(values)))
}

// spend evaluates until the budget of the last checkpoint is spent. It returns the regret of the best
// outcome when each checkpoint is reached, without the evaluation that exceeds it, and the number of
// evaluations. Checkpoints count mean costs over the designs of the member.
func spend(b *testing.B, f family.Federation, m family.Member, cost func(task.Design) float64, settings task.StrategySettings, seed random.Seed, checkpoints []float64) (regrets []float64, count int) {
	b.Helper()
	space := f.Space
	if m.Space != nil {
		space = m.Space
	}
	unit := 0.0
	for i := range space.Listing().Len() {
		unit += cost(space.Listing().Design(i)) / float64(space.Listing().Len())
	}
	of, err := all.Strategies().NewTask(task.Spec{
		Name: "priced", Goal: f.Goal, Parameters: space.Parameters(), Listing: space.Listing(),
		Strategy: task.Strategy{Type: "logei", Settings: settings},
	})
	if err != nil {
		b.Fatal(err)
	}
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	a, err := agent.New(agent.Config{Task: of, Strategies: all.Strategies(), Key: key, Seed: seed}, nil, now)
	if err != nil {
		b.Fatal(err)
	}
	best, spent := math.Inf(1), 0.0
	for count = 0; len(regrets) < len(checkpoints); count++ {
		trial := askAlone(b, a, now)
		c := cost(trial.Design)
		spent += c
		for len(regrets) < len(checkpoints) && spent > checkpoints[len(regrets)]*unit {
			regrets = append(regrets, best)
		}
		value := m.Objective.Value(trial.Design)
		best = min(best, max(f.Goal.Sign()*(m.Objective.Optimum-value), 0))
		if err := a.Tell(now, trial.ID, strategy.Outcome{Value: value, Cost: &c}); err != nil {
			b.Fatal(err)
		}
	}
	return regrets, count
}

// askAlone returns the next trial, and does all work before.
func askAlone(b *testing.B, a *agent.Agent, now time.Time) strategy.Trial {
	b.Helper()
	a.Ask(now, 1)
	for {
		ready := a.Ready()
		for _, answer := range ready.Answers {
			if answer.Err != nil {
				b.Fatal(answer.Err)
			}
			return answer.Trial
		}
		if len(ready.Work) == 0 {
			b.Fatal("the agent has no work and no answer")
		}
		for _, work := range ready.Work {
			a.Done(now, work.ID, work.Run(context.Background()))
		}
	}
}
