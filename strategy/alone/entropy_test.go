package alone_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// The bounds are explained in the test of LogEI.
func TestMESFindsTheValley(t *testing.T) {
	for seed := range uint64(3) {
		definition := parse(t, "exact", "mes")
		view := tune(t, definition, alone.NewMES(definition), random.SeedOf(seed), 20)
		if best := bestOf(t, view); best > 0.004 {
			t.Errorf("seed %d: best %g", seed, best)
		}
		for _, trial := range view.Trials[4:] {
			if trial.Why.Source != "entropy" || trial.Why.Phrase != "information on the best value" {
				t.Errorf("seed %d: trial %d comes from %+v", seed, trial.ID, trial.Why)
			}
		}
	}
}

// wide are limits of the disc's outputs that no design comes near.
var wide = []task.Constraint{
	{Output: "radius", Low: math.Inf(-1), High: 1e6},
	{Output: "x", Low: -1e6, High: 1e6},
	{Output: "y", Low: -1e6, High: math.Inf(1)},
}

// Whatever the constraints, where they are certainly kept the designs are those without.
func TestConstraintsThatAreKept(t *testing.T) {
	for name, make := range map[string]func(*task.Task) strategy.Strategy{
		"logei": func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) },
		"mes":   func(t *task.Task) strategy.Strategy { return alone.NewMES(t) },
		"ts":    func(t *task.Task) strategy.Strategy { return alone.NewTS(t) },
		"alone": func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) },
	} {
		plain, constrained := cornerTask(t, name), cornerTask(t, name, wide...)
		want := searchDisc(t, plain, make(plain), random.SeedOf(4), 12).Trials
		for i, trial := range searchDisc(t, constrained, make(constrained), random.SeedOf(4), 12).Trials {
			if !trial.Design.Equal(want[i].Design) {
				t.Errorf("%s: trial %d is %v, without constraints %v", name, trial.ID, trial.Design, want[i].Design)
				break
			}
		}
	}
}

// Without constraints the strategies maximise what their papers say, design for design.
func TestAcquisitionsWithoutConstraints(t *testing.T) {
	seed := random.SeedOf(5)
	for name, c := range map[string]struct {
		strategy func(*task.Task) strategy.Strategy
		f        func(view strategy.View, s search.Search, trial uint64) acquisition.Function
	}{
		"logei": {
			func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) },
			func(view strategy.View, s search.Search, _ uint64) acquisition.Function {
				return acquisition.LogEI(alone.OverIncumbent(view.Posterior, s.Best(view)))
			},
		},
		"ts": {
			func(t *task.Task) strategy.Strategy { return alone.NewTS(t) },
			func(view strategy.View, _ search.Search, trial uint64) acquisition.Function {
				return view.Posterior.Draw(seed.Stream("own sample", trial))
			},
		},
		"mes": {
			func(t *task.Task) strategy.Strategy { return alone.NewMES(t) },
			func(view strategy.View, s search.Search, trial uint64) acquisition.Function {
				return acquisition.LogGain(view.Posterior, plainOptima(t, view, s, 10, seed.Derive("optima", trial)))
			},
		},
		"alone": {
			func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) },
			func(view strategy.View, s search.Search, trial uint64) acquisition.Function {
				members, err := view.Posterior.(surrogate.Ensemble).Members(t.Context(), 4, seed.Stream("hyperparameters", trial))
				if err != nil {
					t.Fatal(err)
				}
				if trial%2 == 0 || trial <= 6 {
					return noisyImprovement(members, allOf(view), trial, seed)
				}
				var gains []acquisition.Function
				for i, p := range members {
					view.Posterior = p
					gains = append(gains, acquisition.LogGain(p, plainOptima(t, view, s, 2, seed.Derive("optima", trial).Derive("member", uint64(i)))))
				}
				return acquisition.LogMean(gains...)
			},
		},
	} {
		spec := cornerTask(t, name)
		view := searchDisc(t, spec, c.strategy(spec), seed, 10)
		s := search.New(spec)
		for trial := uint64(4); trial <= 10; trial++ {
			before := viewBefore(t, spec, view, seed, trial)
			got, err := s.Maximise(t.Context(), before, trial, seed, c.f(before, s, trial), strategy.Why{})
			if err != nil || !got.Design.Equal(view.Trials[trial-1].Design) {
				t.Errorf("%s: trial %d is %v, maximising gives %v, %v", name, trial, view.Trials[trial-1].Design, got.Design, err)
			}
		}
	}
}

// plainOptima are the maxima of samples of a posterior.
func plainOptima(t *testing.T, view strategy.View, s search.Search, count uint64, seed random.Seed) []float64 {
	t.Helper()
	floor := bestBound(view.Posterior, s.Best(view))
	m := s.Maximizer
	m.Searches = 16
	var optima []float64
	for i := range count {
		_, value, err := m.Maximize(t.Context(), view.Posterior.Draw(seed.Stream("sample", i)), s.Best(view), seed.Stream("maximise", i))
		if err != nil {
			t.Fatal(err)
		}
		optima = append(optima, max(value, floor))
	}
	return optima
}

// While nothing is known to be feasible the information on the best value leads there by
// itself: into a disc of 3 % of the square after at most 15 designs, in each of four
// searches that have not started in it. Random designs do so in one of a hundred cases.
func TestMESFindsWhatIsFeasible(t *testing.T) {
	found := 0
	for seed := uint64(0); found < 4; seed++ {
		spec := cornerTask(t, "mes", task.Constraint{Output: "radius", Low: math.Inf(-1), High: 0.1})
		s := alone.NewMES(spec)
		if view := searchDisc(t, spec, s, random.SeedOf(seed), 3); strategy.Best(spec, view.Trials) != nil {
			continue
		}
		if view := searchDisc(t, spec, s, random.SeedOf(seed), 15); strategy.Best(spec, view.Trials) == nil {
			t.Errorf("seed %d: nothing feasible", seed)
		}
		found++
	}
}

// bestBound is the largest mean + 2·sd at designs.
func bestBound(posterior surrogate.Posterior, designs [][]float64) float64 {
	best := math.Inf(-1)
	for _, x := range designs {
		best = max(best, boundAt(posterior, x, 2))
	}
	return best
}

// A sampled optimum is no less than what a known design may have by two deviations; it is
// -Inf where neither the sample nor the past has a feasible design. With the limit of 0.04 a
// feasible design is known, and most samples have none.
func TestSampledOptima(t *testing.T) {
	for name, c := range map[string]struct {
		high  float64
		known bool
	}{"feasible": {0.5, true}, "nearly infeasible": {0.04, true}, "infeasible": {-10, false}} {
		spec := cornerTask(t, "mes", task.Constraint{Output: "radius", Low: math.Inf(-1), High: c.high})
		view := searchDisc(t, spec, alone.NewLogEI(spec), random.SeedOf(1), 8)
		if known := strategy.Best(spec, view.Trials) != nil; known != c.known {
			t.Fatalf("%s: known %t", name, known)
		}
		optima, err := alone.Optima(alone.NewMES(spec), t.Context(), view, 10, random.SeedOf(1))
		if err != nil || len(optima) != 10 {
			t.Fatalf("%s: %v, %v", name, optima, err)
		}
		least := bestBound(view.Posterior, search.New(spec).BestFeasible(view))
		at := 0
		for _, optimum := range optima {
			if optimum == least {
				at++
			}
			if c.known && !(optimum >= least) || !c.known && !math.IsInf(optimum, -1) {
				t.Errorf("%s: optima %v, least %g", name, optima, least)
			}
		}
		if c.known && at == len(optima) {
			t.Errorf("%s: all optima are %g: nothing is sampled", name, least)
		}
	}
}

// One Suggest with six parameters, two constraints and 50 observations.
func BenchmarkSuggest(b *testing.B) {
	for name, make := range map[string]func(*task.Task) strategy.Strategy{
		"logei": func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) },
		"mes":   func(t *task.Task) strategy.Strategy { return alone.NewMES(t) },
		"alone": func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) },
	} {
		b.Run(name, func(b *testing.B) {
			spec, view := sixParameters(b, name)
			s := make(spec)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.Suggest(b.Context(), view, uint64(i+51), random.SeedOf(1)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// How good the best feasible design is after 8, 15 and 25 on the problem of
// TestConstrainedSearch: the geometric mean of regrets, at least 1e-4, of 20 searches. Those
// of one number start alike. A search that has found nothing feasible has a regret of 1.
func BenchmarkConstrainedSearch(b *testing.B) {
	optimum := math.Pow(math.Hypot(0.5, 0.5)-0.22, 2)
	const searches = 20
	for _, c := range []struct {
		name string
		make func(*task.Task) strategy.Strategy
	}{
		{"logei", func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) }},
		{"mes", func(t *task.Task) strategy.Strategy { return alone.NewMES(t) }},
		{"ts", func(t *task.Task) strategy.Strategy { return alone.NewTS(t) }},
		{"alone", func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				logs := map[int]float64{}
				for seed := range uint64(searches) {
					spec := discTask(b, c.name)
					trials := searchDisc(b, spec, c.make(spec), random.SeedOf(seed), 25).Trials
					for _, after := range []int{8, 15, 25} {
						regret := 1.0
						if best := strategy.Best(spec, trials[:after]); best != nil {
							regret = max(best.Outcome.Value-optimum, 1e-4)
						}
						logs[after] += math.Log(regret) / searches
					}
				}
				for after, log := range logs {
					b.ReportMetric(math.Exp(log), fmt.Sprintf("regret@%d", after))
				}
			}
		})
	}
}
