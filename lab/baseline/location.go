package baseline

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// location is a normal distribution with independent coordinates, and its weight in a mixture.
type location struct {
	weight   float64
	mean     []float64
	variance []float64
}

// The priors of the Dirichlet process, as published, and the limits of its iterations.
const (
	concentrationPrior = 100
	precisionPrior     = 1e-3
	minVariance        = 1e-6
	maxIterations      = 100
	minChange          = 1e-4 // of a responsibility
)

// heaviest returns the component with the largest weight in a mixture of at most `most` components.
// The mixture is fitted to the points (at least 2, each with the number of times that it occurs) by
// variational inference under a Dirichlet process (Blei and Jordan, "Variational inference for Dirichlet process mixtures" (2006), with the
// normal-Wishart priors of Bishop (2006), chapter 10.2, for independent coordinates).
func heaviest(points [][]float64, times []float64, most int, rng *rand.Rand) location {
	m := newDirichletMixture(points, times)
	responsibilities := m.assign(m.spread(most, rng))
	for range maxIterations {
		m.maximise(responsibilities)
		next := m.expect()
		change := 0.0
		for n, row := range next {
			change = max(change, floats.Distance(row, responsibilities[n], math.Inf(1)))
		}
		if responsibilities = next; change < minChange {
			break
		}
	}
	return m.heaviest()
}

// dirichletMixture is the state of the inference. Component k has the counts n_k, the posterior
// mean, and the expected variances.
type dirichletMixture struct {
	points        [][]float64
	times         []float64 // how often each point occurs
	priorMean     []float64
	priorVariance []float64

	counts    []float64
	means     [][]float64
	variances [][]float64
}

func newDirichletMixture(points [][]float64, times []float64) *dirichletMixture {
	m := &dirichletMixture{points: points, times: times}
	column := make([]float64, len(points))
	for i := range points[0] {
		for n, p := range points {
			column[n] = p[i]
		}
		mean, variance := stat.MeanVariance(column, times)
		m.priorMean, m.priorVariance = append(m.priorMean, mean), append(m.priorVariance, variance)
	}
	return m
}

// spread chooses points far from each other, each with a probability proportional to the squared
// distance from those chosen before (Arthur and Vassilvitskii, "k-means++" (2007)).
func (m *dirichletMixture) spread(most int, rng *rand.Rand) [][]float64 {
	sums := make([]float64, len(m.points))
	floats.CumSum(sums, m.times)
	chosen := [][]float64{m.drawn(sums, rng)}
	for len(chosen) < most {
		total := 0.0
		for n, p := range m.points {
			nearest := math.Inf(1)
			for _, c := range chosen {
				nearest = min(nearest, floats.Distance(p, c, 2))
			}
			total += m.times[n] * nearest * nearest
			sums[n] = total
		}
		if total == 0 { // fewer different points
			break
		}
		chosen = append(chosen, m.drawn(sums, rng))
	}
	return chosen
}

// drawn returns a point, drawn with probabilities whose cumulative sums are given.
func (m *dirichletMixture) drawn(sums []float64, rng *rand.Rand) []float64 {
	n, _ := slices.BinarySearch(sums, rng.Float64()*sums[len(sums)-1])
	return m.points[min(n, len(m.points)-1)]
}

// assign gives each point to the nearest centre.
func (m *dirichletMixture) assign(centres [][]float64) [][]float64 {
	all := make([][]float64, len(m.points))
	for n, p := range m.points {
		distances := make([]float64, len(centres))
		for k, c := range centres {
			distances[k] = floats.Distance(p, c, 2)
		}
		all[n] = make([]float64, len(centres))
		all[n][floats.MinIdx(distances)] = 1
	}
	return all
}

// maximise updates the posterior of the components.
func (m *dirichletMixture) maximise(responsibilities [][]float64) {
	k := len(responsibilities[0])
	m.counts, m.means, m.variances = make([]float64, k), make([][]float64, k), make([][]float64, k)
	weights := make([]float64, len(m.points))
	column := make([]float64, len(m.points))
	for c := range k {
		for n := range m.points {
			weights[n] = m.times[n] * (responsibilities[n][c] + 1e-12) // a component without points keeps the prior
		}
		count := floats.Sum(weights)
		m.counts[c] = count
		precision, freedom := precisionPrior+count, float64(len(m.priorMean))+count
		for i, prior := range m.priorMean {
			for n, p := range m.points {
				column[n] = p[i]
			}
			mean, variance := stat.PopMeanVariance(column, weights)
			off := mean - prior
			m.means[c] = append(m.means[c], (precisionPrior*prior+count*mean)/precision)
			m.variances[c] = append(m.variances[c],
				(m.priorVariance[i]+count*(max(variance, 0)+minVariance)+count*precisionPrior/precision*off*off)/freedom)
		}
	}
}

// expect returns the responsibilities of the components for the points.
func (m *dirichletMixture) expect() [][]float64 {
	constants := m.logWeights()
	d := float64(len(m.priorMean))
	for c, count := range m.counts {
		freedom := d + count
		for i, variance := range m.variances[c] {
			constants[c] += 0.5*(mathext.Digamma((freedom-float64(i))/2)+math.Log(2)) - 0.5*math.Log(freedom*variance)
		}
		constants[c] -= 0.5 * d / (precisionPrior + count)
	}
	all := make([][]float64, len(m.points))
	for n, p := range m.points {
		logs := slices.Clone(constants)
		for c := range logs {
			for i, v := range p {
				off := v - m.means[c][i]
				logs[c] -= 0.5 * off * off / m.variances[c][i]
			}
		}
		total := floats.LogSumExp(logs)
		for c := range logs {
			logs[c] = math.Exp(logs[c] - total)
		}
		all[n] = logs
	}
	return all
}

// sticks returns the parameters of the Beta posteriors of the broken parts of the stick.
func (m *dirichletMixture) sticks(c int) (a, b float64) {
	return 1 + m.counts[c], concentrationPrior + floats.Sum(m.counts[c+1:])
}

func (m *dirichletMixture) logWeights() []float64 {
	logs, left := make([]float64, len(m.counts)), 0.0
	for c := range logs {
		a, b := m.sticks(c)
		both := mathext.Digamma(a + b)
		logs[c] = mathext.Digamma(a) - both + left
		left += mathext.Digamma(b) - both
	}
	return logs
}

// heaviest returns the component with the largest expected weight. Weights are normalised.
func (m *dirichletMixture) heaviest() location {
	weights, left := make([]float64, len(m.counts)), 1.0
	for c := range weights {
		a, b := m.sticks(c)
		weights[c] = left * a / (a + b)
		left *= b / (a + b)
	}
	best := floats.MaxIdx(weights)
	return location{weight: weights[best] / floats.Sum(weights), mean: m.means[best], variance: m.variances[best]}
}
