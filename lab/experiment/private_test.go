package experiment

import (
	"context"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func privatePlan(t *testing.T, strategies string, agents int) Plan {
	t.Helper()
	drawn, err := family.Kinds().Parse("gp:d=1")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := ParseSpecs(strategies)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Family: drawn, Agents: agents, Evaluations: 8, Repeats: 1, Seed: 1, Strategies: specs,
		Surrogate: Spec{Name: "exact"}.With("features", "16")}
}

func TestSettingsOfPromises(t *testing.T) {
	for strategies, want := range map[string]string{
		"fts-de":                       `missing key "epsilon"`,
		"fts-de:epsilon=4,committee=9": "committee 9 must be at most the 5 nodes of the roster",
		"fts:epsilon=4":                "epsilon applies only with mechanism",
		"fts:signal=none":              "without noise nothing is left",
		"fts-de:epsilon=4,signal=some": `signal must be one of own, none, not "some"`,
		"dp-fts-de:cells=3":            "cells must be a power of 2 from 1 to 16, not 3",
		"dp-fts-de:cells=2.5":          "cells must be a whole number, not 2.5",
		"dp-fts-de:rate=0":             "rate must be more than 0",
		"dp-fts-de:noise=-1":           "noise must be from 0",
		"dp-fts-de:clip=x":             `clip must be a number, not "x"`,
		"dp-fts-de:epsilon=4":          `unknown key "epsilon"; accepted: cells, clip, rate, noise`,
		"fts-de:epsilon=4,fts-de:epsilon=4,mechanism=aggregate": "it is the same as",
		"dp-fts-de,dp-fts-de:cells=4":                           "it is the same as",
	} {
		if _, err := privatePlan(t, strategies, 5).Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", strategies, err, want)
		}
	}
	if _, err := privatePlan(t, "fts-de:epsilon=4", 1).Complete(); err == nil || !strings.Contains(err.Error(), "no other agent to add up with") {
		t.Errorf("one agent: %v", err)
	}
	p := privatePlan(t, "fts-de:epsilon=4", 5)
	p.Network = sim.Network{Degree: 2}
	if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), "where --scenario has no key degree") {
		t.Errorf("who does not hear the roster: %v", err)
	}
	if _, err := privatePlan(t, "ts,fts-de:epsilon=4,fts-de:epsilon=4,signal=none,fts-de:epsilon=2,fts:mechanism=local,epsilon=4,dp-fts-de,dp-fts-de:noise=0", 5).Complete(); err != nil {
		t.Error(err)
	}
}

// noisy registers strategies of random search that have settings named epsilon and
// releases: one that takes no section privacy, and one that takes it.
func noisy() strategy.Set {
	settings := func(s *task.Section) task.StrategySettings {
		return noise{s.Within("epsilon", 1, 0, 1), s.Within("releases", 1, 0, 1)}
	}
	noisy := strategy.Registration{
		StrategyType: task.StrategyType{Name: "noisy", Settings: settings},
		New:          func(t *task.Task) (strategy.Strategy, error) { return baseline.NewRandom(t), nil },
		Describe:     func(*task.Task) string { return "random search" },
	}
	promised := noisy
	promised.Name, promised.Mechanism = "promised", task.MechanismLocal
	return strategy.Set{noisy, promised}
}

type noise struct{ epsilon, releases float64 }

func (n noise) Keys() map[string]any {
	return map[string]any{"epsilon": n.epsilon, "releases": n.releases}
}

func (n noise) Release(*task.Task) task.Release { return task.Release{Numbers: 1, Norm: 1} }

// A strategy has its own settings, whatever keys the section privacy has too.
func TestOwnSettingsWithNamesOfThePrivacySection(t *testing.T) {
	for _, c := range []struct {
		spec string
		own  noise
	}{
		{"noisy:epsilon=0.25", noise{0.25, 1}},
		{"noisy:epsilon=0.25,releases=0.5", noise{0.25, 0.5}},
		{"promised:releases=0.5", noise{1, 0.5}},
	} {
		p := privatePlan(t, c.spec, 2)
		p.Own = noisy()
		p, err := p.Complete()
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		made, err := p.template(p.Strategies[0])
		if err != nil {
			t.Fatal(err)
		}
		if made.Strategy.Settings != c.own || made.Privacy != nil {
			t.Errorf("%s: %+v and %+v", c.spec, made.Strategy.Settings, made.Privacy)
		}
	}
	p := privatePlan(t, "promised:mechanism=local,epsilon=0.5", 2)
	p.Own = noisy()
	if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), `missing key "epsilon"`) { // which the strategy has taken
		t.Errorf("error %v", err)
	}
	if _, err := privatePlan(t, "ts:epsilon=4", 2).Complete(); err == nil || !strings.Contains(err.Error(), `strategy: unknown key "epsilon"`) {
		t.Errorf("error %v", err)
	}
}

// Sums come about in a simulation, are listened to, and take the bytes of the
// messages; without signal they are as many.
func TestSumsAreSimulated(t *testing.T) {
	p, err := privatePlan(t, "ts,fts-de:epsilon=100,weights=schedule,schedule=constant,own_probability=0,fts-de:epsilon=100,signal=none,weights=schedule,schedule=constant,own_probability=0", 5).Complete()
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	for _, s := range p.Strategies {
		r, err := p.play(context.Background(), 0, s, f, 1, func() {})
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	alone, summed, silent := records[0], records[1], records[2]
	for i := range summed.Members {
		if summed.Members[i].PeerInformedTrials < 3 || alone.Members[i].PeerInformedTrials > 0 {
			t.Errorf("member %d followed %d sums, and %d alone", i, summed.Members[i].PeerInformedTrials, alone.Members[i].PeerInformedTrials)
		}
	}
	if least := float64(8 * 16 * 5); summed.Bytes < least || alone.Bytes > 0 {
		t.Errorf("%g bytes for sums, at least %g have to be; %g alone", summed.Bytes, least, alone.Bytes)
	}
	if silent.Bytes != summed.Bytes {
		t.Errorf("%g bytes without a signal, %g with one", silent.Bytes, summed.Bytes)
	}
	same := true
	for i := range summed.Members {
		for j, v := range summed.Members[i].Regret {
			same = same && v == silent.Members[i].Regret[j]
		}
	}
	if same {
		t.Error("the signal changes nothing")
	}
}

// The roster is that of the scenario that is played.
func TestRosterOfASimulation(t *testing.T) {
	p, err := privatePlan(t, "fts-de:epsilon=4", 4).Complete()
	if err != nil {
		t.Fatal(err)
	}
	one, err := p.roster(p.Strategies[0], random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.roster(p.Strategies[0], random.SeedOf(2))
	if err != nil || len(one) != 4 || one[0] == other[0] {
		t.Errorf("%v and %v, %v", one, other, err)
	}
	if none, err := p.roster(Spec{Name: "ts"}, random.SeedOf(1)); none != nil || err != nil {
		t.Errorf("ts has the roster %v, %v", none, err)
	}
}
