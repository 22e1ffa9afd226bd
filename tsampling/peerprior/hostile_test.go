package peerprior

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// hostile are shares that a decoder accepts and no honest agent sends. Each
// passes the decoder, or the test is of no worth.
func (l *lab) hostile() map[string]protocol.Mean {
	features, parameters := l.features.Features(), l.task.Space.Len()
	make1 := func(size float64, seed uint64) []float64 {
		rng := random.SeedOf(seed).Stream("weights", 0)
		values := make([]float64, features)
		for i := range values {
			values[i] = size
			if rng.Float64() < 0.5 {
				values[i] = -size
			}
		}
		return values
	}
	base := protocol.Mean{Observations: 20, Explained: 0.5, Scale: 1, Values: make1(0.2, 1), ExplainedWeights: make1(0.02, 2)}
	if l.task.Surrogate.Type == "exact" {
		base.Lengthscales = slices.Repeat([]float64{0.3}, parameters)
	}
	list := map[string]protocol.Mean{}
	add := func(name string, change func(m *protocol.Mean)) {
		m := base
		change(&m)
		payload, err := m.Encode()
		if err != nil {
			l.t.Fatalf("%s: %v", name, err)
		}
		list[name] = l.decode(payload)
	}
	add("huge weights", func(m *protocol.Mean) { m.Values = make1(protocol.MaxWeight, 1) })
	add("tiny weights", func(m *protocol.Mean) { m.Values = make1(1e-38, 1) })
	add("huge level", func(m *protocol.Mean) { m.Level = -protocol.MaxUnit })
	add("large level", func(m *protocol.Mean) { m.Level = 1e10 })
	add("huge scale", func(m *protocol.Mean) { m.Scale = protocol.MaxUnit })
	add("large scale", func(m *protocol.Mean) { m.Scale = 1e10 })
	add("tiny scale", func(m *protocol.Mean) { m.Scale = 1e-300 })
	add("everything huge", func(m *protocol.Mean) {
		m.Values, m.ExplainedWeights = make1(protocol.MaxWeight, 3), make1(protocol.MaxWeight, 4)
		m.Level, m.Scale, m.Observations, m.Explained = protocol.MaxUnit, protocol.MaxUnit, math.MaxInt32, 1
	})
	add("knows all, and absurdly", func(m *protocol.Mean) { m.Explained, m.ExplainedWeights = 1, make1(protocol.MaxWeight, 5) })
	add("knows nothing, and absurdly", func(m *protocol.Mean) { m.Explained, m.ExplainedWeights = 0.011, make1(-protocol.MaxWeight, 5) })
	if l.task.Surrogate.Type == "exact" {
		add("short lengthscales", func(m *protocol.Mean) {
			m.Lengthscales, m.Observations = slices.Repeat([]float64{protocol.MinLengthscale}, parameters), math.MaxInt32
		})
		add("long lengthscales", func(m *protocol.Mean) {
			m.Lengthscales, m.Observations = slices.Repeat([]float64{protocol.MaxLengthscale}, parameters), math.MaxInt32
		})
	}
	return list
}

// Whatever peers within the decoder's bounds say, a suggestion comes, and it is a
// design of the space.
func TestSuggestWithstandsHostileShares(t *testing.T) {
	for _, c := range []struct{ goal, parameters, model string }{
		{"maximize", plane, exact}, {"minimize", mixed, exact}, {"maximize", mixed, linear},
	} {
		l := newLab(t, c.goal, c.parameters, c.model)
		l.strategy.search.Maximizer.Candidates, l.strategy.search.Maximizer.Searches = 10, 1
		objectives := map[string]func([]float64) float64{
			"bump": bump(0.3), "small": scaled(bump(0.3), 1e-80),
			"tiny": scaled(bump(0.3), 1e-250), "huge": scaled(bump(0.3), 1e300),
			"flat": func([]float64) float64 { return 3 },
		}
		hostile := l.hostile()
		names := []string{}
		for name := range hostile {
			names = append(names, name)
		}
		slices.Sort(names)
		for objective, f := range objectives {
			for _, observations := range []int{0, 1, 5} {
				own := l.view(l.designs(observations, random.SeedOf(7)), f)
				for _, name := range append(names, "all") {
					means := []protocol.Mean{hostile[name]}
					if name == "all" {
						means = nil
						for _, one := range names {
							means = append(means, hostile[one])
						}
					}
					label := fmt.Sprintf("%s, %s, %s, t = %d, %s", c.parameters[len(c.parameters)-12:], c.model, objective, observations, name)
					l.survives(label, with(own, means...))
				}
			}
		}
	}
}

// survives asks with some seeds.
func (l *lab) survives(label string, view strategy.View) {
	for trial := range uint64(2) {
		id := uint64(len(view.Trials)) + 1 + trial
		got, err := l.strategy.Suggest(l.t.Context(), view, id, random.SeedOf(trial))
		if err != nil {
			l.t.Errorf("%s: %v", label, err)
			return
		}
		l.checkInSpace(got.Design)
		if p := got.Why.OwnProbability; p != nil && !(*p >= 0 && *p <= 1) {
			l.t.Errorf("%s: own probability %g", label, *p)
			return
		}
	}
	if design := l.strategy.Recommend(l.t.Context(), view, random.SeedOf(1)); view.Posterior != nil {
		l.checkInSpace(design)
	}
}

// A peer whose numbers are of another world is no better for it: what it says
// is not in the own observations.
func TestHostileSharesAreNotBelieved(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	own := l.view(l.designs(15, random.SeedOf(7)), bump(0.3))
	for name, m := range l.hostile() {
		for _, p := range l.considered(with(own, m)).signals {
			// Who says next to nothing keeps about the odds that all have.
			if !(p.use <= (1+useOdds)/2) {
				t.Errorf("%s: probability of use %g", name, p.use)
			}
		}
	}
}

// A hostile peer must not silence honest ones: with it, what is maximised is still
// a finite function, at which a search can look.
func TestScoresAreFinite(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for _, factor := range []float64{1, 1e-80} {
		own := l.view(l.designs(6, random.SeedOf(7)), scaled(bump(0.3), factor))
		for name, m := range l.hostile() {
			view := with(own, append(l.peersOf(2, 10, scaled(bump(0.35), factor), 1), m)...)
			for trial := uint64(7); trial < 9; trial++ {
				f, _, err := l.strategy.score(t.Context(), view, l.considered(view), trial, random.SeedOf(1))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				} else if v := f.Value([]float64{0.4, 0.6}); math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: a score of %g", name, v)
				}
			}
		}
	}
}

// The number of own observations, and of peers, has no bad end.
func TestSuggestOverManyObservationsAndPeers(t *testing.T) {
	l := newLab(t, "minimize", plane, exact)
	l.strategy.search.Maximizer.Candidates, l.strategy.search.Maximizer.Searches = 40, 1
	few := l.peersOf(4, 8, bump(0.35), 1)
	many := slices.Repeat(few, 25)
	l.survives("100 peers", with(l.view(l.designs(10, random.SeedOf(7)), bump(0.3)), many...))
	l.survives("300 observations", with(l.view(l.designs(300, random.SeedOf(7)), bump(0.3)), few...))
	same := l.view(slices.Repeat(l.designs(1, random.SeedOf(7)), 40), bump(0.3))
	l.survives("40 times the same design", with(same, few...))
}
