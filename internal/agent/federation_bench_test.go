package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// BenchmarkFederation measures whether federated Thompson sampling helps, on
// functions whose likeness is known: f_k = √(1−e²)·f_0 + e·g_k with f_0 and g_k
// drawn from a Gaussian process (squared exponential, lengthscale 0.2, d = 2,
// noise-free). Every federation runs twice with the same functions and seeds:
// sharing, and each agent alone. "together": all start at once. "newcomer": the
// last agent starts when the others have finished, and only it counts.
//
// regret/alone is mean simple regret over the control's, below 1 is a gain; se
// is the standard error over federations of the difference, in units of the
// control's mean. Run: go test -run '^$' -bench Federation -benchtime 1x ./internal/agent
func BenchmarkFederation(b *testing.B) {
	for _, schedule := range []string{"inverse-sqrt", "inverse-square"} {
		for _, newcomer := range []bool{false, true} {
			for _, unlike := range []float64{0.05, 0.5, 1} {
				who := "together"
				if newcomer {
					who = "newcomer"
				}
				b.Run(fmt.Sprintf("%s/%s/e=%g", schedule, who, unlike), func(b *testing.B) {
					for range b.N {
						compareFederations(b, schedule, newcomer, unlike)
					}
				})
			}
		}
	}
}

const (
	federations   = 8
	agentsEach    = 6
	benchedTrials = 20
)

func compareFederations(b *testing.B, schedule string, newcomer bool, unlike float64) {
	var differences []float64
	var shared, alone float64
	for f := range uint64(federations) {
		functions := likeFunctions(b, random.SeedOf(f), unlike)
		with := federation(b, functions, schedule, newcomer, f)
		without := federation(b, functions, "own-only", newcomer, f)
		differences = append(differences, with-without)
		shared += with / federations
		alone += without / federations
	}
	b.ReportMetric(shared/alone, "regret/alone")
	b.ReportMetric(standardError(differences)/alone, "se")
	b.ReportMetric(alone, "alone")
}

func standardError(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1) / float64(len(x)))
}

// federation returns the mean simple regret of the agents that count.
func federation(b *testing.B, functions []*rff.Function, schedule string, newcomer bool, seed uint64) float64 {
	spec, err := all.Strategies().Parse("bench", fmt.Appendf(nil, `
name: bench
goal: maximize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {kernel: se}
strategy: {type: fts, schedule: %s}`, schedule))
	if err != nil {
		b.Fatal(err)
	}
	var drivers []*driver
	for i := range functions {
		cfg := configOf(b, spec, byte(i+1))
		cfg.Seed = random.SeedOf(seed).Derive("agent", uint64(i))
		drivers = append(drivers, newDriver(b, cfg))
	}
	last := len(drivers) - 1
	for round := range 2 * benchedTrials {
		for i, d := range drivers {
			first := 0
			if newcomer && i == last {
				first = benchedTrials
			}
			if round >= first && round < first+benchedTrials {
				evaluateOnce(b, d, functions[i])
			}
		}
		gossip(drivers)
	}
	if newcomer {
		return simpleRegret(drivers[last], functions[last])
	}
	total := 0.0
	for i, d := range drivers {
		total += simpleRegret(d, functions[i]) / float64(len(drivers))
	}
	return total
}

func evaluateOnce(b testing.TB, d *driver, f *rff.Function) {
	d.requests++
	d.agent.Ask(d.now, d.requests)
	d.carryOut()
	trial := d.answers[len(d.answers)-1].Trial
	value := f.Value([]float64{trial.Design.Float("x"), trial.Design.Float("y")})
	if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: value}); err != nil {
		b.Fatal(err)
	}
	d.carryOut()
}

// gossip delivers everything at once and keeps everybody present.
func gossip(drivers []*driver) {
	for _, from := range drivers {
		sent := from.published
		from.published = nil
		for _, to := range drivers {
			if to == from {
				continue
			}
			for _, share := range sent {
				_, _ = to.agent.Receive(to.now, share, 0)
				to.carryOut()
			}
		}
	}
}

func simpleRegret(d *driver, f *rff.Function) float64 {
	best := math.Inf(-1)
	for x := range 101 {
		for y := range 101 {
			best = max(best, f.Value([]float64{float64(x) / 100, float64(y) / 100}))
		}
	}
	return max(0, best-d.agent.Best().Outcome.Value)
}

// likeFunctions draws one federation's functions, as weights over very many
// random features.
func likeFunctions(b testing.TB, seed random.Seed, unlike float64) []*rff.Function {
	const features = 600
	m, err := rff.NewMap(seed.Derive("features", 0), rff.Spec{Kernel: "se", Features: features, Lengthscales: []float64{0.2, 0.2}})
	if err != nil {
		b.Fatal(err)
	}
	normal := func(rng *rand.Rand) []float64 {
		w := make([]float64, features)
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		return w
	}
	common := normal(seed.Stream("common", 0))
	var functions []*rff.Function
	for k := range uint64(agentsEach) {
		own := normal(seed.Stream("own", k))
		w := slices.Clone(common)
		for i := range w {
			w[i] = math.Sqrt(1-unlike*unlike)*w[i] + unlike*own[i]
		}
		functions = append(functions, m.Function(w))
	}
	return functions
}
