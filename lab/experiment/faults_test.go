package experiment

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
)

// faulty has unlike agents that come and go, a slow one, a cut, and every third delivery
// failing.
func faulty(p *Plan) {
	p.Agents = 4
	p.Schedule = Schedule{JoinWithin: 40 * time.Second, MaxSlowdown: 2, Straggler: 3, MinEvaluations: 3, Churn: 0.4}
	p.Network = sim.Network{Delay: 50 * time.Millisecond, Jitter: time.Second, Loss: 0.3, Partitions: cut(15, 45)}
}

// Whatever goes wrong with the others, everybody evaluates what was asked for.
func TestEveryAgentFinishesAmongFaults(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		faulty(p)
		p.Strategies = specsOf(t, "ts,logei,ucb,mes,fts,peer-prior,pooled,random,density,constrained-gp,constrained-gp:threshold=open,"+
			"consensus,consensus:weights=leader,consensus:weights=metropolis,consensus:weights=similarity,consensus:mode=asynchronous")
	})
	f := drawn(t, p)
	for name, r := range playAll(t, p, f) {
		if len(r.Members) != p.Agents || !r.complete(p) {
			t.Errorf("%s: %+v", name, r.Members)
		}
		for i, m := range r.Members {
			if want := p.budget(i, f.Members[i], f.seed); len(m.Regret) != want {
				t.Errorf("%s: agent %d has evaluated %d times, not %d", name, i, len(m.Regret), want)
			}
			for k, regret := range m.Recommended {
				if p.Checkpoints[k] > p.Initial && math.IsNaN(float64(regret)) && name != "random" {
					t.Errorf("%s: agent %d recommends nothing after %d evaluations", name, i, p.Checkpoints[k])
				}
			}
		}
	}
}

// With the same designs, an agent that hears nobody does not notice that anything
// is wrong; one that hears others does.
func TestFaultsConcernWhoeverListens(t *testing.T) {
	strategies := func(p *Plan) { p.Agents, p.Strategies = 4, specsOf(t, "ts,fts:schedule=constant,own_probability=0") }
	whole := tiny(t, strategies)
	f := drawn(t, whole)
	want := playAll(t, whole, f)
	for name, change := range map[string]func(p *Plan){
		"slow": func(p *Plan) { p.Straggler = 3 },
		"cut":  func(p *Plan) { p.Network.Partitions = cut(0, 1000) },
		"late": func(p *Plan) { p.JoinWithin = 40 * time.Second },
		"pace": func(p *Plan) { p.MaxSlowdown = 5 },
		"away": func(p *Plan) { p.Churn = 0.9 },
	} {
		got := playAll(t, tiny(t, func(p *Plan) { strategies(p); change(p) }), f)
		if !reflect.DeepEqual(got["ts"], want["ts"]) {
			t.Errorf("%s: ts became %+v", name, got["ts"])
		}
		const fts = "fts:schedule=constant,own_probability=0"
		if reflect.DeepEqual(got[fts].Members, want[fts].Members) {
			t.Errorf("%s: fts stays as it was", name)
		}
	}
}

func TestTheLastAgentIsTheSlowOne(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Straggler, p.Family = 2.5, familyOf(t, "gp:d=1,newcomer=true") })
	f := drawn(t, p)
	own, err := p.template(p.Strategies[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{10 * time.Second, 10 * time.Second, 25 * time.Second} {
		if m, _ := p.member(i, p.Strategies[0], own, f, func() {}); m.Duration != want {
			t.Errorf("an evaluation of agent %d lasts %v, want %v", i, m.Duration, want)
		}
	}
	if !f.Members[2].Late {
		t.Error("the newcomer is not the last one: it would come before the slow one has ended")
	}
}

func TestAgentsDifferAsTheScheduleSays(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Agents, p.Evaluations = 300, 40
		p.Schedule = Schedule{JoinWithin: 5 * time.Minute, MaxSlowdown: 8, MinEvaluations: 10, Churn: 0.25}
	})
	seed := random.SeedOf(3)
	var starts, logs, budgets, away []float64
	for i := range p.Agents {
		starts = append(starts, p.start(i, family.Member{}, seed).Minutes())
		logs = append(logs, math.Log2(float64(p.duration(i, seed))/float64(EvaluationTime)))
		budgets = append(budgets, float64(p.budget(i, family.Member{}, seed)))
		last, gone := time.Duration(0), 0.0
		const until = time.Hour
		for _, span := range p.offline(i, seed) {
			if span.From < last || span.Until < span.From {
				t.Fatalf("agent %d is away from %v, which is before %v", i, span.From, last)
			}
			gone += max(0, min(span.Until, until)-min(span.From, until)).Minutes()
			last = span.Until
		}
		if last < until {
			t.Errorf("agent %d is never away after %v", i, last)
		}
		away = append(away, gone/60)
	}
	// Means lie within four standard errors of what they should be.
	for _, c := range []struct {
		name               string
		of                 []float64
		least, most, means float64
	}{
		{"start", starts, 0, 5, 2.5},
		{"log of the pace", logs, 0, 3, 1.5},
		{"budget", budgets, 10, 40, 25},
		{"part of the time away", away, 0, 1, 0.25},
	} {
		if low, high := slices.Min(c.of), slices.Max(c.of); low < c.least || high > c.most {
			t.Errorf("%s: %g to %g, want %g to %g", c.name, low, high, c.least, c.most)
		}
		if m, se := mean(c.of), standardError(c.of); math.Abs(m-c.means) > 4*se {
			t.Errorf("%s: mean %g ± %g, want %g", c.name, m, se, c.means)
		}
	}
}

// A newcomer comes when the slowest of the others could have ended, with the whole budget.
func TestNewcomersComeLastWhateverTheSchedule(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family = familyOf(t, "gp:d=1,newcomer=true")
		p.Agents, p.Schedule = 20, Schedule{JoinWithin: time.Minute, MaxSlowdown: 4, Straggler: 2, MinEvaluations: 3}
	})
	f := drawn(t, p)
	latest := time.Duration(0)
	for i, m := range f.Members[:p.Agents-1] {
		latest = max(latest, p.start(i, m, f.seed)+time.Duration(p.budget(i, m, f.seed))*p.duration(i, f.seed))
	}
	newcomer := f.Members[p.Agents-1]
	if start := p.start(p.Agents-1, newcomer, f.seed); start <= latest {
		t.Errorf("it joins at %v, when others end at %v", start, latest)
	}
	if budget := p.budget(p.Agents-1, newcomer, f.seed); budget != p.Evaluations {
		t.Errorf("it has %d evaluations, want %d", budget, p.Evaluations)
	}
}

// Who has ended keeps the regret that he had, and counts.
func TestCurvesGoOnAfterTheEndOfABudget(t *testing.T) {
	s := sample{initial: 1, length: 4}
	s.add(Plan{}, Record{Members: []MemberRecord{{Regret: []Number{2, 1}, Recommended: []Number{1}}, {Regret: []Number{4, 4, 3, 1}, Recommended: []Number{1}}}})
	for name, c := range map[string]struct{ got, want []float64 }{
		"simple":     {s.simple[0], []float64{3, 2.5, 2, 1}},
		"cumulative": {s.cumulative[0], []float64{3, 5.5, 7, 7.5}},
		"gap":        {s.gap[0], []float64{0, 0.25, 0.375, 0.625}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestReportTellsOfFaults(t *testing.T) {
	p := tiny(t, faulty)
	r := p.report([]sample{{records: []Record{{Members: []MemberRecord{{}}}}, floors: []float64{1}}})
	var b bytes.Buffer
	r.writeCaption(&b)
	for _, want := range []string{"4 agents, 3 to 6 evaluations each", "agents count, after their budget with their last value;", "loss 30 %, all join within 40s, agents up to 2 times as slow as others, the last agent 3 times as slow, each away 40 % of the time, cut in halves from 15s to 45s."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the caption does not say %q:\n%s", want, b.String())
		}
	}
	text, err := json.Marshal(r.Network)
	want := `{"delay_seconds":0.05,"jitter_seconds":1,"loss":0.3,"degree":0,"join_within_seconds":40,"max_slowdown":2,"straggler":3,"min_evaluations":3,"churn":0.4,"partitions":[{"from_seconds":15,"until_seconds":45,"parts":2}]}`
	if err != nil || string(text) != want {
		t.Errorf("%v, JSON %s, want %s", err, text, want)
	}
}
