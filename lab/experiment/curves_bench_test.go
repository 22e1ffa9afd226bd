//go:build statistical

package experiment

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

var (
	curvesSeed    = flag.Uint64("curves-seed", 5151, "seed of BenchmarkCurves")
	curvesRepeats = flag.Int("curves-repeats", 5, "repeats of BenchmarkCurves")
)

const (
	fullTrials    = 30  // of the control, which stops no evaluation
	stoppedTrials = 150 // most trials of an arm that stops evaluations
)

// BenchmarkCurves has the training steps that nodes alone need until their mean regret is that of
// thirty full trainings, as a fraction of the steps of these trainings. Regrets are of outcomes only,
// in deviations of the objective over the designs, means over all members of a table and repeats.
func BenchmarkCurves(b *testing.B) {
	for _, name := range []string{"doctor-curves", "weather-curves"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				benchmarkCurves(b, name)
			}
		})
	}
}

// arm is a way to use step values.
type curvesArm struct {
	name   string
	keys   string // of the strategy
	stop   *task.Stopping
	trials int
}

func benchmarkCurves(b *testing.B, name string) {
	folder := "../../examples/tables/" + name
	kind, err := trained.Kinds().Parse("table:task=" + folder + "/task.yaml,file=" + folder + "/table.csv.gz,curve=step_")
	if err != nil {
		b.Fatal(err)
	}
	asha := &task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3}
	arms := []curvesArm{
		{"full", "logei", nil, fullTrials},
		{"asha", "logei", asha, stoppedTrials},
		{"median", "logei", &task.Stopping{Type: task.MedianRule, GracePeriod: 1, StartupTrials: 5}, stoppedTrials},
		{"random-asha", "random", asha, stoppedTrials},
	}
	var regrets [][]float64 // by arm and step
	steps := 0
	for _, arm := range arms {
		var sums []float64
		n := 0
		for repeat := range *curvesRepeats {
			seed := random.SeedOf(*curvesSeed).Derive("repeat", uint64(repeat))
			f, err := kind.Draw(seed, 8)
			if err != nil {
				b.Fatal(err)
			}
			for i, m := range f.Members {
				curve := m.Objective.Curve(cmpSpace(f, m).Listing().Design(0))
				steps = fullTrials * len(curve)
				one := playCurve(b, f, i, arm, seed.Derive("run", uint64(i)), steps)
				if sums == nil {
					sums = make([]float64, len(one))
				}
				for k, r := range one {
					sums[k] += r
				}
				n++
			}
		}
		for k := range sums {
			sums[k] /= float64(n)
		}
		regrets = append(regrets, sums)
	}
	level := regrets[0][steps-1]
	b.ReportMetric(level, "level")
	for i, arm := range arms {
		at := slices.IndexFunc(regrets[i], func(r float64) bool { return r <= level*(1+1e-12) })
		fraction := math.Inf(1)
		if at >= 0 {
			fraction = float64(at+1) / float64(steps)
		}
		b.ReportMetric(fraction, arm.name+"-steps")
		b.ReportMetric(regrets[i][steps/3], arm.name+"-third")
		b.ReportMetric(regrets[i][steps-1], arm.name+"-end")
	}
}

func cmpSpace(f family.Federation, m family.Member) *task.Space {
	if m.Space != nil {
		return m.Space
	}
	return f.Space
}

// playCurve simulates a member alone and returns its regret after each step.
func playCurve(b *testing.B, f family.Federation, member int, arm curvesArm, seed random.Seed, steps int) []float64 {
	b.Helper()
	m := f.Members[member]
	t, err := all.Strategies().NewTask(task.Spec{Name: "curves", Goal: f.Goal, Parameters: f.Space.Parameters(),
		Listing: f.Space.Listing(), Strategy: task.Strategy{Type: strings.Replace(arm.keys, "random", "ts", 1)}, About: task.About{Stop: arm.stop}})
	if err != nil {
		b.Fatal(err)
	}
	trials := arm.trials
	if arm.keys == "random" { // only starting designs
		spec := task.Spec{Name: "curves", Goal: f.Goal, Parameters: f.Space.Parameters(), Listing: f.Space.Listing(),
			Strategy: task.Strategy{Type: "ts", InitialDesigns: min(trials, 100)}, About: task.About{Stop: arm.stop}}
		if t, err = all.Strategies().NewTask(spec); err != nil {
			b.Fatal(err)
		}
		trials = min(trials, 100)
	}
	result, err := sim.Run(context.Background(), sim.Scenario{
		Task: t, Strategies: all.Strategies(), Seed: seed, Warned: func(int, string) {},
		Members: []sim.Member{{
			Evaluations: trials, Duration: time.Minute, Space: m.Space,
			Objective: func(d task.Design, _ uint64) float64 { return m.Objective.Value(d) },
			Curve:     m.Objective.Curve,
		}},
	})
	if err != nil {
		b.Fatal(err)
	}
	deviation := deviation(cmpSpace(f, m), m.Objective, seed.Derive("deviation", 0))
	regrets := make([]float64, steps)
	used, best := 0, math.NaN()
	for _, trial := range result.Members[0].Trials {
		begin := used
		used += len(trial.Steps)
		for k := begin; k < min(used, steps); k++ {
			regrets[k] = best
		}
		if trial.State == strategy.Done {
			regret := math.Abs(trial.Outcome.Value-m.Objective.Optimum) / deviation
			if !(best <= regret) {
				best = regret
			}
			if used-1 < steps {
				regrets[used-1] = best
			}
		}
	}
	for k := used; k < steps; k++ {
		regrets[k] = best
	}
	worst := 0.0 // before the first outcome the regret is the first one
	for _, r := range regrets {
		if !math.IsNaN(r) {
			worst = r
			break
		}
	}
	for k := range regrets {
		if math.IsNaN(regrets[k]) {
			regrets[k] = worst
		}
	}
	if used < steps {
		b.Log(fmt.Sprintf("%s: %d steps of %d", arm.name, used, steps))
	}
	return regrets
}
