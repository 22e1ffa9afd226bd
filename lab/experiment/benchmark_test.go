package experiment

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

// BenchmarkSuggestionAmongPeers is a suggestion of an agent with 25 observations
// of six floats that has heard N others with 12 each, M = 512. RGPE and TAF have
// the others' models at hand; what it takes to send and keep them is left out. cpu-ms/op is the
// processor time.
func BenchmarkSuggestionAmongPeers(b *testing.B) {
	for _, text := range []string{"ts", "alone", "fts:mode=one-shot,share_after=12", "peer-prior", "peer-prior:share=exact", "rgpe", "taf"} {
		spec, err := ParseSpec(text)
		if err != nil {
			b.Fatal(err)
		}
		for _, others := range []int{10, 20, 100, 1000} {
			b.Run(fmt.Sprintf("%s/N=%d", text, others), func(b *testing.B) {
				chosen, view := among(b, spec, others)
				trial := uint64(len(view.Trials))
				start := processorTime()
				for b.Loop() {
					trial++
					if _, err := chosen.Suggest(b.Context(), view, trial, random.SeedOf(1)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(1e3*(processorTime()-start).Seconds()/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// among plays a federation in which member 0 alone hears, and returns what it
// follows and sees in the end.
func among(b *testing.B, s Spec, others int) (strategy.Strategy, strategy.View) {
	b.Helper()
	const evaluations, ofOthers = 25, 12
	drawn, err := family.Kinds().Parse("gp:d=6")
	if err != nil {
		b.Fatal(err)
	}
	p, err := Plan{Family: drawn, Agents: others + 1, Evaluations: evaluations, Repeats: 1, Strategies: []Spec{s}, Seed: 1,
		Network: sim.Network{Delay: time.Millisecond, Degree: 1}}.Complete()
	if err != nil {
		b.Fatal(err)
	}
	seed := random.SeedOf(1)
	members, err := p.Family.Draw(seed, p.Agents)
	if err != nil {
		b.Fatal(err)
	}
	f := &federation{Federation: members, seed: seed}
	t, err := p.taskOf("among", f.Federation, p.asTask(s), nil)
	if err != nil {
		b.Fatal(err)
	}
	scenario := p.scenario(s, t, f, 0)
	scenario.Network.Degree, scenario.Recommend = 0, nil
	scenario.Receives = func(hearer, _ int) bool { return hearer == 0 }
	for i := range f.Members {
		m, _ := p.member(i, s, t, f, func() {})
		m.Start = 0
		if i > 0 {
			m.Evaluations = ofOthers
		}
		scenario.Members = append(scenario.Members, m)
	}
	method, isBaseline := methodOf(s)
	if isBaseline {
		if err := method.install(s, &scenario); err != nil {
			b.Fatal(err)
		}
		for i := range scenario.Members[1:] { // a baseline's members would all hear
			scenario.Members[1+i].Strategy = alone.NewTS(t)
		}
	}
	var view strategy.View
	watch := scenario.Watch
	scenario.Watch = func(member int, v strategy.View) {
		if watch != nil {
			watch(member, v)
		}
		if member == 0 {
			view = v
		}
	}
	if _, err := sim.Run(context.Background(), scenario); err != nil {
		b.Fatal(err)
	}
	if isBaseline {
		return scenario.Members[0].Strategy, view
	}
	chosen, err := Plan{}.registrationOf(Spec{Name: t.Strategy.Type}).NewStrategy(t)
	if err != nil {
		b.Fatal(err)
	}
	return chosen, view
}
