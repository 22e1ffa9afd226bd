package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ownStrategies is one with a roster, which searches at random.
func ownStrategies() strategy.Set {
	return strategy.Set{{
		StrategyType: task.StrategyType{Name: "together", Settings: func(s *task.Section) task.StrategySettings {
			s.Accept(rosterKey, mediatorKey)
			return nil
		}},
		New:      func(t *task.Task) (strategy.Strategy, error) { return baseline.NewRandom(t), nil },
		Describe: func(*task.Task) string { return "random search" },
		Roster:   true,
	}}
}

func TestPlansOfRostersAreChecked(t *testing.T) {
	for strategies, want := range map[string]string{
		"together:roster=a":                             "roster is the agents of the federation; expected to leave it out",
		"together:mediator=second":                      `mediator must be one of first, none, not "second"`,
		"together:peers=own-cluster":                    "all must hear the whole roster",
		"together:understate=0":                         `understate must be a number above 0, up to 1e+06, not "0"`,
		"together:understate=x":                         `not "x"`,
		"together:understate=NaN":                       `not "NaN"`,
		"ts:understate=1":                               "understate applies to strategies with a roster",
		"ts:mediator=first":                             `unknown key "mediator"`,
		"together,together:mediator=none":               "it is the same as together",
		"together:understate=2,together:understate=2.0": "it is the same as",
	} {
		p := Plan{Agents: 3, Evaluations: 6, Repeats: 1, Own: ownStrategies(), Family: familyOf(t, "gp:d=1"), Strategies: specsOf(t, strategies)}
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", strategies, err, want)
		}
	}
	for want, change := range map[string]func(p *Plan){
		"one agent has no other agent to work with":     func(p *Plan) { p.Agents = 1 },
		"where --scenario has no key degree":            func(p *Plan) { p.Network = sim.Network{Degree: 1} },
		"expected a scenario without the key min_evals": func(p *Plan) { p.MinEvaluations = 4 },
		"strategies without a roster":                   func(p *Plan) { p.Family = familyOf(t, "gp:d=1,others=forged") },
	} {
		p := Plan{Agents: 3, Evaluations: 6, Repeats: 1, Own: ownStrategies(), Family: familyOf(t, "gp:d=1"), Strategies: specsOf(t, "together")}
		change(&p)
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	tiny(t, func(p *Plan) {
		p.Own, p.Strategies = ownStrategies(), specsOf(t, "ts,together:mediator=none,together:understate=2,together:understate=3")
	})
	p := tiny(t, func(p *Plan) {
		p.Own, p.Strategies, p.Family = ownStrategies(), specsOf(t, "together"), familyOf(t, "gp:d=1,newcomer=true")
	})
	if _, err := p.play(t.Context(), 0, p.Strategies[0], drawn(t, p), 1, func() {}); err == nil || !strings.Contains(err.Error(), "agent 2 comes when the others have ended") {
		t.Errorf("with a newcomer: %v", err)
	}
}

// The section names those who play, and what identifies results does not.
func TestRosterIsInTheSectionOfTheStrategy(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Own, p.Strategies = ownStrategies(), specsOf(t, "together") })
	s := specsOf(t, "together:mediator=first")[0]
	names, err := p.roster(s, random.SeedOf(7))
	if err != nil || len(names) != 3 {
		t.Fatalf("%v, %v", names, err)
	}
	section := p.rostered(s, names)
	if got, ok := section["roster"].([]peer.ID); section["mediator"] != names[0] || !ok || !slices.Equal(got, names) {
		t.Errorf("%v", section)
	}
	if section := p.rostered(specsOf(t, "together:mediator=none")[0], names); section["mediator"] != nil || section["roster"] == nil {
		t.Errorf("%v", section)
	}
	if section := p.rostered(specsOf(t, "ts")[0], names); section["roster"] != nil {
		t.Errorf("%v", section)
	}
	if got := nameless(`{"type":"a","roster":["x","y"],"mediator":"x","rho":0.5}`); got != `{"mediator":"first","rho":0.5,"type":"a"}` {
		t.Error(got)
	}
	if got := nameless(`{"type":"a","roster":["x","y"]}`); got != `{"type":"a"}` {
		t.Error(got)
	}
	if _, err := p.taskOf("a", drawn(t, p).Federation, s, names); err != nil {
		t.Error(err)
	}
}

// Agent 0 tells what is worse in the direction of the goal, the others what they measure,
// and regrets are of the designs.
func TestUnderstatementChangesOnlyAgentZero(t *testing.T) {
	for _, c := range []struct {
		family string
		by     float64
	}{{"gp:d=1", -2}, {"branin", 2}} {
		p := tiny(t, func(p *Plan) {
			p.Family, p.Own, p.Strategies = familyOf(t, c.family), ownStrategies(), specsOf(t, "together,together:understate=2")
		})
		f := drawn(t, p)
		names, err := p.roster(p.Strategies[0], runSeed(f))
		if err != nil {
			t.Fatal(err)
		}
		own, err := p.taskOf("a", f.Federation, p.Strategies[0], names)
		if err != nil {
			t.Fatal(err)
		}
		design := f.Space.Decode(slices.Repeat([]float64{0.25}, f.Space.Dim()))
		for i := range f.Members {
			honest, _ := p.member(i, p.Strategies[0], own, f, func() {})
			other, _ := p.member(i, p.Strategies[1], own, f, func() {})
			want := 0.0
			if i == 0 {
				want = c.by
			}
			near(t, c.family, other.Objective(design, 1)-honest.Objective(design, 1), want)
		}
		records := playAll(t, p, f) // by a strategy that does not look at values
		for i := range f.Members {
			if one, other := records["together"].Members[i], records["together:understate=2"].Members[i]; !slices.Equal(one.Regret, other.Regret) {
				t.Errorf("%s: agent %d has regrets %v, and %v when 0 understates", c.family, i, one.Regret, other.Regret)
			}
		}
	}
}

// alarm warns at its start.
type alarm struct{}

func (alarm) Name() string                       { return "alarm" }
func (alarm) Decode(payload []byte) (any, error) { return payload, nil }

func (alarm) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	if _, ok := in.(strategy.Start); !ok {
		return nil
	}
	return []strategy.Output{strategy.Warn{Message: "somebody understates"}}
}

// Where somebody understates the others may say so; else a warning is an error.
func TestWarningsOfWhoUnderstatesAreCounted(t *testing.T) {
	own := ownStrategies()
	own[0].Disclosures = []strategy.Disclosure{{
		Rung:      strategy.RungDesign,
		Exchanges: func(strategy.Env) ([]strategy.Exchange, error) { return []strategy.Exchange{alarm{}}, nil },
		Reveals:   func(*task.Task) string { return "nothing" },
	}}
	p := tiny(t, func(p *Plan) { p.Own, p.Strategies = own, specsOf(t, "together,together:understate=2") })
	f := drawn(t, p)
	if _, err := p.play(t.Context(), 0, p.Strategies[0], f, 1, func() {}); err == nil || !strings.Contains(err.Error(), "somebody understates") {
		t.Errorf("nobody understates: %v", err)
	}
	if r, err := p.play(t.Context(), 0, p.Strategies[1], f, 1, func() {}); err != nil || r.Warnings != 3 {
		t.Errorf("%d warnings, %v", r.Warnings, err)
	}
}
