package sim_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// ball is a problem of which a twentieth of the designs is feasible: those in a ball that
// lies anywhere in the unit cube. The objective is least at its border.
type ball struct {
	spec   *task.Task
	centre []float64
	radius float64
}

func newBall(t testing.TB, dim int, radius float64, truth bool, repeat uint64, chosen task.Strategy) ball {
	t.Helper()
	b := ball{radius: radius}
	rng := random.SeedOf(repeat).Stream("ball", uint64(dim))
	var parameters []task.Parameter
	for i := range dim {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, High: 1})
		b.centre = append(b.centre, radius+rng.Float64()*(1-2*radius))
	}
	constraint := task.Constraint{Output: "radius", Low: math.Inf(-1), High: radius}
	if truth {
		constraint = task.TruthOf("radius")
	}
	var err error
	b.spec, err = all.Strategies().NewTask(task.Spec{
		Name: "ball", Goal: task.Minimize, Parameters: parameters,
		Constraints: []task.Constraint{constraint}, Strategy: chosen,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b ball) distance(d task.Design) float64 {
	square := 0.0
	for i, c := range b.centre {
		square += math.Pow(d.Float(fmt.Sprintf("x%d", i))-c, 2)
	}
	return math.Sqrt(square)
}

func (b ball) member(evaluations int) sim.Member {
	return sim.Member{
		Evaluations: evaluations, Duration: evaluation,
		Objective: func(d task.Design, _ uint64) float64 {
			sum := 0.0
			for i, c := range b.centre {
				sum += d.Float(fmt.Sprintf("x%d", i)) - c
			}
			return sum / math.Sqrt(float64(len(b.centre)))
		},
		Constraints: func(d task.Design, _ uint64) map[string]task.Reading {
			if b.spec.Constraints[0].Truth {
				return map[string]task.Reading{"radius": task.Truth(b.distance(d) <= b.radius)}
			}
			return map[string]task.Reading{"radius": task.Number(b.distance(d))}
		},
	}
}

// firstFeasible is the number of the first feasible trial, or one more than there are.
func firstFeasible(spec *task.Task, trials []strategy.Trial) int {
	for i, trial := range trials {
		if spec.Feasible(trial.Outcome) {
			return i + 1
		}
	}
	return len(trials) + 1
}

// A newcomer among peers that share which of their designs were feasible, and the same one
// cut off from them, which searches at random: in eight federations, in which the peers
// have 36 evaluations for a twentieth of the space, it finds the first feasible design in
// at most two thirds of the evaluations, counting one more than it has where it finds none.
// One that does not listen has the same designs in both cases, and one that listens to no
// avail would be so much quicker in one of 16 seeds.
func TestLabelsShowNewcomersTheWay(t *testing.T) {
	const evaluations = 16
	total := map[bool]int{}
	for repeat := range uint64(8) {
		for _, cut := range []bool{false, true} {
			p := newBall(t, 2, 0.126, true, repeat, task.Strategy{Type: "density", Settings: task.Settings{"share": "feasibility"}})
			s := sim.Scenario{Task: p.spec, Seed: random.SeedOf(repeat), Network: sim.Network{Delay: 50 * time.Millisecond}}
			for range 3 {
				s.Members = append(s.Members, p.member(12))
			}
			newcomer := p.member(evaluations)
			newcomer.Start = 13 * evaluation
			if cut {
				newcomer.Offline = []sim.Span{{Until: time.Hour}}
			}
			s.Members = append(s.Members, newcomer)
			m := run(t, s).Members[3]
			total[cut] += firstFeasible(p.spec, m.Trials)
			if cut && m.PeerInformedTrials > 0 {
				t.Errorf("federation %d: a member that hears nobody has listened", repeat)
			}
		}
	}
	t.Logf("evaluations to the first feasible design: %d among peers, %d cut off", total[false], total[true])
	if 3*total[false] > 2*total[true] {
		t.Errorf("%d evaluations among peers, %d cut off", total[false], total[true])
	}
}

// After how many evaluations four members find the first feasible design (found/op, the
// mean over members; never/op, the part of them that finds none, counted as one more than
// there are), and how far the best is from the optimum at last (regret/op, in radii, 1
// without a feasible design). Behind them standard errors over the federations. Members
// have the same problem or, where they are unlike, balls of their own.
func BenchmarkFirstFeasible(b *testing.B) {
	const members, evaluations, repeats = 4, 24, 16
	measure := func(b *testing.B, dim int, radius float64, truth, alike bool, chosen task.Strategy) {
		var found, regret []float64
		never := 0.0
		for repeat := uint64(100); repeat < 100+repeats; repeat++ { // no seed on which anything was chosen
			s := sim.Scenario{Seed: random.SeedOf(repeat), Network: sim.Network{Delay: 50 * time.Millisecond}}
			balls := make([]ball, members)
			for i := range balls {
				which := repeat
				if !alike {
					which += uint64(1000 * i)
				}
				balls[i] = newBall(b, dim, radius, truth, which, chosen)
				s.Task, s.Members = balls[i].spec, append(s.Members, balls[i].member(evaluations))
			}
			result, err := sim.Run(context.Background(), s)
			if err != nil {
				b.Fatal(err)
			}
			meanFound, meanRegret := 0.0, 0.0
			for i, m := range result.Members {
				meanFound += float64(firstFeasible(s.Task, m.Trials)) / members
				if best := strategy.Best(s.Task, m.Trials); best != nil {
					meanRegret += (best.Outcome.Value + balls[i].radius) / balls[i].radius / members
				} else {
					meanRegret += 1.0 / members
					never += 1.0 / members / repeats
				}
			}
			found, regret = append(found, meanFound), append(regret, meanRegret)
		}
		for unit, values := range map[string][]float64{"found": found, "regret": regret} {
			mean, se := meanAndError(values)
			b.ReportMetric(mean, unit+"/op")
			b.ReportMetric(se, unit+"-se/op")
		}
		b.ReportMetric(never, "never/op")
	}
	for _, c := range []struct {
		dim    int
		radius float64
	}{{2, 0.126}, {4, 0.317}} {
		for _, truth := range []bool{true, false} {
			for name, chosen := range map[string]task.Strategy{
				"alone": {Type: "logei"}, "best": {Type: "density"}, "feasibility": {Type: "density", Settings: task.Settings{"share": "feasibility"}},
			} {
				for _, alike := range []bool{true, false} {
					b.Run(fmt.Sprintf("d=%d/truth=%t/alike=%t/%s", c.dim, truth, alike, name), func(b *testing.B) {
						for b.Loop() {
							measure(b, c.dim, c.radius, truth, alike, chosen)
						}
					})
				}
			}
		}
	}
}

func meanAndError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		standardError += (v - mean) * (v - mean) / (n - 1) / n
	}
	return mean, math.Sqrt(standardError)
}
