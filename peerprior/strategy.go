package peerprior

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/gp"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/search"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

const (
	referencePoints = 200 // over which a mean's variance is measured
	drawFeatures    = 512 // of the prior part of a sampled residual
)

// Strategy is peer-prior Thompson sampling on one task.
type Strategy struct {
	alone     tsampling.TS
	search    search.Search
	task      *task.Task
	spec      gp.Spec
	features  *rff.Map
	reference [][]float64
}

var (
	_ strategy.Strategy    = (*Strategy)(nil)
	_ strategy.Recommender = (*Strategy)(nil)
)

// New returns the strategy of a task. The features are those that all agents of
// the task share.
func New(t *task.Task, features *rff.Map) *Strategy {
	s := &Strategy{
		alone:    tsampling.NewTS(t),
		search:   search.New(t),
		task:     t,
		spec:     surrogate.ProcessSpec(t),
		features: features,
	}
	rng := random.SeedOf(0).Stream("reference points", 0)
	for range referencePoints {
		s.reference = append(s.reference, acquisition.Sample(t.Space, rng))
	}
	return s
}

// Suggest implements strategy.Strategy. While there is nobody to listen to, and
// whenever it draws the model without peers, it suggests exactly what Thompson
// sampling alone would.
func (s *Strategy) Suggest(view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	peers := choose(view, trial, seed)
	if len(peers) == 0 || s.search.Starting(view, trial) && !s.canSkipStart(peers) {
		return s.alone.Suggest(view, trial, seed)
	}
	b, err := s.believe(view, peers)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	f, err := b.draw(seed.Stream("own sample", trial), seed.Stream("which model", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	if f == nil {
		return s.alone.Suggest(view, trial, seed)
	}
	why := strategy.Why{Source: strategy.Peers, OwnProbability: b.aloneProbability, Listened: len(b.peers)}
	for _, p := range b.peers {
		why.Observations += p.Observations
	}
	return s.search.Maximise(view, trial, seed, f, why), nil
}

// canSkipStart tells whether somebody knows more than the random designs at the
// start would tell.
func (s *Strategy) canSkipStart(peers []*listened) bool {
	return slices.ContainsFunc(peers, func(p *listened) bool { return p.Observations > s.task.Strategy.InitialDesigns })
}

// Recommend implements strategy.Recommender: the maximiser of the mean of the
// most probable model.
func (s *Strategy) Recommend(view strategy.View, seed random.Seed) task.Design {
	if peers := choose(view, 0, seed); len(peers) > 0 && view.Posterior != nil {
		if b, err := s.believe(view, peers); err == nil {
			if f, err := b.mostProbable(); err == nil && f != nil {
				x, _ := s.search.Maximizer.Maximize(f, s.search.Best(view), seed.Stream("recommend", 0))
				return s.task.Space.Decode(x)
			}
		}
	}
	return s.search.Recommend(view, seed)
}

// belief is what an agent makes of its observations and its peers.
type belief struct {
	data             *data
	peers            []*listened
	features         *rff.Map
	weights          []float64 // of the peers' consensus
	atOwn            []float64 // its values at the own points
	models           []model   // those without peers come first
	alone            int       // how many these are
	aloneProbability float64
	total            float64 // log evidence of all models together
}

func (s *Strategy) believe(view strategy.View, peers []*listened) (*belief, error) {
	x, y, err := s.observations(view)
	if err != nil {
		return nil, err
	}
	peers = evaluate(peers, s.features, s.reference, x)
	h := s.hyperparameters(view)
	judge(peers, newData(s.spec, h, x, y))
	h.Lengthscales = averageLengthscales(h.Lengthscales, len(y), peers)
	b := &belief{data: newData(s.spec, h, x, y), peers: peers, features: s.features}
	var left float64
	b.weights, b.atOwn, left = consensus(peers, s.features.Features(), len(y))
	b.models = alone(aloneOdds)
	b.alone = len(b.models)
	b.models = append(b.models, joined(1-aloneOdds, left, gains)...)
	without := b.data.weigh(b.models[:b.alone], nil)
	b.total = logAdd(without, b.data.weigh(b.models[b.alone:], b.atOwn))
	b.aloneProbability = math.Exp(without - b.total)
	return b, nil
}

func (s *Strategy) observations(view strategy.View) (x [][]float64, y []float64, err error) {
	sign := 1.0
	if s.task.Goal == task.Minimize {
		sign = -1
	}
	for _, trial := range view.Trials {
		if trial.State == strategy.Done {
			x = append(x, s.task.Space.Encode(trial.Design))
			y = append(y, sign*trial.Outcome.Value)
		}
	}
	if len(y) == 0 {
		return nil, nil, nil
	}
	y, err = surrogate.Standardise(surrogate.Observations{X: x, Y: y})
	return x, y, err
}

// hyperparameters are the agent's own, or before there are any the shared ones.
func (s *Strategy) hyperparameters(view strategy.View) gp.Hyperparameters {
	h := gp.Hyperparameters{Noise: 0.01}
	if view.Posterior != nil {
		h = gp.Hyperparameters(view.Posterior.Hyperparameters())
	}
	if len(h.Lengthscales) == 0 {
		for _, block := range s.task.Space.Blocks() {
			l := s.task.Surrogate.Lengthscale
			if block.Kind == task.Categorical {
				l = s.task.Surrogate.CategoryLengthscale
			}
			h.Lengthscales = append(h.Lengthscales, l)
		}
	}
	return h
}

// averageLengthscales returns the geometric mean over the agent and its peers,
// each counted by its observations and its use.
func averageLengthscales(own []float64, observations int, peers []*listened) []float64 {
	sum, total := make([]float64, len(own)), float64(observations)
	for i, l := range own {
		sum[i] = total * math.Log(l)
	}
	for _, p := range peers {
		if len(p.Lengthscales) == len(own) {
			weight := p.use * float64(p.Observations)
			total += weight
			for i, l := range p.Lengthscales {
				sum[i] += weight * math.Log(l)
			}
		}
	}
	if total == 0 {
		return own
	}
	for i := range sum {
		sum[i] = math.Exp(sum[i] / total)
	}
	return sum
}

// draw returns a function drawn from a model drawn; nil when that is the
// agent's own alone.
func (b *belief) draw(sample, which *rand.Rand) (acquisition.Function, error) {
	u := which.Float64()
	chosen := len(b.models) - 1
	for i, g := range b.models {
		if u -= math.Exp(g.logPrior + g.logEvidence - b.total); u < 0 {
			chosen = i
			break
		}
	}
	if chosen < b.alone {
		return nil, nil
	}
	g := b.models[chosen]
	gain := g.mean[0] + math.Sqrt(g.cov[0])*which.NormFloat64()
	level := g.mean[1]
	if g.cov[0] > 0 {
		level += g.cov[1] / g.cov[0] * (gain - g.mean[0])
	}
	level += math.Sqrt(max(g.cov[2]-g.cov[1]*g.cov[1]/g.cov[0], 0)) * which.NormFloat64()
	f := sum{prior: b.prior(gain), scale: math.Sqrt(g.residual)}
	if len(b.data.y) == 0 {
		return f, nil
	}
	residual, err := b.residual(g, gain, level)
	if err != nil {
		return nil, err
	}
	f.residual = residual.Draw(drawFeatures, sample)
	return f, nil
}

// mostProbable returns the mean of the most probable model; nil when that is
// the agent's own alone.
func (b *belief) mostProbable() (acquisition.Function, error) {
	if b.aloneProbability > 0.5 {
		return nil, nil
	}
	best := b.alone
	for i := range b.models[b.alone:] {
		g := b.models[b.alone+i]
		if g.logPrior+g.logEvidence > b.models[best].logPrior+b.models[best].logEvidence {
			best = b.alone + i
		}
	}
	g := b.models[best]
	residual, err := b.residual(g, g.mean[0], g.mean[1])
	if err != nil {
		return nil, err
	}
	return sum{prior: b.prior(g.mean[0]), scale: math.Sqrt(g.residual), residual: acquisition.Mean(residual)}, nil
}

func (b *belief) prior(gain float64) *rff.Function {
	weights := slices.Clone(b.weights)
	for i := range weights {
		weights[i] *= gain
	}
	return b.features.Function(weights)
}

// residual conditions r, in units of its own deviation.
func (b *belief) residual(g model, gain, level float64) (*gp.Posterior, error) {
	deviation := math.Sqrt(g.residual)
	y := make([]float64, len(b.data.y))
	for i, v := range b.data.y {
		y[i] = (v - gain*b.atOwn[i] - level) / deviation
	}
	return gp.NewPosterior(b.data.spec, b.data.x, y, gp.Hyperparameters{
		Lengthscales: b.data.h.Lengthscales,
		Noise:        b.data.h.Noise / g.residual,
	})
}
