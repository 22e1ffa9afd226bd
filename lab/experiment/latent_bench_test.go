package experiment

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// latentWays are what members follow: the lone engine, the same with a latent function in
// common, and peers' means.
var latentWays = []struct {
	name      string
	surrogate task.Settings
	strategy  task.Strategy
}{
	{"own", nil, task.Strategy{Type: "alone"}},
	{"latent", task.Settings{"type": "shared-latent"}, task.Strategy{Type: "alone"}},
	{"peers", nil, task.Strategy{Type: "peer-prior", Settings: task.Settings{"share": "exact"}}},
}

// BenchmarkLatentRegret has the mean regret of six members, in deviations of the objective,
// after 5, 8 and 12 evaluations, the geometric mean over federations of the ratio to that of
// the lone engine and the standard error of the ratio's logarithm.
func BenchmarkLatentRegret(b *testing.B) {
	const federations, agents = 8, 6
	after, names := []int{5, 8, 12}, []string{"5", "8", "12"}
	for _, text := range []string{"gp:d=1", "gp:d=2", "gp:d=2,e=0.5", "gp:d=2,e=1", "branin"} {
		b.Run(text, func(b *testing.B) {
			kind, err := family.Kinds().Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				sums, ratios, squares := make([][3]float64, len(latentWays)), make([][3]float64, len(latentWays)), make([][3]float64, len(latentWays))
				for i := range federations {
					seed := random.SeedOf(uint64(i + 1))
					f, err := kind.Draw(seed, agents)
					if err != nil {
						b.Fatal(err)
					}
					var own [3]float64
					for w, way := range latentWays {
						t, err := all.Strategies().NewTask(task.Spec{Name: "latent", Goal: f.Goal, Parameters: f.Space.Parameters(),
							Surrogate: way.surrogate, Strategy: way.strategy})
						if err != nil {
							b.Fatal(err)
						}
						regrets := latentRegrets(b, f, t, after, seed)
						if w == 0 {
							own = regrets
						}
						for n, v := range regrets {
							ratio := math.Log(max(v, 0.01) / max(own[n], 0.01))
							sums[w][n] += v / federations
							ratios[w][n] += ratio / federations
							squares[w][n] += ratio * ratio / federations
						}
					}
				}
				for w, way := range latentWays {
					for n, name := range names {
						b.ReportMetric(sums[w][n], way.name+"-"+name)
						if w > 0 {
							b.ReportMetric(math.Exp(ratios[w][n]), way.name+"-ratio-"+name)
							b.ReportMetric(math.Sqrt((squares[w][n]-ratios[w][n]*ratios[w][n])/(federations-1)), way.name+"-error-"+name)
						}
					}
				}
			}
		})
	}
}

func latentRegrets(b *testing.B, f family.Federation, t *task.Task, after []int, seed random.Seed) (regrets [3]float64) {
	b.Helper()
	s := sim.Scenario{Task: t, Seed: seed, Network: sim.Network{Delay: 50 * time.Millisecond}, Workers: 1}
	for i, m := range f.Members {
		noise := seed.Derive("noise", uint64(i))
		s.Members = append(s.Members, sim.Member{Evaluations: after[len(after)-1], Duration: time.Minute, Start: time.Duration(i) * 5 * time.Second,
			Objective: func(d task.Design, trial uint64) float64 {
				return m.Objective.Value(d) + m.Objective.Noise*noise.Stream("trial", trial).NormFloat64()
			}})
	}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	for i, m := range result.Members {
		objective, best := f.Members[i].Objective, math.Inf(1)
		unit := objective.Deviation
		if unit == 0 {
			unit = spreadOf(f, objective, seed)
		}
		for k, trial := range m.Trials {
			best = min(best, f.Goal.Sign()*(objective.Optimum-objective.Value(trial.Design)))
			for n, count := range after {
				if k+1 == count {
					regrets[n] += max(best, 0) / unit / float64(len(result.Members))
				}
			}
		}
	}
	return regrets
}

func spreadOf(f family.Federation, o family.Objective, seed random.Seed) float64 {
	const designs = 300
	rng, sum, square := seed.Stream("deviation", 0), 0.0, 0.0
	for range designs {
		v := o.Value(f.Space.Decode(acquisition.Sample(f.Space, rng)))
		sum, square = sum+v/designs, square+v*v/designs
	}
	return math.Sqrt(square - sum*sum)
}
