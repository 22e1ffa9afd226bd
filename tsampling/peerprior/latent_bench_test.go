//go:build statistical

package peerprior

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/exchange/sharedlatent/latent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	latentAgents      = 10
	latentFederations = 8
	latentTests       = 200
	latentPoints      = 30
	latentRounds      = 2
)

// convolved names the family that the model itself draws: each member's function is one
// latent function of lengthscale 0.1, smoothed by a density of deviation 0 to 0.2 and
// multiplied by 0.5 to 2.
const convolved = "convolved"

var latentFamilies = []string{convolved, "gp:d=1", "gp:d=1,e=1", "gp:d=2", "gp:d=2,e=0.5", "gp:d=2,e=1", "branin"}

func drawConvolved(b testing.TB, seed random.Seed) family.Federation {
	b.Helper()
	space, err := task.NewSpace([]task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}})
	if err != nil {
		b.Fatal(err)
	}
	const waves, lengthscale = 500, 0.1
	rng := seed.Stream("convolved", 0)
	var frequencies, cosines, sines []float64
	for range waves {
		frequencies = append(frequencies, rng.NormFloat64()/lengthscale)
		cosines, sines = append(cosines, rng.NormFloat64()), append(sines, rng.NormFloat64())
	}
	f := family.Federation{Space: space, Goal: task.Maximize}
	for range latentAgents {
		spread, gain := 0.2*rng.Float64(), 0.5*math.Pow(4, rng.Float64())
		spread *= spread
		gain *= math.Pow((2*spread+lengthscale*lengthscale)/(lengthscale*lengthscale), 0.25) / math.Sqrt(waves)
		f.Members = append(f.Members, family.Member{Counts: true, Objective: family.Objective{Noise: 0.1, Value: func(d task.Design) (value float64) {
			x := space.Encode(d)[0]
			for i, w := range frequencies {
				sine, cosine := math.Sincos(w * x)
				value += gain * math.Exp(-0.5*w*w*spread) * (cosines[i]*cosine + sines[i]*sine)
			}
			return value
		}}})
	}
	return f
}

func drawFederation(b testing.TB, text string, seed random.Seed) family.Federation {
	b.Helper()
	if text == convolved {
		return drawConvolved(b, seed)
	}
	kind, err := family.Kinds().Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	f, err := kind.Draw(seed, latentAgents)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// node is one member with what it has observed, and what is tested.
type node struct {
	view         strategy.View
	obs          surrogate.Observations
	y            []float64 // standardised
	units        surrogate.Units
	tests        [][]float64
	truth, noisy []float64 // standardised, without and with noise
	deviation    float64   // of the truth, standardised
}

// standardised is the inverse of units.Output, which grows.
func standardised(units surrogate.Units, value float64) float64 {
	low, high := -1.0, 1.0
	for units.Output(low) > value {
		low *= 2
	}
	for units.Output(high) < value {
		high *= 2
	}
	for range 60 {
		if middle := (low + high) / 2; units.Output(middle) < value {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

func observe(b testing.TB, t *task.Task, model surrogate.Model, f family.Federation, count int, seed random.Seed) (all []*node) {
	b.Helper()
	for i, m := range f.Members {
		rng, n := seed.Stream("node", uint64(i)), &node{}
		measure := func(x []float64) float64 {
			return m.Objective.Value(t.Space.Decode(x)) + m.Objective.Noise*rng.NormFloat64()
		}
		n.view = strategy.View{Task: t, Self: peerID(100 + i), Observations: count}
		for k := range count {
			x := acquisition.Sample(t.Space, rng)
			value := measure(x)
			n.obs.X, n.obs.Y = append(n.obs.X, x), append(n.obs.Y, f.Goal.Sign()*value)
			n.view.Trials = append(n.view.Trials, strategy.Trial{ID: uint64(k + 1), Design: t.Space.Decode(x), State: strategy.Done, Outcome: &strategy.Outcome{Value: value}})
		}
		h, err := model.Fit(b.Context(), n.obs, nil, rng)
		if err != nil {
			b.Fatal(err)
		}
		if n.view.Posterior, err = model.Condition(n.obs, h, nil); err != nil {
			b.Fatal(err)
		}
		if n.y, n.units, err = surrogate.Standardise(n.obs); err != nil {
			b.Fatal(err)
		}
		for range latentTests {
			x := acquisition.Sample(t.Space, rng)
			n.tests = append(n.tests, x)
			n.truth = append(n.truth, standardised(n.units, f.Goal.Sign()*m.Objective.Value(t.Space.Decode(x))))
			n.noisy = append(n.noisy, standardised(n.units, f.Goal.Sign()*measure(x)))
		}
		n.deviation = stat.StdDev(n.truth, nil)
		all = append(all, n)
	}
	return all
}

type predictor interface {
	Predict(x []float64) (mean, variance float64)
}

// score returns the squared error of the mean of a mixture, in variances of the truth, and
// the log density of noisy observations, both on average.
func (n *node) score(weights []float64, parts []predictor, noise float64) (square, density float64) {
	for i, x := range n.tests {
		average, likely := 0.0, 0.0
		for k, p := range parts {
			mean, variance := p.Predict(x)
			variance += noise
			average += weights[k] * mean
			z := n.noisy[i] - mean
			likely += weights[k] * math.Exp(-0.5*z*z/variance) / math.Sqrt(2*math.Pi*variance)
		}
		e := (average - n.truth[i]) / n.deviation
		square += e * e / latentTests
		density += math.Log(max(likely, 1e-30)) / latentTests
	}
	return square, density
}

// latentSpec has points that go beyond the space by a twentieth of its sides.
func latentSpec(t *task.Task, points, latents int, own bool) latent.Spec {
	groups := surrogate.ProcessSpec(t).Groups
	s := latent.Spec{Kernel: t.Surrogate.Kernel, Groups: groups, Latents: latents, Own: own}
	primes := []int{2, 3, 5, 7}
	for i := range points {
		z := make([]float64, len(groups))
		for c := range z {
			at := (float64(i) + 0.5) / float64(points)
			if len(z) > 1 { // Halton's points
				at = 0
				for k, part := i+1, 1/float64(primes[c]); k > 0; k, part = k/primes[c], part/float64(primes[c]) {
					at += part * float64(k%primes[c])
				}
			}
			z[c] = 1.1*at - 0.05
		}
		s.Points = append(s.Points, z)
	}
	return s
}

// converse lets nodes state, and learn by what the others have stated, for some rounds.
func converse(b testing.TB, s latent.Spec, nodes []*node, rounds int) (posteriors []*latent.Posterior) {
	b.Helper()
	said := make([]latent.Statement, len(nodes))
	learned := make([]*latent.Hyperparameters, len(nodes))
	others := func(k int) *latent.Gathered {
		var all []latent.Statement
		for i, one := range said {
			if i != k && one.Observations > 0 {
				all = append(all, one)
			}
		}
		g, err := s.Gather(all)
		if err != nil {
			b.Fatal(err)
		}
		return g
	}
	for range rounds {
		next := make([]latent.Statement, len(nodes))
		for k, n := range nodes {
			g, latents := others(k), s.PriorMode().Latent
			if learned[k] != nil {
				latents = s.Average(g, learned[k].Latent, len(n.y))
			}
			h, err := s.Fit(context.Background(), g, n.obs.X, n.y, latents, false, learned[k])
			if err != nil {
				b.Fatal(err)
			}
			learned[k] = &h
			if next[k], err = s.State(h, n.obs.X, n.y); err != nil {
				b.Fatal(err)
			}
			for _, row := range append(slices.Clone(next[k].Rows), next[k].Outputs) {
				for i, v := range row {
					row[i] = float64(float32(v))
				}
			}
		}
		said = next
	}
	for k, n := range nodes {
		g := others(k)
		fixed := s.Average(g, learned[k].Latent, len(n.y))
		h, err := s.Fit(context.Background(), g, n.obs.X, n.y, fixed, true, learned[k])
		if err != nil {
			b.Fatal(err)
		}
		p, err := s.Condition(g, h, n.obs.X, n.y)
		if err != nil {
			b.Fatal(err)
		}
		posteriors = append(posteriors, p)
	}
	return posteriors
}

// together fits the process of all observations in which members have functions that are
// alike, as much as the evidence says: that of simulate --baseline multitask.
func together(b testing.TB, t *task.Task, nodes []*node) *gp.Posterior {
	b.Helper()
	spec := surrogate.ProcessSpec(t)
	block := slices.Max(spec.Groups) + 1
	for range nodes {
		spec.Groups = append(spec.Groups, block)
	}
	var x [][]float64
	var y []float64
	for k, n := range nodes {
		for i := range n.y {
			x, y = append(x, whose(n.obs.X[i], k, len(nodes))), append(y, n.y[i])
		}
	}
	start := gp.PriorMode(spec)
	start.Lengthscales[block] = 7
	h, err := gp.Fit(b.Context(), spec, x, y, []gp.Hyperparameters{start}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		b.Fatal(err)
	}
	p, err := gp.NewPosterior(spec, x, y, h)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func whose(x []float64, k, count int) []float64 {
	row := append(slices.Clone(x), make([]float64, count)...)
	row[len(x)+k] = 1
	return row
}

// member is one member's part of the process of all observations.
type member struct {
	process  *gp.Posterior
	k, count int
}

func (m member) Predict(x []float64) (mean, variance float64) {
	return m.process.Predict(whose(x, m.k, m.count))
}

// BenchmarkLatentPredict has, for what a node knows after so many random designs, the root
// of the mean square of its error elsewhere, in deviations of the objective, and the mean
// log density of further observations. Nodes know: their own observations ("own"); those
// and what nine others say of latent functions, by the published method, by a latent function and
// own processes; means of peers with strategy peer-prior
// ("peers"); the observations of all ("together"). Each figure has its standard error over
// federations, of the difference to "own" but for own itself.
func BenchmarkLatentPredict(b *testing.B) {
	methods := []string{"own", "published", "latent", "peers", "together"}
	for _, text := range latentFamilies {
		for _, count := range []int{5, 12} {
			b.Run(fmt.Sprintf("%s/observations=%d", text, count), func(b *testing.B) {
				for b.Loop() {
					squares, densities := make([][]float64, len(methods)), make([][]float64, len(methods))
					for i := range latentFederations {
						square, density := predictions(b, drawFederation(b, text, random.SeedOf(uint64(i+101))), count, random.SeedOf(uint64(i+101)))
						for m := range methods {
							squares[m], densities[m] = append(squares[m], math.Sqrt(square[m])), append(densities[m], density[m])
						}
					}
					for m, name := range methods {
						report(b, name+"-rmse", squares[m], squares[0])
						report(b, name+"-density", densities[m], densities[0])
					}
				}
			})
		}
	}
}

func report(b *testing.B, name string, values, own []float64) {
	b.Helper()
	mean := stat.Mean(values, nil)
	differences := slices.Clone(values)
	if &values[0] != &own[0] {
		for i := range differences {
			differences[i] -= own[i]
		}
	}
	b.ReportMetric(mean, name)
	b.ReportMetric(stat.StdErr(stat.StdDev(differences, nil), float64(len(values))), name+"-error")
}

// predictions returns the averages over members for each method.
func predictions(b testing.TB, f family.Federation, count int, seed random.Seed) (squares, densities []float64) {
	b.Helper()
	t, err := strategy.Set{Register()}.NewTask(task.Spec{Name: "latent", Goal: f.Goal, Parameters: f.Space.Parameters(),
		Strategy: task.Strategy{Type: "peer-prior", Settings: task.Settings{"share": "exact"}}})
	if err != nil {
		b.Fatal(err)
	}
	model, err := surrogate.New(t)
	if err != nil {
		b.Fatal(err)
	}
	features, err := surrogate.SharedMap(t)
	if err != nil {
		b.Fatal(err)
	}
	listens, err := New(t, features)
	if err != nil {
		b.Fatal(err)
	}
	nodes := observe(b, t, model, f, count, seed)
	for k, n := range nodes {
		for i, other := range nodes {
			if i != k {
				n.view.Shares = append(n.view.Shares, meanShare(b, t, other.view))
			}
		}
	}
	squares, densities = make([]float64, 5), make([]float64, 5)
	note := func(method int, n *node, weights []float64, parts []predictor, noise float64) {
		square, density := n.score(weights, parts, noise)
		squares[method] += square / float64(len(nodes))
		densities[method] += density / float64(len(nodes))
	}
	one := []float64{1}
	for m, s := range []latent.Spec{latentSpec(t, latentPoints, 1, false), latentSpec(t, latentPoints, 1, true)} {
		for k, p := range converse(b, s, nodes, latentRounds) {
			note(1+m, nodes[k], one, []predictor{p}, p.Hyperparameters().Noise)
		}
	}
	all := together(b, t, nodes)
	for k, n := range nodes {
		noise := n.view.Posterior.Hyperparameters().Noise
		note(0, n, one, []predictor{n.view.Posterior}, noise)
		o, err := listens.mixtureOf(n.view, 1, seed)
		if err != nil {
			b.Fatal(err)
		}
		weights, parts := []float64{1 - o.peerOdds}, []predictor{n.view.Posterior}
		for _, e := range o.experts {
			belief, err := e.posterior(o.data)
			if err != nil {
				b.Fatal(err)
			}
			weights, parts = append(weights, e.weight), append(parts, belief)
		}
		note(3, n, weights, parts, noise)
		note(4, n, one, []predictor{member{all, k, len(nodes)}}, all.Hyperparameters().Noise)
	}
	return squares, densities
}

// meanShare is what a node with this view shares, after the journey over the wire.
func meanShare(b testing.TB, t *task.Task, view strategy.View) *strategy.Share {
	b.Helper()
	mean, ok, err := posteriormean.Of(t, view)
	if !ok || err != nil {
		b.Fatal("nothing to share: ", err)
	}
	payload, err := mean.Encode()
	if err != nil {
		b.Fatal(err)
	}
	value, err := NewSharing(t).Decode(payload)
	if err != nil {
		b.Fatal(err)
	}
	return &strategy.Share{
		Share: protocol.Share{Key: protocol.Key{Author: view.Self, Kind: protocol.MeanKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}},
		Value: value,
	}
}
