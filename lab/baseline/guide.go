package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// The published constants of GUIDE-FBO.
const (
	guideSamples  = 500  // samples of the posterior
	guidePoints   = 1000 // points of which each sample has its maximiser
	guideRadius   = 0.05 // largest root-mean-square distance in a cluster
	guideParts    = 5    // components that an agent receives
	guideStrength = 1    // λ_max, the guidance in the first round
	guideTouching = 1e-5 // distance from an own observation within which there is no guidance
	guideBound    = 4    // β of the upper confidence bound
)

// Guide is the server of GUIDE-FBO ("Guidance via Uncertainty Intervention and Distributional
// Exchange", arXiv 2609.35038). From each member it receives one normal distribution of places of
// the optimum, merges and calibrates these, and returns some to each member, which widens its
// posterior there.
//
// Departures, all in its favour: a member's samples of its posterior are exact, where those of the
// publication come from 500 random features. The server receives the newest distribution of each
// member at once. Hyperparameters have the priors of this project.
//
// A Guide is safe for concurrent use. It is repeatable under the same condition as a Pool.
type Guide struct {
	task *task.Task
	pool *Pool
	seed random.Seed

	mu    sync.Mutex
	known map[*known]func() (upload, error) // of the members' newest models
}

// upload is what a member sends.
type upload struct {
	location
	value float64 // lower confidence bound at the mean, in the member's standardised units
}

// NewGuide returns the server of all members of a pool. seed determines its samples.
func NewGuide(t *task.Task, pool *Pool, seed random.Seed) *Guide {
	return &Guide{task: t, pool: pool, seed: seed, known: map[*known]func() (upload, error){}}
}

// Member returns the strategy of a member. It maximises the upper confidence bound of two standard
// deviations under the widened posterior.
func (g *Guide) Member(self int) strategy.Strategy {
	return guided{search: search.New(g.task), server: g, self: self}
}

// uploads returns the uploads of all members that have observations. It computes each upload once.
func (g *Guide) uploads() ([]upload, error) {
	members := present(g.pool.now().members)
	lazy := g.latest(members)
	all := make([]upload, len(members))
	for i, m := range members {
		var err error
		if all[i], err = lazy[i](); err != nil {
			return nil, fmt.Errorf("the optimum's location of member %d: %w", m.member, err)
		}
	}
	return all, nil
}

// latest returns the functions that compute the uploads, and drops those of replaced models.
func (g *Guide) latest(members []peer) []func() (upload, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	next, all := map[*known]func() (upload, error){}, make([]func() (upload, error), len(members))
	for i, m := range members {
		f, ok := g.known[m.known]
		if !ok {
			rng := g.seed.Derive("member", uint64(m.member)).Stream("samples", uint64(len(m.y)))
			f = sync.OnceValues(func() (upload, error) { return g.extract(m.known, rng) })
		}
		next[m.known], all[i] = f, f
	}
	g.known = next
	return all
}

// extract returns the heaviest component of the maximisers of samples of a member's posterior.
func (g *Guide) extract(k *known, rng *rand.Rand) (upload, error) {
	points := make([][]float64, guidePoints)
	for i := range points {
		points[i] = acquisition.Sample(g.task.Space, rng)
	}
	posterior, err := k.at(points)
	if err != nil {
		return upload{}, err
	}
	draws, err := posterior.draw(guideSamples, rng)
	if err != nil {
		return upload{}, err
	}
	times := make([]float64, guidePoints)
	for s := range guideSamples {
		times[floats.MaxIdx(draws.RawRowView(s))]++
	}
	var maximisers [][]float64
	for i, n := range times {
		if n > 0 {
			maximisers = append(maximisers, points[i])
		}
	}
	times = slices.DeleteFunc(times, func(n float64) bool { return n == 0 })
	u := upload{location: heaviest(maximisers, times, g.task.Space.Dim(), rng)}
	process, err := k.process()
	if err != nil {
		return upload{}, err
	}
	mean, variance := process.Predict(u.mean)
	u.value = mean - math.Sqrt(variance) // outputs are standardised: their mean is 0, their deviation 1
	return u, nil
}

// merge clusters uploads by complete linkage and returns the moments of each cluster.
func merge(uploads []upload) []upload {
	clusters := make([][]upload, len(uploads))
	for i, u := range uploads {
		clusters[i] = []upload{u}
	}
	for {
		bestI, bestJ, best := 0, 0, math.Inf(1)
		for i := range clusters {
			for j := range i {
				if d := farthest(clusters[i], clusters[j]); d < best {
					bestI, bestJ, best = i, j, d
				}
			}
		}
		if best > guideRadius {
			break
		}
		clusters[bestJ] = append(clusters[bestJ], clusters[bestI]...)
		clusters = slices.Delete(clusters, bestI, bestI+1)
	}
	merged := make([]upload, len(clusters))
	for i, c := range clusters {
		merged[i] = matched(c)
	}
	return merged
}

// farthest returns the largest root-mean-square distance between the means of two clusters.
func farthest(a, b []upload) float64 {
	largest := 0.0
	for _, p := range a {
		for _, q := range b {
			largest = max(largest, floats.Distance(p.mean, q.mean, 2)/math.Sqrt(float64(len(p.mean))))
		}
	}
	return largest
}

// matched returns one component with the weight, the mean, the variances and the mean value of a cluster.
func matched(cluster []upload) upload {
	d := len(cluster[0].mean)
	m := upload{location: location{mean: make([]float64, d), variance: make([]float64, d)}}
	for _, u := range cluster {
		m.weight += u.weight
	}
	for _, u := range cluster {
		floats.AddScaled(m.mean, u.weight/m.weight, u.mean)
		m.value += u.weight / m.weight * u.value
	}
	for _, u := range cluster {
		for i, v := range u.variance {
			off := u.mean[i] - m.mean[i]
			m.variance[i] += u.weight / m.weight * (v + off*off)
		}
	}
	return m
}

// calibrate multiplies the weights by exp(v/T), so that they add up to 1.
func calibrate(merged []upload) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, u := range merged {
		low, high = min(low, u.value), max(high, u.value)
	}
	temperature, total := max(0.1*(high-low), 0.01), 0.0
	for i := range merged {
		merged[i].weight *= math.Exp((merged[i].value - high) / temperature)
		total += merged[i].weight
	}
	for i := range merged {
		merged[i].weight /= total
	}
}

// choose draws components without replacement, with probabilities proportional to their weights: those with the
// largest log(u)/weight, where u is uniform (Efraimidis and Spirakis, 2006).
func choose(merged []upload, most int, rng *rand.Rand) []upload {
	type keyed struct {
		upload
		key float64
	}
	all := make([]keyed, len(merged))
	for i, u := range merged {
		all[i] = keyed{u, math.Log(rng.Float64()) / u.weight}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return cmp.Compare(b.key, a.key) })
	var chosen []upload
	for _, k := range all[:min(most, len(all))] {
		chosen = append(chosen, k.upload)
	}
	return chosen
}

// guided is the strategy of one member.
type guided struct {
	search search.Search
	server *Guide
	self   int
}

var _ strategy.Strategy = guided{}

// Suggest implements strategy.Strategy.
func (s guided) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	uploads, err := s.server.uploads()
	if err != nil {
		return strategy.Suggestion{}, err
	}
	merged := merge(uploads)
	calibrate(merged)
	received := choose(merged, guideParts, seed.Stream("guidance", trial))
	w := widened{process: view.Posterior, guidance: received, own: view.Observed(task.Objective).X}
	w.strength = guideStrength / math.Sqrt(float64(s.search.AfterStart(trial)))
	why := strategy.Why{Source: "peers", PeerCount: len(uploads) - 1}
	return s.search.Maximise(ctx, view, trial, seed, acquisition.UCB(w, guideBound), why)
}

// widened is a posterior whose standard deviation is multiplied by 1 + λG(x).
type widened struct {
	process  surrogate.Posterior
	guidance []upload
	strength float64     // λ
	own      [][]float64 // points without guidance
}

// Predict implements acquisition.Predictor.
func (w widened) Predict(x []float64) (mean, variance float64) {
	mean, variance = w.process.Predict(x)
	scale := w.scale(nil, x)
	return mean, scale * scale * variance
}

// PredictGradient implements acquisition.Predictor.
func (w widened) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	mean, variance = w.process.PredictGradient(dMean, dVariance, x)
	slope := make([]float64, len(x))
	scale := w.scale(slope, x)
	for i := range dVariance {
		dVariance[i] = scale*scale*dVariance[i] + 2*scale*variance*slope[i]
	}
	return mean, scale * scale * variance
}

// scale returns 1 + λG(x), where G is a sum of unnormalised normal densities with normalised
// weights. If slope is not nil, scale adds its gradient to it.
func (w widened) scale(slope, x []float64) float64 {
	for _, p := range w.own {
		if floats.Distance(x, p, 2) < guideTouching {
			return 1
		}
	}
	total := 0.0
	for _, u := range w.guidance {
		total += u.weight
	}
	scale := 1.0
	for _, u := range w.guidance {
		exponent := 0.0
		for i, v := range x {
			off := v - u.mean[i]
			exponent -= off * off / (2 * u.variance[i])
		}
		part := w.strength * u.weight / total * math.Exp(exponent)
		scale += part
		for i := range slope {
			slope[i] -= part * (x[i] - u.mean[i]) / u.variance[i]
		}
	}
	return scale
}
