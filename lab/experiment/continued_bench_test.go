//go:build statistical

package experiment

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/continuation"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

var continuedSeed = flag.Uint64("continued-seed", 4141, "seed of the federations of BenchmarkContinued")

const (
	continuedRepeats = 30
	formerNodes      = 10
	formerEvals      = 10
	continuedEvals   = 10
)

// BenchmarkContinued has the mean regret of nodes, in deviations of the objective, ten evaluations
// after ten nodes with ten evaluations each have widened one bound of their task by 40 %. Metrics
// are of a fresh start, of a start with own trials, with peers' former shares, and with both, and
// the geometric means over repeats of the ratios to the fresh start with the standard error of
// their logarithm. With changed=5 half of the nodes stay on the former task, and the regret is that
// of the others. The regret of new evaluations does not count the trials that are carried over.
func BenchmarkContinued(b *testing.B) {
	for _, changed := range []int{10, 5, 1} {
		for _, text := range []string{"branin", "hartmann6", "gp:d=2"} {
			b.Run(fmt.Sprintf("changed=%d/%s", changed, text), func(b *testing.B) {
				for b.Loop() {
					benchmarkContinued(b, text, changed)
				}
			})
		}
	}
}

// carried is what nodes take over.
type carried struct {
	name          string
	trials, peers bool
}

func benchmarkContinued(b *testing.B, text string, changed int) {
	arms := []carried{{"fresh", false, false}, {"trials", true, false}, {"peers", false, true}, {"both", true, true}}
	means := make([][2]float64, len(arms))
	sums, squares := make([][2]float64, len(arms)), make([][2]float64, len(arms))
	for repeat := range continuedRepeats {
		seed := random.SeedOf(*continuedSeed).Derive("repeat", uint64(repeat))
		kind, err := family.Kinds().Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		f, err := kind.Draw(seed, formerNodes)
		if err != nil {
			b.Fatal(err)
		}
		former := continuedTask(b, f, narrowed(f.Space, repeat), nil)
		trials, shares := playFormer(b, f, former, seed.Derive("former", 0))
		current := continuedTask(b, f, f.Space, former)
		c, err := task.Continue(former, current)
		if err != nil {
			b.Fatal(err)
		}
		var fresh [2]float64
		for i, arm := range arms {
			all, others := playContinued(b, f, c, current, arm, trials, shares, changed, seed.Derive("current", 0))
			for k, regret := range []float64{all, others} {
				means[i][k] += regret / continuedRepeats
				if i == 0 {
					fresh[k] = regret
				}
				ratio := math.Log(max(regret, 0.01) / max(fresh[k], 0.01))
				sums[i][k] += ratio / continuedRepeats
				squares[i][k] += ratio * ratio / continuedRepeats
			}
		}
	}
	for i, arm := range arms {
		b.ReportMetric(means[i][0], arm.name)
		if i == 0 {
			continue
		}
		b.ReportMetric(math.Exp(sums[i][0]), arm.name+"-ratio")
		b.ReportMetric(math.Sqrt((squares[i][0]-sums[i][0]*sums[i][0])/(continuedRepeats-1)), arm.name+"-error")
		b.ReportMetric(math.Exp(sums[i][1]), arm.name+"-new-ratio")
	}
}

// narrowed returns the parameters of a space with the lower or upper 2/7 of the range of the first
// number cut off.
func narrowed(space *task.Space, repeat int) *task.Space {
	parameters := space.Parameters()
	for i, p := range parameters {
		if p.Kind != task.Float {
			continue
		}
		if cut := (p.High - p.Low) * 2 / 7; repeat%2 == 0 {
			parameters[i].High = p.High - cut
		} else {
			parameters[i].Low = p.Low + cut
		}
		break
	}
	narrow, err := task.NewSpace(parameters)
	if err != nil {
		panic(err)
	}
	return narrow
}

func continuedTask(b *testing.B, f family.Federation, space *task.Space, former *task.Task) *task.Task {
	b.Helper()
	spec := task.Spec{Name: "continued", Goal: f.Goal, Parameters: space.Parameters()}
	if former != nil {
		spec.Continues = former.ID()
	}
	t, err := all.Strategies().NewTask(spec)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// objectiveOf returns the objective of a member on another space with the same parameters.
func objectiveOf(f family.Federation, m family.Member, seed random.Seed) func(task.Design, uint64) float64 {
	return func(d task.Design, trial uint64) float64 {
		return trueValue(f, m, d) + m.Objective.Noise*seed.Stream("noise", trial).NormFloat64()
	}
}

func trueValue(f family.Federation, m family.Member, d task.Design) float64 {
	whole, err := f.Space.NewDesign(d.Values()...)
	if err != nil {
		panic(err)
	}
	return m.Objective.Value(whole)
}

// playFormer returns the trials of each node on the former task, and the shares of its peers.
func playFormer(b *testing.B, f family.Federation, former *task.Task, seed random.Seed) (trials [][]strategy.Trial, shares [][]agent.FormerShare) {
	b.Helper()
	shares = make([][]agent.FormerShare, len(f.Members))
	s := sim.Scenario{Task: former, Seed: seed, Network: sim.Network{Delay: 50 * time.Millisecond}}
	for i, m := range f.Members {
		s.Members = append(s.Members, sim.Member{Evaluations: formerEvals, Duration: time.Minute, Start: time.Duration(i) * time.Second,
			Objective: objectiveOf(f, m, seed.Derive("member", uint64(i)))})
	}
	s.Watch = func(member int, view strategy.View) {
		shares[member] = nil
		for _, share := range view.Shares {
			if share.TTL > time.Hour { // no presence
				shares[member] = append(shares[member], agent.FormerShare{Share: *share, Expires: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)})
			}
		}
	}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range result.Members {
		trials = append(trials, m.Trials)
	}
	return trials, shares
}

// playContinued returns the mean regret of the first changed nodes on the current task: of all
// trials, and of those that are not carried over.
func playContinued(b *testing.B, f family.Federation, c *task.Continuation, current *task.Task, arm carried, trials [][]strategy.Trial, shares [][]agent.FormerShare, changed int, seed random.Seed) (whole, fresh float64) {
	b.Helper()
	s := sim.Scenario{Task: current, Seed: seed, Network: sim.Network{Delay: 50 * time.Millisecond}}
	for i, m := range f.Members[:changed] {
		member := sim.Member{Evaluations: continuedEvals, Duration: time.Minute, Start: time.Duration(i) * time.Second,
			Objective: objectiveOf(f, m, seed.Derive("member", uint64(i)))}
		if arm.trials {
			member.Past, _ = continuation.Trials(c, current, trials[i])
		}
		if arm.peers {
			member.Former, _ = continuation.Shares(c, current, shares[i])
		}
		s.Members = append(s.Members, member)
	}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	for i, m := range result.Members {
		objective := f.Members[i].Objective
		unit := deviation(f.Space, objective, seed.Derive("deviation", uint64(i)))
		best, bestNew := math.Inf(1), math.Inf(1)
		for _, trial := range m.Trials {
			regret := max(0, f.Goal.Sign()*(objective.Optimum-trueValue(f, f.Members[i], trial.Design))) / unit
			best = min(best, regret)
			if trial.Why.Source != strategy.Imported {
				bestNew = min(bestNew, regret)
			}
		}
		whole, fresh = whole+best/float64(changed), fresh+bestNew/float64(changed)
	}
	return whole, fresh
}
