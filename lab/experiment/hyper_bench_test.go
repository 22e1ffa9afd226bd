//go:build statistical

package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/optimize"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/hyper"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// hyperSeed is the one of federation i.
func hyperSeed(i int) random.Seed { return random.SeedOf(2929).Derive("federation", uint64(i)) }

// federationsOf draws so many federations: a text with several families deals their members
// out in turn.
func federationsOf(b *testing.B, count, agents int, texts ...string) (all []family.Federation) {
	b.Helper()
	for i := range count {
		var drawn []family.Federation
		for _, text := range texts {
			kind, err := family.Kinds().Parse(text)
			if err != nil {
				kind, err = trained.Kinds().Parse(text)
			}
			if err != nil {
				b.Fatal(err)
			}
			f, err := kind.Draw(hyperSeed(i), agents)
			if err != nil {
				b.Fatal(err)
			}
			drawn = append(drawn, f)
		}
		f := drawn[0]
		for k := range f.Members {
			f.Members[k] = drawn[k%len(drawn)].Members[k]
		}
		all = append(all, f)
	}
	return all
}

func hyperTask(b *testing.B, f family.Federation, kind string, surrogate task.Settings) *task.Task {
	b.Helper()
	t, err := all.Strategies().NewTask(task.Spec{Name: "hyper", Goal: f.Goal, Parameters: f.Space.Parameters(), Listing: f.Space.Listing(),
		Surrogate: surrogate, Strategy: task.Strategy{Type: kind}})
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func spaceOf(f family.Federation, m family.Member) *task.Space {
	if m.Space != nil {
		return m.Space
	}
	return f.Space
}

// The federations of the benchmarks. The last has members of lengthscales 0.1 and 1.
var hyperFamilies = [][]string{
	{"branin"}, {"hartmann6"}, {"gp:d=2"}, {"gp:d=6"},
	{"table:task=../examples/tables/diamonds/task.yaml,file=../examples/tables/diamonds/table.csv.gz"},
	{"table:task=../examples/tables/visits/task.yaml,file=../examples/tables/visits/table.csv.gz"},
	{"gp:d=2,lengthscale=0.1", "gp:d=2,lengthscale=1"},
}

func nameOf(texts []string) string {
	switch name := texts[0]; {
	case len(texts) > 1:
		return "two lengthscales"
	case len(name) > 20:
		return strings.Split(name, "/")[3]
	default:
		return name
	}
}

// BenchmarkHyperparametersPredict has the mean log density, under what a node knows from
// five or twelve random designs, of the objective at 200 others, standardised as its
// observations are: by own hyperparameters, by those with the prior of nine peers, and by
// the one set that maximises the sum of all ten log likelihoods (equation 9), for which
// somebody must have all data.
func BenchmarkHyperparametersPredict(b *testing.B) {
	for _, texts := range hyperFamilies {
		for _, observations := range []int{5, 12} {
			b.Run(nameOf(texts)+fmt.Sprintf("/observations=%d", observations), func(b *testing.B) {
				for b.Loop() {
					var sums [3]float64
					federations := federationsOf(b, 20, 10, texts...)
					for i, f := range federations {
						for k, v := range predict(b, f, observations, hyperSeed(i)) {
							sums[k] += v / float64(len(federations))
						}
					}
					b.ReportMetric(sums[0], "own")
					b.ReportMetric(sums[1], "shared")
					b.ReportMetric(sums[2], "together")
				}
			})
		}
	}
}

// predict returns the averages over the members by own, shared and common hyperparameters.
func predict(b *testing.B, f family.Federation, observations int, seed random.Seed) (densities [3]float64) {
	b.Helper()
	t := hyperTask(b, f, "alone", nil)
	model, err := surrogate.New(t)
	if err != nil {
		b.Fatal(err)
	}
	pupil := model.(surrogate.PriorFitter)
	var observed []surrogate.Observations
	var said []hyper.Statement
	for i, m := range f.Members {
		obs := measure(f, m, observations, seed, i)
		evidence, err := pupil.Evidence(b.Context(), obs, seed.Stream("evidence", uint64(i)))
		if err != nil {
			b.Fatal(err)
		}
		observed, said = append(observed, obs), append(said, hyper.Statement(evidence))
	}
	together := likeliest(b, t, observed)
	for i, m := range f.Members {
		others := slices.Delete(slices.Clone(said), i, i+1)
		prior := hyper.Combine(pupil.Prior(), others)
		for k, taught := range []*gp.Prior{nil, &prior, nil} {
			h := together
			if k < 2 {
				if h, err = pupil.FitUnder(b.Context(), taught, observed[i], nil, seed.Stream("fit", uint64(i))); err != nil {
					b.Fatal(err)
				}
			}
			posterior, err := model.Condition(observed[i], h, nil)
			if err != nil {
				b.Fatal(err)
			}
			const tests = 200
			units, designs, space := posterior.(surrogate.Scaled).Units(), seed.Stream("tests", uint64(i)), spaceOf(f, m)
			for range tests {
				x := acquisition.Sample(space, designs)
				mean, variance := posterior.Predict(x)
				variance += h.Noise
				z := units.Standardised(f.Goal.Sign()*m.Objective.Value(space.Decode(x))) - mean
				densities[k] -= 0.5 * (z*z/variance + math.Log(2*math.Pi*variance)) / tests / float64(len(f.Members))
			}
		}
	}
	return densities
}

// likeliest returns the hyperparameters of largest density given all observations, each
// member's of a function of its own.
func likeliest(b *testing.B, t *task.Task, observed []surrogate.Observations) surrogate.Hyperparameters {
	b.Helper()
	spec := surrogate.ProcessSpec(t)
	standard := gp.StandardPrior(spec)
	at := func(logarithms []float64) gp.Hyperparameters {
		last := len(logarithms) - 1
		h := gp.Hyperparameters{Noise: max(math.Exp(logarithms[last]), gp.NoiseFloor)}
		for _, v := range logarithms[:last] {
			h.Lengthscales = append(h.Lengthscales, math.Exp(v))
		}
		return h
	}
	problem := optimize.Problem{Func: func(logarithms []float64) float64 {
		h, prior := at(logarithms), 0.0
		for i, v := range h.Logarithms() {
			z := (v - standard.Location[i]) / standard.Spread[i]
			prior -= 0.5 * z * z
		}
		density := prior
		for _, obs := range observed {
			y, _, err := surrogate.Standardise(obs)
			if err != nil {
				b.Fatal(err)
			}
			one, err := gp.LogPosterior(spec, obs.X, y, h)
			if err != nil {
				return math.Inf(1)
			}
			density += one - prior // up to a constant
		}
		return -density
	}}
	found, _ := optimize.Minimize(problem, standard.Location, &optimize.Settings{FuncEvaluations: 800}, &optimize.NelderMead{}) // the limit is no failure
	return surrogate.OfProcess(at(found.X))
}

// BenchmarkHyperparametersRegret has the mean regret, in deviations of the objective, of
// members who follow a strategy with own and with shared hyperparameters, after 5, 8 and 12
// evaluations, the geometric mean over federations of shared to own, and the standard
// error of its logarithm.
func BenchmarkHyperparametersRegret(b *testing.B) {
	const federations = 10
	after := []int{5, 8, 12}
	for _, kind := range []string{"alone", "ts", "peer-prior"} {
		for _, texts := range hyperFamilies {
			b.Run(kind+"/"+nameOf(texts), func(b *testing.B) {
				for b.Loop() {
					var sums [2][3]float64
					var ratios, squares [3]float64
					for i, f := range federationsOf(b, federations, 10, texts...) {
						own := regretsOf(b, f, kind, "own", after, hyperSeed(i))
						shared := regretsOf(b, f, kind, "shared", after, hyperSeed(i))
						for n := range after {
							sums[0][n] += own[n] / federations
							sums[1][n] += shared[n] / federations
							ratio := math.Log(max(shared[n], 0.01) / max(own[n], 0.01))
							ratios[n] += ratio / federations
							squares[n] += ratio * ratio / federations
						}
					}
					for n, count := range after {
						b.ReportMetric(sums[0][n], fmt.Sprint("own-", count))
						b.ReportMetric(sums[1][n], fmt.Sprint("shared-", count))
						b.ReportMetric(math.Exp(ratios[n]), fmt.Sprint("ratio-", count))
						b.ReportMetric(math.Sqrt((squares[n]-ratios[n]*ratios[n])/(federations-1)), fmt.Sprint("error-", count))
					}
				}
			})
		}
	}
}

func regretsOf(b *testing.B, f family.Federation, kind, word string, after []int, seed random.Seed) []float64 {
	b.Helper()
	s := sim.Scenario{Task: hyperTask(b, f, kind, task.Settings{"hyperparameters": word}), Seed: seed, Network: sim.Network{Delay: 50 * time.Millisecond}, Workers: 1}
	for i, m := range f.Members {
		noise := seed.Derive("noise", uint64(i))
		s.Members = append(s.Members, sim.Member{Evaluations: after[len(after)-1], Duration: time.Minute, Start: time.Duration(i) * time.Second, Space: m.Space,
			Objective: func(d task.Design, trial uint64) float64 {
				return m.Objective.Value(d) + m.Objective.Noise*noise.Stream("trial", trial).NormFloat64()
			}})
	}
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	regrets := make([]float64, len(after))
	for i, m := range result.Members {
		objective, best := f.Members[i].Objective, math.Inf(1)
		unit := objective.Deviation
		if unit == 0 {
			unit = deviationOf(f, f.Members[i], seed)
		}
		for k, trial := range m.Trials {
			best = min(best, f.Goal.Sign()*(objective.Optimum-objective.Value(trial.Design)))
			for n, count := range after {
				if k+1 == count {
					regrets[n] += max(best, 0) / unit / float64(len(result.Members))
				}
			}
		}
	}
	return regrets
}

func deviationOf(f family.Federation, m family.Member, seed random.Seed) float64 {
	const designs = 300
	rng, space, sum, square := seed.Stream("deviation", 0), spaceOf(f, m), 0.0, 0.0
	for range designs {
		v := m.Objective.Value(space.Decode(acquisition.Sample(space, rng)))
		sum, square = sum+v/designs, square+v*v/designs
	}
	return math.Sqrt(square - sum*sum)
}

// BenchmarkHyperparametersPrivate has what noise would leave of sums of statements of fifty
// nodes with twelve random designs each, at ε = 4 and δ = 10⁻⁵ in ten rounds. A node would give two
// numbers for each hyperparameter: how far its posterior mean is from the prior's, in
// reaches of what a node may say, and which part of the posterior's precision is its
// observations'. The quotient of the averages is where all together believe the logarithm to
// be. Of the lengthscales, root mean squares: how far that is from the prior's mean, how far
// single nodes' means lie apart, and the deviation of the noise on the quotient; clipped is
// the part of the nodes whose numbers are too large for the clip norm.
func BenchmarkHyperparametersPrivate(b *testing.B) {
	const nodes, absent, colluding, observations = 50, 12, 2, 12
	for _, texts := range hyperFamilies[:4] {
		b.Run(nameOf(texts), func(b *testing.B) {
			for b.Loop() {
				f := federationsOf(b, 1, nodes, texts...)[0]
				model, err := surrogate.New(hyperTask(b, f, "alone", nil))
				if err != nil {
					b.Fatal(err)
				}
				pupil := model.(surrogate.PriorFitter)
				prior := pupil.Prior()
				count := len(prior.Location)
				clip := math.Sqrt(float64(2*count)) / 2 // each number is 0.5 or so
				plan := privacy.Plan{Grid: privacy.Grid{Norm: clip, Bits: 30}, Adjacency: privacy.ReplaceOne, Dimension: 2 * count, Rate: 1,
					Releases: 10, Parties: nodes - absent - colluding}
				sigma, err := plan.Sigma(privacy.Promise{Epsilon: 4, Delta: 1e-5, Bound: privacy.Tight})
				if err != nil {
					b.Fatal(err)
				}
				noise := float64(sigma) * clip / (1 << 30) / math.Sqrt(nodes) // on an average
				moves, weights, squares, clipped := make([]float64, count), make([]float64, count), make([]float64, count), 0.0
				for i, m := range f.Members {
					evidence, err := pupil.Evidence(b.Context(), measure(f, m, observations, hyperSeed(0), i), hyperSeed(0).Stream("evidence", uint64(i)))
					if err != nil {
						b.Fatal(err)
					}
					norm := 0.0
					for k, mean := range evidence.Mean {
						own := 1 / (prior.Spread[k] * prior.Spread[k])
						move, weight := (mean-prior.Location[k])/(surrogate.MaxSpreads*prior.Spread[k]), evidence.Precision[k]/(evidence.Precision[k]+own)
						moves[k], weights[k], squares[k] = moves[k]+move/nodes, weights[k]+weight/nodes, squares[k]+move*move/nodes
						norm += move*move + weight*weight
					}
					if norm > clip*clip {
						clipped += 1.0 / nodes
					}
				}
				var moved, apart, noisy float64
				lengthscales := float64(count - 1)
				for k := range count - 1 {
					reach := surrogate.MaxSpreads * prior.Spread[k]
					quotient := moves[k] / weights[k]
					moved += reach * reach * quotient * quotient / lengthscales
					apart += reach * reach * (squares[k] - moves[k]*moves[k]) / lengthscales
					noisy += reach * reach * noise * noise * (1 + quotient*quotient) / (weights[k] * weights[k]) / lengthscales
				}
				b.ReportMetric(math.Sqrt(moved), "moved")
				b.ReportMetric(math.Sqrt(apart), "apart")
				b.ReportMetric(math.Sqrt(noisy), "noise")
				b.ReportMetric(clipped, "clipped")
			}
		})
	}
}

// measure returns what a member observes at random designs.
func measure(f family.Federation, m family.Member, observations int, seed random.Seed, member int) (obs surrogate.Observations) {
	designs, noise, space := seed.Stream("designs", uint64(member)), seed.Stream("noise", uint64(member)), spaceOf(f, m)
	for range observations {
		x := acquisition.Sample(space, designs)
		obs.X = append(obs.X, x)
		obs.Y = append(obs.Y, f.Goal.Sign()*(m.Objective.Value(space.Decode(x))+m.Objective.Noise*noise.NormFloat64()))
	}
	return obs
}
