package peerprior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/internal/plain"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/surrogate/gp"
	"github.com/fbo-node/fbo/task"
)

// Strategy is peer-prior Thompson sampling on one task. It is immutable.
type Strategy struct {
	alone      alone.Engine
	search     search.Search
	task       *task.Task
	spec       gp.Spec
	features   *rff.Map
	projection *rff.Projection
	points     [][]float64                          // of reference
	phi        *mat.Dense                           // a row for each of them, of the features there
	hear       func(view strategy.View) []Statement // in place of shares; nil: shares
}

var (
	_ strategy.Strategy    = (*Strategy)(nil)
	_ strategy.Recommender = (*Strategy)(nil)
	_ strategy.Follower    = (*Strategy)(nil)
)

// Source of the designs that maximise a sample of a posterior whose prior mean is made
// of peers' shares.
const Source strategy.Source = "peers"

// New returns the strategy of a task. The features are those that all agents of
// the task share.
func New(t *task.Task, features *rff.Map) (*Strategy, error) {
	s := &Strategy{
		alone:    alone.NewEngine(t),
		search:   search.New(t),
		task:     t,
		spec:     surrogate.ProcessSpec(t),
		features: features,
	}
	rng := random.SeedOf(0).Stream("reference points", 0)
	s.points = make([][]float64, max(referencePoints, features.Features()*3/2))
	s.phi = mat.NewDense(len(s.points), features.Features(), nil)
	for i := range s.points {
		s.points[i] = acquisition.Sample(t.Space, rng)
		features.Phi(s.phi.RawRowView(i), s.points[i])
	}
	var err error
	if s.projection, err = rff.NewProjection(features, s.points, referenceRidge); err != nil {
		return nil, fmt.Errorf("peerprior: %w", err)
	}
	return s, nil
}

// Suggest implements strategy.Strategy. While there is nobody to listen to, and
// whenever it draws the model without peers, it suggests exactly what the agent would
// alone ([alone.Engine]).
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	peers := s.listen(view, trial, seed)
	starting := s.search.Starting(view, trial)
	if len(peers) == 0 || starting && !s.canSkipStart(peers) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	b, err := s.consider(ctx, view, peers)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	if len(b.peers) == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	sample, which := seed.Stream("own sample", trial), seed.Stream("which model", trial)
	f, err := b.draw(sample, which)
	if err == nil && f == nil {
		if !starting {
			return s.alone.Suggest(ctx, view, trial, seed)
		}
		// What peers know beyond the starting designs takes their place: a newcomer
		// that is to follow nobody follows its own few observations, and without
		// any it listens in any case.
		if view.Posterior != nil {
			return s.alone.Choose(ctx, view, trial, seed)
		}
		f, err = b.drawJoined(sample, which)
	}
	if err != nil {
		return strategy.Suggestion{}, fmt.Errorf("peerprior: %w", err)
	}
	why := strategy.Why{Source: Source, Phrase: "sample around the mean of " + plain.Count(len(b.peers), "peer"), OwnProbability: new(b.ownProbability()), Listened: len(b.peers)}
	for _, p := range b.peers {
		why.Observations = strategy.AddObservations(why.Observations, p.Observations)
	}
	return s.search.Maximise(ctx, view, trial, seed, f, why)
}

// FollowsFromTheFirst implements strategy.Follower. Statements are no shares to wait
// for.
func (s *Strategy) FollowsFromTheFirst() bool { return s.hear == nil }

// listen lists those whom the agent hears, before it judges them.
func (s *Strategy) listen(view strategy.View, trial uint64, seed random.Seed) []*listened {
	if s.hear != nil {
		return s.stated(view)
	}
	return choose(view, trial, seed)
}

// canSkipStart tells whether somebody knows more than the random designs at the
// start would tell.
func (s *Strategy) canSkipStart(peers []*listened) bool {
	return slices.ContainsFunc(peers, func(p *listened) bool { return p.Observations > s.task.Strategy.InitialDesigns })
}

// Recommend implements strategy.Recommender: the maximiser of the mean of the
// most probable model.
func (s *Strategy) Recommend(ctx context.Context, view strategy.View, seed random.Seed) task.Design {
	if peers := s.listen(view, 0, seed); len(peers) > 0 && view.Posterior != nil {
		if b, err := s.consider(ctx, view, peers); err == nil {
			if f, err := b.mostProbable(); err == nil && f != nil {
				return s.search.Top(ctx, view, seed, f)
			}
		}
	}
	return s.search.Recommend(ctx, view, seed)
}

// consider forms the belief of an agent that listens to these peers. It looks at ctx
// between its parts.
func (s *Strategy) consider(ctx context.Context, view strategy.View, peers []*listened) (*belief, error) {
	x, y, units, err := observations(s.task, view)
	if err != nil {
		return nil, fmt.Errorf("peerprior: %w", err)
	}
	common := s.hear == nil && len(y) >= leastObservations && units.Scale > 0
	if !common {
		units = surrogate.Units{Scale: 1}
	}
	h := s.hyperparameters(view)
	peers = s.evaluate(peers, x, units)
	own := newData(s.spec, h, x, y)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	judge(peers, own)
	h.Lengthscales = averageLengthscales(h.Lengthscales, len(y), peers)
	averaged := newData(s.spec, h, x, y)
	// The own lengthscales were fitted to the same observations, which by itself is
	// worth half a nat per parameter.
	if fitted := 0.5 * float64(len(h.Lengthscales)); own.alone > averaged.alone+fitted+lengthscaleDoubt {
		averaged = own
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.believe(averaged, peers, common), nil
}

// observations are the agent's own, standardised.
func observations(t *task.Task, view strategy.View) (x [][]float64, y []float64, units surrogate.Units, err error) {
	obs := strategy.Observed(t, view.Trials, task.Objective)
	if len(obs.Y) > 0 {
		y, units, err = surrogate.Outputs(t, obs)
	}
	return obs.X, y, units, err
}

// hyperparameters are the agent's own, or before there are any the task's.
func (s *Strategy) hyperparameters(view strategy.View) gp.Hyperparameters {
	h := gp.Hyperparameters{Noise: initialNoise}
	if view.Posterior != nil {
		h = gp.Hyperparameters(view.Posterior.Hyperparameters())
	}
	if len(h.Lengthscales) == 0 {
		h.Lengthscales = s.initialLengthscales()
	}
	return h
}

// initialLengthscales are the task's.
func (s *Strategy) initialLengthscales() []float64 {
	var lengthscales []float64
	for _, block := range s.task.Space.Blocks() {
		l := s.task.Surrogate.Lengthscale
		if block.Kind == task.Categorical {
			l = s.task.Surrogate.CategoryLengthscale
		}
		lengthscales = append(lengthscales, l)
	}
	return lengthscales
}

// averageLengthscales returns the geometric mean over the agent and its peers,
// each counted by its observations and its use.
func averageLengthscales(own []float64, observations int, peers []*listened) []float64 {
	sum, total := make([]float64, len(own)), float64(observations)
	for i, l := range own {
		sum[i] = total * math.Log(l)
	}
	for _, p := range peers {
		if len(p.Lengthscales) != len(own) {
			continue // its surrogate learns none
		}
		weight := max(p.views[inOwnUnits].use, p.views[inCommonUnits].use) * float64(p.Observations)
		total += weight
		for i, l := range p.Lengthscales {
			sum[i] += weight * math.Log(l)
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
