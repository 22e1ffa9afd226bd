package experiment

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

// BenchmarkStopRegret prints what --stop-regret comes to, for values in deviations of the
// objective: how many of the runs end by it, after how many evaluations on average, what
// they lack then and would lack after all evaluations, and how many lack more than the
// value. It is for a table, not for a time: -benchtime 1x.
func BenchmarkStopRegret(b *testing.B) {
	const diamonds = "table:task=../examples/tables/diamonds/task.yaml,file=../examples/tables/diamonds/table.csv.gz"
	for _, c := range []struct {
		name, family      string
		evaluations, runs int
	}{
		{"gp", "gp:d=2", 50, 20}, {"branin", "branin", 50, 20}, {"diamonds", diamonds, 50, 20}, {"hartmann6", "hartmann6", 80, 10},
	} {
		for _, company := range []struct {
			name, strategy string
			agents         int
		}{{"alone", "alone", 5}, {"peer-prior", "peer-prior:share=exact", 10}} {
			b.Run(company.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					var runs []stopped
					for repeat := range c.runs / company.agents {
						runs = append(runs, playUntilSure(b, c.family, company.strategy, company.agents, c.evaluations, repeat)...)
					}
					for _, value := range []float64{2, 1, 0.5, 0.3} {
						reportStops(b, value, runs)
					}
				}
			})
		}
	}
}

// stopped is one agent's run: after each evaluation, what its best design lacks and the bound of
// that, in deviations of the objective.
type stopped struct {
	regret, bound []float64
	parameters    int
}

// at is after how many evaluations the run ends by the value, or else all.
func (s stopped) at(value float64) (evaluations int, ended bool) {
	inARow := 0
	for i, bound := range s.bound {
		if inARow++; bound > value {
			inARow = 0
		}
		if inARow >= agent.StopAfter && i+1 >= agent.StopPerParameter*s.parameters {
			return i + 1, true
		}
	}
	return len(s.bound), false
}

func playUntilSure(b *testing.B, text, by string, agents, evaluations, repeat int) []stopped {
	drawnFrom, err := append(family.Kinds(), trained.Kinds()...).Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	p, err := Plan{Family: drawnFrom, Agents: agents, Evaluations: evaluations, Repeats: repeat + 1, Seed: 5454, Strategies: specsOf(b, by)}.Complete()
	if err != nil {
		b.Fatal(err)
	}
	f, err := p.draw(repeat)
	if err != nil {
		b.Fatal(err)
	}
	t, err := p.taskOf("until sure", f.Federation, p.Strategies[0], nil)
	if err != nil {
		b.Fatal(err)
	}
	s := p.scenario(p.Strategies[0], t, f, 1)
	s.Recommend = nil
	for i := range f.Members {
		m, _ := p.member(i, p.Strategies[0], t, f, func() {})
		s.Members = append(s.Members, m)
	}
	runs := make([]stopped, len(f.Members))
	s.Watch = func(member int, view strategy.View) {
		view.Task = s.TaskOf(member)
		bound, err := alone.RegretBound(b.Context(), view, random.SeedOf(5454).Derive("regret", uint64(view.Observations)))
		if err != nil {
			b.Fatal(err)
		}
		regret, judge := math.Inf(1), judgeOf(f, t, member)
		for _, trial := range view.Trials {
			if trial.State == strategy.Done {
				lacks, _ := judge(trial.Design)
				regret = min(regret, max(lacks, 0))
			}
		}
		runs[member].parameters = t.Space.Len()
		runs[member].regret = append(runs[member].regret, regret/f.deviation)
		runs[member].bound = append(runs[member].bound, bound/f.deviation)
	}
	if _, err := sim.Run(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	return runs
}

func reportStops(b *testing.B, value float64, runs []stopped) {
	ended, above, evaluations, then, later := 0, 0, 0.0, 0.0, 0.0
	for _, run := range runs {
		at, by := run.at(value)
		if by {
			ended++
			if run.regret[at-1] > value {
				above++
			}
		}
		evaluations += float64(at) / float64(len(runs))
		then += run.regret[at-1] / float64(len(runs))
		later += run.regret[len(run.regret)-1] / float64(len(runs))
	}
	b.Logf("%g: %d of %d end, after %.1f; regret %.3g, after all evaluations %.3g; %d lack more", value, ended, len(runs), evaluations, then, later, above)
}
