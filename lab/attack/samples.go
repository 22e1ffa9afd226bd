package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// sampleAttacks returns attacks on samples of a posterior, which agree at the inputs of its
// observations. Let w be the weights of a sample, z the outputs, and Φ the features of the inputs.
// By Bayes' rule, the probability of w given inputs and outputs, divided by that under the prior,
// is N(z; Φw, τ²I) / N(z; 0, ΦΦᵀ+τ²I). The attacker searches for the inputs for which this ratio is
// largest.
func sampleAttacks() []Attack {
	kinds := []string{protocol.WeightsKind, kindSum}
	inputs := func(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
		s, err := newSamples(seen)
		if err != nil || s == nil {
			return Guess{}, err
		}
		return s.likeliest(ctx, seen.Observations, rng)
	}
	return []Attack{
		{Name: "likelihood search for the inputs of all samples", Kinds: kinds, Scene: Listen, Guess: inputs},
		{Name: "likelihood search over five restarts", Kinds: kinds, Scene: Restarts, Guess: inputs},
		{Name: "likelihood search over five names of the task", Kinds: kinds, Scene: Renamed, Guess: inputs},
		{Name: "inversion of the average sample", Kinds: kinds, Scene: Listen, Most: 12, Guess: invertSamples},
		{Name: "average of all samples", Kinds: kinds, Scene: Listen, Guess: averageSample},
	}
}

// samples holds the contents of shared samples.
type samples struct {
	task      *task.Task
	functions []*rff.Function
	counts    []int // number of observations of each sample
	kernel    *rff.Map
	noise     float64 // variance of the privacy noise on each weight, which is public
}

func newSamples(seen *Seen) (*samples, error) {
	s := &samples{task: seen.Task, noise: seen.Deviation * seen.Deviation}
	for i, disclosure := range seen.Disclosures {
		features, err := surrogate.SharedMap(disclosure.Task)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.kernel = features
		}
		for _, w := range valuesOf[protocol.Weights](disclosure) {
			s.functions, s.counts = append(s.functions, features.Function(w.Values)), append(s.counts, w.Observations)
		}
	}
	if len(s.functions) < 2 {
		return nil, nil
	}
	return s, nil
}

const (
	sampleErrors = 4 // values of τ² that are tried: 1e-4, 1e-3, …
	minAgree     = 3 // smallest number of samples that must agree
	stretches    = 4 // number of ranges of samples, from an observation on, in which agreement is tested
)

// gain returns the log ratio of the samples' probability with one more observation to that without.
// It assumes that all samples of at least `from` observations include the new one, and that its
// output has this prior mean and variance.
func (s *samples) gain(values []float64, from int, expected, variance, error float64) float64 {
	n, z, square := s.agreement(values, from)
	if n < minAgree {
		return math.Inf(-1)
	}
	error += s.noise
	return n/2*(math.Log((variance+error)/error)+(z-expected)*(z-expected)/(variance+error)) - n*square/(2*error)
}

// agreement returns the number, the mean and the variance of the samples at a location.
func (s *samples) agreement(values []float64, from int) (n, mean, variance float64) {
	sum, square := 0.0, 0.0
	for i, v := range values {
		if s.counts[i] >= from {
			n, sum, square = n+1, sum+v, square+v*v
		}
	}
	mean = sum / max(n, 1)
	return n, mean, square/max(n, 1) - mean*mean
}

func (s *samples) at(x []float64) []float64 {
	values := make([]float64, len(s.functions))
	for i, f := range s.functions {
		values[i] = f.Value(x)
	}
	return values
}

// likeliest takes locations at which samples agree most. From these it selects the ones with which
// the samples are most probable.
func (s *samples) likeliest(ctx context.Context, count int, rng *rand.Rand) (Guess, error) {
	sorted := slices.Sorted(slices.Values(s.counts))
	var froms []int
	for i := range stretches {
		froms = append(froms, sorted[i*len(sorted)/stretches])
	}
	froms = slices.Compact(froms)
	var places [][]float64
	for _, from := range froms {
		closeness := func(x []float64) float64 {
			n, _, variance := s.agreement(s.at(x), from)
			if n < minAgree {
				return math.Inf(-1)
			}
			return -math.Log(variance + 1e-12)
		}
		places = append(places, peaks(s.task, closeness, 4*count, Near, rng)...)
	}
	best, highest := []int(nil), math.Inf(-1)
	for e := range sampleErrors {
		chosen, total, err := s.choose(places, froms, count, math.Pow(10, float64(e-4)))
		if err != nil {
			return Guess{}, err
		}
		if total > highest {
			best, highest = chosen, total
		}
	}
	// Samples have no level and no unit, so values are known only up to both.
	var g Guess
	most := math.Inf(-1)
	for _, i := range best {
		g.X = append(g.X, places[i])
		if _, mean, _ := s.agreement(s.at(places[i]), 0); mean > most {
			g.Best, most = places[i], mean
		}
	}
	return g, ctx.Err()
}

// choose selects one location after the other, each time the one with the largest gain.
func (s *samples) choose(places [][]float64, froms []int, count int, error float64) (chosen []int, total float64, err error) {
	values := make([][]float64, len(places))
	for i, x := range places {
		values[i] = s.at(x)
	}
	var posterior *rff.Posterior
	for len(chosen) < min(count, len(places)) {
		pick, most, output := -1, math.Inf(-1), 0.0
		for i, x := range places {
			if slices.Contains(chosen, i) {
				continue
			}
			expected, variance := 0.0, 1.0
			if posterior != nil {
				expected, variance = posterior.Predict(x)
			}
			for _, from := range froms {
				if gain := s.gain(values[i], from, expected, variance, error); gain > most || pick < 0 {
					pick, most = i, gain
					_, output, _ = s.agreement(values[i], from)
				}
			}
		}
		if posterior == nil {
			posterior, err = rff.NewPosterior(s.kernel, places[pick:pick+1], []float64{output}, 1, error)
		} else {
			posterior, err = posterior.Extend(places[pick], output)
		}
		if err != nil {
			return nil, 0, err
		}
		chosen, total = append(chosen, pick), total+max(most, 0)
	}
	return chosen, total, nil
}

// averageSample guesses the highest and the lowest locations of the average sample as inputs.
func averageSample(_ context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
	s, err := newSamples(seen)
	if err != nil || s == nil {
		return Guess{}, err
	}
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, f := range s.functions {
			sum += f.Value(x)
		}
		return sum / float64(len(s.functions))
	}
	g := Guess{X: peaks(s.task, mean, (seen.Observations+1)/2, apart, rng)}
	g.Best = g.X[0]
	g.X = append(g.X, peaks(s.task, func(x []float64) float64 { return -mean(x) }, seen.Observations/2, apart, rng)...)
	return g, nil
}

// sampleError is the variance that the attacker assumes for an observation's error; it does not
// know the node's.
const sampleError = 0.01

// samplesMean treats all samples of one disclosure as samples of the newest posterior, and averages
// them. The standard deviation of a single sample is at most that of the prior.
func samplesMean(seen *Seen) (m noisyMean, ok bool, err error) {
	features, err := surrogate.SharedMap(seen.Disclosures[0].Task)
	if err != nil {
		return m, false, err
	}
	all := valuesOf[protocol.Weights](seen.Disclosures[0])
	average := make([]float64, features.Features())
	for _, w := range all {
		m.count = max(m.count, w.Observations)
		for i, v := range w.Values {
			average[i] += v / float64(len(all))
		}
	}
	m.task, m.features, m.weights = seen.Task, features, average
	m.error, m.deviation = sampleError, math.Hypot(1, seen.Deviation)/math.Sqrt(float64(max(len(all), 1)))
	m.scale = 1
	return m, len(all) > 0, nil
}

func invertSamples(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
	m, ok, err := samplesMean(seen)
	if !ok || err != nil {
		return Guess{}, err
	}
	x, y, err := m.likeliest(ctx, rng)
	if err != nil {
		return Guess{}, err
	}
	return Guess{X: x, Best: x[argmax(y)]}, nil
}
